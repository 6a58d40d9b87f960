"""From a phase made of steps to the plan's phase: PEs of one form become a role.

Each place has a program, its loops. Places with the same wiring and loops of the same form share a
role, in which every number is a formula of the place. Where that takes many roles, all places get
rows for all steps instead, with empty ones; then only the wiring tells roles apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collc.lowering.regions import compress
from collc.lowering.roles import where
from collc.lowering.steps.hazards import staged
from collc.lowering.steps.loops import Stretch, loops_in
from collc.lowering.steps.numbers import number_of
from collc.lowering.steps.parts import merged, parts_of
from collc.lowering.steps.rows import FIELDS, Rows, padded, rows_of
from collc.lowering.steps.traffic import Ints, Traffic
from collc.lowering.steps.walks import LaneForm, LaneProgram, walking, way_to_walk
from collc.lowering.steps.wiring import Wiring
from collc.paths import Path
from collc.plan import Exchange, Lane, Loop, Number, Phase, Region, Role, Row, Strided
from collc.spec import ContractKind
from collc.steps import StepsPhase

MOST_FORMS = 12  # roles beyond which rows for all steps are tried

Group = tuple[list[int], list[LaneProgram]]  # places, and the program of each lane


def steps_phase(  # noqa: PLR0913 - what, how it is wired, then how it is carried out
    pattern: StepsPhase,
    traffic: Traffic,
    wiring: Wiring,
    *,
    by_call_back: bool,
    path: Path | None = None,
    may_walk: bool = True,
) -> Phase:
    """The plan's phase of `pattern` on the lanes of `wiring`. With a `path`, which is a row when
    unfolded, it goes along that. Registers walk from slice to slice where that saves loads and
    `may_walk` says that there are enough of them."""
    slicing = pattern.slicing
    uniform = slicing.length % slicing.count == 0
    stages, areas = staged(traffic, pattern.ranks, by_call_back)
    parts = merged(parts_of(traffic, wiring, stages, areas), uniform, bool(wiring.circuits))
    rows = rows_of(parts, bool(wiring.circuits))
    groups = _groups(pattern, wiring, rows, uniform)
    programs = [lane for _, lanes in groups for lane in lanes]
    walks = way_to_walk(programs, slicing) if may_walk and not stages.any() else 0
    roles = tuple(
        _role(
            f"part_{index}",
            pattern,
            wiring,
            places,
            [walking(lane, slicing.count, walks) for lane in lanes],
        )
        for index, (places, lanes) in enumerate(groups)
    )
    return Phase(
        name=pattern.name,
        kind=ContractKind.ALLREDUCE if traffic.combines.any() else ContractKind.BROADCAST,
        axis=pattern.axis,
        order=None,
        about=f"{pattern.algorithm} along {where(pattern.axis, path)}",
        roles=roles,
        regions=_regions(pattern, [places for places, _ in groups]),
        exchange=Exchange(
            slicing, int(areas[stages].max()) + 1 if stages.any() else 0, wiring.lanes, walks
        ),
        path=path,
    )


def _groups(pattern: StepsPhase, wiring: Wiring, rows: Rows, uniform: bool) -> list[Group]:
    """The roles: by form, or with rows for all steps if that takes fewer numbers."""
    by_form = _by_form(pattern, wiring, rows, uniform)
    if len(by_form) <= MOST_FORMS:
        return by_form
    alike = _with_all_steps(pattern, wiring, rows, uniform)
    return min(by_form, alike, key=lambda groups: _size(pattern, groups))


def _by_form(pattern: StepsPhase, wiring: Wiring, rows: Rows, uniform: bool) -> list[Group]:
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
            stretches = loops_in(values, pattern.slicing.count, uniform)
            own.append(_program(values, stretches))
        programs.append(own)
        key = (wiring.colors[place], wiring.receives[place], wiring.sends[place])
        found.setdefault((key, tuple(lane.form for lane in own)), []).append(place)
    return [
        (places, [_stacked([programs[place][lane] for place in places]) for lane in range(lanes)])
        for places in found.values()
    ]


def _stacked(programs: list[LaneProgram]) -> LaneProgram:
    return LaneProgram(programs[0].form, np.concatenate([one.numbers for one in programs]))


def _with_all_steps(pattern: StepsPhase, wiring: Wiring, rows: Rows, uniform: bool) -> list[Group]:
    """Places with the same routes; all have rows of the same steps."""
    tables = padded(rows, pattern.ranks)
    programs = [
        _program(table, loops_in(table, pattern.slicing.count, uniform)) for table in tables
    ]
    found: dict[object, list[int]] = {}
    for place in range(pattern.ranks):
        key = (wiring.colors[place], wiring.receives[place], wiring.sends[place])
        found.setdefault(key, []).append(place)
    return [
        (places, [LaneProgram(one.form, one.numbers[places]) for one in programs])
        for places in found.values()
    ]


def _program(rows: Ints, stretches: Sequence[Stretch]) -> LaneProgram:
    """The numbers of the loops: turns and shift, then the rows of one turn."""
    columns = [np.zeros((len(rows), 0), dtype=np.int64)]
    for stretch in stretches:
        head = np.stack((np.full_like(stretch.shift, stretch.turns), stretch.shift), axis=1)
        turn = rows[:, stretch.first : stretch.first + stretch.size]
        columns += [head, turn.reshape(len(rows), -1)]
    form = tuple((stretch.size, int(stretch.turns > 1)) for stretch in stretches)
    return LaneProgram(form, np.concatenate(columns, axis=1))


def _size(pattern: StepsPhase, groups: list[Group]) -> int:
    """About how many numbers the text of the roles takes."""
    total = 0
    for places, lanes in groups:
        for lane in lanes:
            numbers = _numbers(pattern, np.array(places), lane.numbers)
            total += len(numbers) + sum(len(number.table) for number in set(numbers))
    return total


def _numbers(pattern: StepsPhase, places: Ints, values: Ints) -> list[Number]:
    """Each column of `values` as a formula of the place."""
    columns, index = np.unique(values, axis=1, return_inverse=True)
    formulas = [number_of(places, column, pattern.slicing.count) for column in columns.T]
    return [formulas[at] for at in index.reshape(-1).tolist()]


def _role(
    name: str, pattern: StepsPhase, wiring: Wiring, places: list[int], lanes: list[LaneProgram]
) -> Role:
    first = places[0]
    return Role(
        name=name,
        about=_about(wiring, first, lanes),
        steps=(),
        colors=wiring.colors[first],
        lanes=tuple(
            Lane(
                lane,
                wiring.receives[first][index],
                wiring.sends[first][index],
                _loops(_numbers(pattern, np.array(places), program.numbers), program.form),
            )
            for index, (lane, program) in enumerate(zip(wiring.lanes, lanes, strict=True))
        ),
    )


def _loops(numbers: list[Number], form: LaneForm) -> tuple[Loop, ...]:
    """Read numbers as `_program` has written them."""
    loops, at = [], 0
    head = (len(numbers) - FIELDS * sum(size for size, _ in form)) // max(len(form), 1)
    for size, _ in form:
        turns, shift, *walks = numbers[at : at + head]
        at += head
        end = at + size * FIELDS
        rows = tuple(Row(*numbers[row : row + FIELDS]) for row in range(at, end, FIELDS))
        loops.append(Loop(turns, shift, rows, *walks))
        at = end
    return tuple(loops)


def _about(wiring: Wiring, place: int, lanes: list[LaneProgram]) -> str:
    """What the lanes of a role do, in words."""
    parts = []
    for index, name in enumerate(wiring.lanes):
        if not lanes[index].form:
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


def _regions(
    pattern: StepsPhase, places_of_roles: list[list[int]]
) -> tuple[tuple[Region, int], ...]:
    """The roles' places in grid coordinates, on all lines."""
    across = Strided(*pattern.lines)
    found = []
    for role, places in enumerate(places_of_roles):
        for along in compress(places):
            region = Region(along, across) if pattern.axis == "x" else Region(across, along)
            found.append((region, role))
    return tuple(sorted(found))
