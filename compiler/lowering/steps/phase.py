"""From a phase made of steps to the plan's phase: PEs of one form become a role.

Each place has a program, its loops. Places with the same wiring and loops of the same form share a
role, in which every number is a formula of the place. Where that takes many roles, all places get
rows for all steps instead, with empty ones; then only the wiring tells roles apart.
"""

import numpy as np

from collc.base.columns import Ints
from collc.base.paths import Path
from collc.lowering.regions import regions_of
from collc.lowering.roles import where
from collc.lowering.steps.entries import Entries, with_colors
from collc.lowering.steps.formulas import Formulas, formulas_of
from collc.lowering.steps.hazards import staged
from collc.lowering.steps.loops import HEADER, LaneProgram, Tables
from collc.lowering.steps.rows import RELAYS, SENDS, Rows, padded, rows_of
from collc.lowering.steps.traffic import Traffic
from collc.lowering.steps.wiring import Wiring
from collc.plan import Detour, Lane, Loop, Number, Phase, Role
from collc.plan.entries import FIELDS
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase
from collc.spec.simd import may_go_backward

MOST_FORMS = 12  # roles beyond which rows for all steps are tried

# places, and what each lane does there; a program may be that of several groups
Group = tuple[list[int], list[LaneProgram]]


def steps_phase(  # noqa: PLR0913 - what, how it is wired, then how it is carried out
    pattern: StepsPhase,
    traffic: Traffic,
    wiring: Wiring,
    *,
    by_call_back: bool,
    path: Path | None = None,
    detours: tuple[Detour, ...] = (),
    paired: bool = False,
) -> Phase:
    """The plan's phase of `pattern` on the lanes of `wiring`. With a `path`, which is a row when
    unfolded, it goes along that; where it is not contiguous, on `detours`. Elements go
    in pairs where it is `paired`."""
    slicing = pattern.slicing
    stages, areas = staged(traffic, pattern.ranks, by_call_back)
    rows, backward = rows_of(
        traffic,
        wiring,
        None if slicing.dynamic else slicing,
        (stages, areas),
        may_turn=may_go_backward(paired=paired, wide=pattern.wide),
    )
    formulas: Formulas = {}
    reads = SENDS | RELAYS if slicing.dynamic else SENDS
    groups = _groups(pattern, wiring, rows, formulas, reads)
    programs = _programs(groups)
    loops = {
        id(lane): _loops(lane, slicing.count, formulas, backward=backward) for lane in programs
    }
    roles = tuple(
        _role(f"part_{index}", wiring, places[0], [loops[id(lane)] for lane in lanes])
        for index, (places, lanes) in enumerate(groups)
    )
    return Phase(
        name=pattern.name,
        kind=ContractKind.ALLREDUCE if traffic.combines.any() else ContractKind.BROADCAST,
        axis=pattern.axis,
        order=None,
        about=f"{pattern.algorithm} along {where(pattern.axis, path)}",
        roles=roles,
        regions=regions_of(pattern, [places for places, _ in groups]),
        span=pattern.span,
        slicing=slicing,
        lanes=wiring.lanes,
        blocks=pattern.blocks,
        path=path,
        detours=detours,
        paired=paired,
        wide=pattern.wide,
    )


def _programs(groups: list[Group]) -> list[LaneProgram]:
    """Each program once."""
    return list({id(lane): lane for _, lanes in groups for lane in lanes}.values())


def _groups(
    pattern: StepsPhase, wiring: Wiring, rows: Rows, formulas: Formulas, reads: int
) -> list[Group]:
    """The roles: by form, of which those of one form may share a program, or with rows for all
    steps; whichever takes the fewest numbers."""
    by_form = _by_form(pattern, wiring, rows, reads)
    choices = [_sharing_programs(by_form), by_form]
    if len(by_form) > MOST_FORMS:
        choices.append(_with_all_steps(pattern, wiring, rows, reads))
    slices = pattern.slicing.count
    return min(choices, key=lambda groups: _size(groups, slices, formulas))


def _sharing_programs(groups: list[Group]) -> list[Group]:
    """The same roles, of which all of one form and one parity of places have one program: routes
    repeat with other periods than the slices do."""
    alike: dict[object, list[LaneProgram]] = {}
    for places, programs in groups:
        for lane, program in enumerate(programs):
            alike.setdefault((lane, program.form, _parity(places)), []).append(program)
    shared = {key: _stacked(programs) for key, programs in alike.items()}
    return [
        (places, [shared[i, one.form, _parity(places)] for i, one in enumerate(programs)])
        for places, programs in groups
    ]


