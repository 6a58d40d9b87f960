"""From a phase made of steps to the plan's phase: PEs of one form become a role.

Each place has a program, its loops. Places with the same wiring and loops of the same form share a
role, in which every number is a formula of the place. Where that takes many roles, all places get
rows for all steps instead, with empty ones; then only the wiring tells roles apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.paths import Path
from collc.lowering.regions import regions_of
from collc.lowering.roles import where
from collc.lowering.steps.entries import Entries, with_colors
from collc.lowering.steps.formulas import Formulas, formulas_of
from collc.lowering.steps.hazards import staged
from collc.lowering.steps.loops import HEADER, Stretch, loops_in
from collc.lowering.steps.parts import (
    APPLIES,
    RECEIVES,
    RELAYS,
    SENDS,
    along_circuits,
    by_relays,
)
from collc.lowering.steps.rows import FIELDS, Rows, padded, rows_of
from collc.lowering.steps.traffic import Traffic
from collc.lowering.steps.wiring import Wiring
from collc.plan import Detour, Exchange, Lane, Loop, Number, Phase, Role
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase
from collc.spec.simd import may_go_backward

MOST_FORMS = 12  # roles beyond which rows for all steps are tried

LaneForm = tuple[tuple[int, int], ...]  # of each loop: rows, and 1 if it is run more than once


@dataclass(frozen=True, eq=False)
class LaneProgram:
    """The loops of a lane at several places, as [places, numbers]; `form` says how to read it.
    Rows of the kinds `reads` say which slices they put out."""

    form: LaneForm
    places: Ints
    numbers: Ints
    reads: int = SENDS


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
    dynamic_length: bool = False,
) -> Phase:
    """The plan's phase of `pattern` on the lanes of `wiring`. With a `path`, which is a row when
    unfolded, it goes along that; where it is not contiguous, on `detours`. Slices whose lengths are
    those of the run are looked up (`dynamic_length`). Elements go in pairs where it is `paired`."""
    slicing = pattern.slicing
    stages, areas = staged(traffic, pattern.ranks, by_call_back)
    if wiring.circuits:
        parts, backward = along_circuits(traffic, wiring, stages, areas), False
    else:
        lengths = None if dynamic_length else slicing
        turns = may_go_backward(paired=paired, wide=pattern.wide)
        parts, backward = by_relays(traffic, wiring, lengths, (stages, areas), may_turn=turns)
    rows = rows_of(parts, bool(wiring.circuits))
    formulas: Formulas = {}
    reads = SENDS | RELAYS if dynamic_length else SENDS
    groups = _groups(pattern, wiring, rows, formulas, reads)
    programs = _programs(groups)
    loops = {id(lane): _loops(lane, slicing.count, formulas) for lane in programs}
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
        pattern=pattern,
        exchange=Exchange(
            slicing,
            int(areas[stages].max()) + 1 if stages.any() else 0,
            wiring.lanes,
            backward,
            pattern.blocks,
            dynamic_length,
        ),
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
    bounds = np.searchsorted(
        rows.place * lanes + rows.lane, np.arange(pattern.ranks * lanes + 1)
    ).tolist()
    found: dict[object, list[int]] = {}
    programs: list[list[LaneProgram]] = []
    for place in range(pattern.ranks):
        own = []
        for lane in range(lanes):
            low, high = bounds[place * lanes + lane : place * lanes + lane + 2]
            values = rows.values[None, low:high]
            stretches = loops_in(values, pattern.slicing.count, reads)
            own.append(_program(np.array([place]), values, stretches, reads))
        programs.append(own)
        forms = tuple(lane.form for lane in own)
        found.setdefault((wiring.at(place), forms), []).append(place)
    return [
        (places, [_stacked([programs[place][lane] for place in places]) for lane in range(lanes)])
        for places in found.values()
    ]


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
    for lane, table in enumerate(padded(rows, pattern.ranks)):
        places = np.flatnonzero(has_lane[:, lane])
        stretches = loops_in(table[places], pattern.slicing.count, reads)
        programs.append(_program(places, table[places], stretches, reads))
    idle = LaneProgram((), np.arange(0), np.zeros((0, 0), dtype=np.int64))
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


def _program(places: Ints, rows: Ints, stretches: Sequence[Stretch], reads: int) -> LaneProgram:
    """The numbers of the loops: turns and shift, then the rows of one turn."""
    form = tuple((stretch.size, int(stretch.turns > 1)) for stretch in stretches)
    if not form:
        return LaneProgram(form, places, np.zeros((len(rows), 0), dtype=np.int64), reads)
    turns = np.array([stretch.turns for stretch in stretches])
    shift = np.stack([stretch.shift for stretch in stretches], axis=1)
    heads = np.stack((np.broadcast_to(turns, shift.shape), shift), axis=2)
    begin = FIELDS * np.array([stretch.first for stretch in stretches])
    lengths = FIELDS * np.array([stretch.size for stretch in stretches])
    # where each number stands if all heads stand in front of all rows
    of = np.repeat(np.arange(len(form)), lengths + HEADER)
    at = np.arange(len(of)) - (np.cumsum(lengths + HEADER) - lengths - HEADER)[of]
    at += np.where(at < HEADER, HEADER * of, HEADER * (len(form) - 1) + begin[of])
    flat = (heads.reshape(len(rows), -1), rows.reshape(len(rows), -1))
    return LaneProgram(form, places, np.concatenate(flat, axis=1)[:, at], reads)


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
    return formulas_of(program.places, program.numbers, _used(program), slices, formulas)


def _used(program: LaneProgram) -> Bools:
    """Which numbers of a program are read at each place: those of slices only where a row has
    them."""
    used = np.ones(program.numbers.shape, dtype=np.bool_)
    at = np.array(list(_row_columns(program)))
    kind = program.numbers[:, at]
    used[:, at + 1] = (kind & program.reads) > 0
    used[:, at + 2] = (kind & (SENDS | RELAYS)) > 0
    used[:, at + 3] = used[:, at + 4] = (kind & (RECEIVES | APPLIES)) > 0
    return used


def _row_columns(program: LaneProgram) -> Iterator[int]:
    """Where each row begins."""
    at = 0
    for size, _ in program.form:
        at += HEADER
        yield from range(at, at + size * FIELDS, FIELDS)
        at += size * FIELDS


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


def _loops(program: LaneProgram, slices: int, formulas: Formulas) -> tuple[Loop, ...]:
    """Read a program's numbers as `_program` has written them."""
    numbers = _numbers(program, slices, formulas)
    make = Entries(program.places, slices, program.reads, formulas)
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