def _parity(places: list[int]) -> int | None:
    """0 or 1 if all places are even or odd."""
    found = {place % 2 for place in places}
    return found.pop() if len(found) == 1 else None


def _by_form(pattern: StepsPhase, wiring: Wiring, rows: Rows, reads: int) -> list[Group]:
    """Places with the same routes and loops of the same form."""
    lanes = len(wiring.lanes)
    tables = Tables(rows.values, rows.start, pattern.slicing.count, reads=reads)

    def programs(places: Ints) -> list[LaneProgram]:
        return [tables.program(places, places * lanes + lane) for lane in range(lanes)]

    found: dict[object, list[int]] = {}
    for place in range(pattern.ranks):
        forms = tuple(tables.forms[place * lanes : (place + 1) * lanes])
        found.setdefault((wiring.at(place), forms), []).append(place)
    return [(places, programs(np.array(places))) for places in found.values()]


def _stacked(programs: list[LaneProgram]) -> LaneProgram:
    """One program for the places of several of one form, in order."""
    places = np.concatenate([one.places for one in programs])
    order = np.argsort(places)
    numbers = np.concatenate([one.numbers for one in programs])
    return LaneProgram(programs[0].form, places[order], numbers[order], programs[0].reads)


def _with_all_steps(pattern: StepsPhase, wiring: Wiring, rows: Rows, reads: int) -> list[Group]:
    """Places with the same routes; all that have a lane share its program, in which they have rows
    of the same steps."""
    has_lane = wiring.has_lane
    programs = []
    for lane, table in enumerate(padded(rows, len(wiring.lanes))):
        places = np.flatnonzero(has_lane[:, lane])
        start = np.arange(len(places) + 1) * table.shape[1]
        own = table[places].reshape(-1, FIELDS)
        tables = Tables(own, start, pattern.slicing.count, reads=reads, together=True)
        programs.append(tables.program(places, np.arange(len(places))))
    idle = LaneProgram((), np.arange(0), np.zeros((0, 0), dtype=np.int64), reads)
    found: dict[object, list[int]] = {}
    for place in range(pattern.ranks):
        found.setdefault(wiring.at(place), []).append(place)
    return [
        (
            places,
            [
                one if here else idle
                for one, here in zip(programs, has_lane[places[0]], strict=True)
            ],
        )
        for places in found.values()
    ]


def _size(groups: list[Group], slices: int, formulas: Formulas) -> int:
    """About how many numbers the text of the roles takes."""
    tables: set[tuple[int, ...]] = set()
    total = len(groups)
    for program in _programs(groups):
        numbers = _numbers(program, slices, formulas)
        tables |= {number.table for number in numbers}
        total += len(numbers)
    return total + sum(map(len, tables))


def _numbers(program: LaneProgram, slices: int, formulas: Formulas) -> list[Number]:
    """Each column of a program as a formula of the place, as far as it is used."""
    if not program.form:
        return []
    return formulas_of(program.places, program.numbers, program.used, slices, formulas)


def _role(name: str, wiring: Wiring, place: int, lanes: list[tuple[Loop, ...]]) -> Role:
    return Role(
        name=name,
        about=_about(wiring, place, lanes),
        colors=wiring.colors[place],
        lanes=tuple(
            with_colors(Lane(lane, loops), wiring.receives[place][at], wiring.sends[place][at])
            for at, (lane, loops) in enumerate(zip(wiring.lanes, lanes, strict=True))
        ),
    )


def _loops(
    program: LaneProgram, slices: int, formulas: Formulas, *, backward: bool
) -> tuple[Loop, ...]:
    """Read a program's numbers, loop by loop; elements may pass `backward`."""
    numbers = _numbers(program, slices, formulas)
    make = Entries(program.places, slices, program.reads, formulas, backward)
    loops, at = [], 0
    for size, _ in program.form:
        turns, shift = numbers[at : at + HEADER]
        at += HEADER
        end = at + size * FIELDS
        entries = tuple(
            make.entry(program.numbers[:, row], numbers[row : row + FIELDS])
            for row in range(at, end, FIELDS)
        )
        loops.append(Loop(turns, shift, entries))
        at = end
    return tuple(loops)


def _about(wiring: Wiring, place: int, lanes: list[tuple[Loop, ...]]) -> str:
    """What the lanes of a role do, in words."""
    parts = []
    for index, name in enumerate(wiring.lanes):
        if not lanes[index]:
            continue
        does = [
            word
            for word, color in (
                ("receives", wiring.receives[place][index]),
                ("sends", wiring.sends[place][index]),
            )
            if color
        ]
        parts.append(f"{' and '.join(does) or 'does nothing'} on lane `{name}`")
    return ", ".join(parts) or "lets slices pass"
