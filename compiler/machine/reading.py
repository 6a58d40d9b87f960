"""From plans to what the machine is given: all that reads attributes of plans is here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from collc.base.columns import Array, Ints
from collc.base.grids import Grid, Lines
from collc.base.values import dataclass
from collc.machine.given import (
    NOBODY,
    VECTOR,
    EntryGiven,
    FilterGiven,
    Given,
    LaneGiven,
    LoopGiven,
    OpGiven,
    PhaseGiven,
    RoleGiven,
    SettingGiven,
    SlicesGiven,
)
from collc.plan import (
    Buffer,
    ColorUse,
    Direction,
    Filter,
    Lane,
    Op,
    Phase,
    Plan,
    Role,
    Route,
    Slices,
    filters_of,
    sieves_of,
)
from collc.plan.plan import ProgramPlan
from collc.spec.exchange import Slicing
from collc.spec.simd import PAIR

_SIDES = (Direction.NORTH, Direction.EAST, Direction.SOUTH, Direction.WEST, Direction.RAMP)
_NUMBERS = {side: number for number, side in enumerate(_SIDES)}
_NOWHERE = 7  # the side towards a place that is no neighbour

Filters = Callable[[Role], Mapping[str, Filter]]
Names = Mapping[str, int]  # symbolic colors, each with its number among those given


def cuts_of(plan: Plan) -> Ints:
    """Where the atoms of a plan begin, in elements, and the end of the last: what no phase cuts.
    One atom where nothing is cut, also where there is no element."""
    found = {0, max(plan.collective.contract.length, 1)}
    for phase in plan.phases:
        bounds = _slicing(phase).bounds
        for first in _firsts(phase):
            found |= {*(first + bounds).tolist()}
    return np.array(sorted(found), dtype=np.int64)


def _slicing(phase: Phase) -> Slicing:
    """How a phase cuts the vectors; of a token that is nowhere in memory there is one element."""
    return phase.slicing if phase.slicing.length else Slicing(phase.slicing.count, 1)


def _firsts(phase: Phase) -> list[int]:
    """Where the vectors of lines begin: the blocks of their own, or the vector of all."""
    blocks = phase.blocks
    return [blocks.first(block) for block in range(len(blocks.lines))] if blocks else [0]


@dataclass(frozen=True)
class Color:
    """A color of a machine: its number, how messages name it, whether it is torn down."""

    number: int
    name: str
    torn_down: bool = False


@dataclass(frozen=True)
class Calls:
    """What is run: plans, each with the colors of its phases by symbol, and the calls of them.
    `cuts` are the atoms of calls, where they are to be finer than those of `cuts_of`."""

    plans: tuple[Plan, ...]
    colors: tuple[dict[str, Color], ...]  # by plan
    calls: tuple[int, ...]
    cuts: tuple[Ints, ...] = ()

    def cuts_of(self, of: int) -> Ints:
        """The atoms of the plan with a number."""
        finer = dict(zip(self.calls, self.cuts, strict=False))
        return finer[of] if of in finer else cuts_of(self.plans[of])

    @cached_property
    def grid(self) -> Grid:
        """The whole grid."""
        return self.plans[0].collective.grid.whole

    @cached_property
    def with_filters(self) -> Given:
        """What the machine is given of them; of filters those that are at routers."""
        return given_of(self, filters_of)

    @property
    def called(self) -> tuple[Plan, ...]:
        """The plan of each call."""
        return tuple(self.plans[call] for call in self.calls)


def calls_of_plan(plan: Plan, count: int, cuts: Sequence[Ints] = ()) -> Calls:
    """So many calls of a plan."""
    return Calls((plan,), (_own_colors(plan),), (0,) * count, tuple(cuts))


def _own_colors(plan: Plan) -> dict[str, Color]:
    return {name: Color(number, f"`{name}`") for name, number in plan.colors}


def calls_of_program(plan: ProgramPlan, calls: Sequence[int], cuts: Sequence[Ints] = ()) -> Calls:
    """Calls of the collectives of a program, whose colors are numbered together. Messages name a
    color as a phase does if no other one has it, and there is one collective."""
    users = Counter(k for use in plan.uses for _, k in use.positions)
    names: list[dict[str, Color]] = [{} for _ in plan.plans]
    for use in plan.uses:
        for name, k in use.positions:
            color = plan.colors[k]
            own = users[k] == len(plan.plans) == 1
            said = f"`{name}`" if own else f"color {color.number}"
            names[use.collective][name] = Color(color.number, said, color.torn_down)
    return Calls(plan.plans, tuple(names), tuple(calls), tuple(cuts))


def given_of(calls: Calls, filters: Filters = sieves_of) -> Given:
    """What the machine is given of calls; of the filters of roles these are at routers."""
    made = _Making(calls, filters)
    phases = [made.phase(of, phase) for of, plan in enumerate(calls.plans) for phase in plan.phases]
    first = np.cumsum([0, *(len(plan.phases) for plan in calls.plans)]).tolist()
    stages = tuple(
        (number, first[call] + phase, phase)
        for number, call in enumerate(calls.calls)
        for phase in range(len(calls.plans[call].phases))
    )
    target = calls.plans[0].target
    colors = made.colors.values()
    return Given(
        calls.grid.width,
        calls.grid.height,
        tuple(color.name for color in colors),
        tuple(color.number for color in colors),
        tuple(color.torn_down for color in colors),
        tuple(made.settings),
        tuple(phases),
        stages,
        tuple(rows_of(plan) for plan in calls.called),
        tuple(len(calls.cuts_of(call)) - 1 for call in calls.calls),
        min(target.input_queue_words[queue] for queue in target.input_queues),
    )


def places_of(grid: Grid) -> Ints:
    """The PEs of a grid on the whole one, for each line that it stands for, [lines, PEs]."""
    site, whole = grid.site, grid.whole
    y, x = np.divmod(np.arange(grid.width * grid.height, dtype=np.int64), grid.width)
    if site is None:
        return (y * whole.width + x)[None, :]
    line = np.arange(site.copies, dtype=np.int64)[:, None]
    step = whole.width if site.lines is Lines.ROW else 1
    places: Ints = (y + site.y) * whole.width + x + site.x + line * step
    return places


def rows_of(plan: Plan) -> Array:
    """Which row of what a plan holds is that of a PE of the whole grid, int32 [PEs]: its PEs, and
    again those of each further line."""
    grid = plan.collective.grid
    places = places_of(grid).reshape(-1)
    rows = np.full(grid.whole.width * grid.whole.height, NOBODY, dtype=np.int32)
    rows[places] = np.arange(len(places))
    return rows


def roles_and_places(plan: Plan, phase: Phase) -> tuple[Ints, Ints]:
    """By PE of a collective's grid its role in a phase, NOBODY for none, and its place on its line,
    int64 [PEs] each."""
    line = _Line(plan, phase)
    return line.role_at, line.place_at


def given_of_line(
    plan: Plan,
    phases: Sequence[int],
    roles: Sequence[Ints],
    filters: Filters,
    ways: Ints | None = None,
) -> Given:
    """What the machine is given of one line of phases along an axis, whose places have these roles
    in each of them: a grid of one row, or of one column. With `ways` it is a way over the grid that
    is laid out as a row: they say on which side of each PE the next one is, and the one before,
    int64 [2, PEs]. Colors are those of the plan, in its order."""
    names = _own_colors(plan)
    made = _Making(Calls((plan,), (names,), (0,)), filters)
    for name in names:
        made.color(0, name)
    given, own = [], plan.phases[phases[0]]
    for number, places in zip(phases, roles, strict=True):
        atoms = [[0] * (plan.phases[number].slicing.count + 1)]
        given.append(made.routers(0, plan.phases[number], _OneLine(places, ways), atoms))
    down, extent = own.axis == "y" and ways is None, len(roles[0])
    return Given(
        1 if down else extent,
        extent if down else 1,
        tuple(color.name for color in made.colors.values()),
        tuple(made.colors),
        tuple(False for _ in made.colors),
        tuple(made.settings),
        tuple(given),
        (),
        (),
        (),
        min(plan.target.input_queue_words[queue] for queue in plan.target.input_queues),
    )


class _Making:
    """What is numbered as phases are read: colors, and settings of routers."""

    def __init__(self, calls: Calls, filters: Filters) -> None:
        self.calls, self.filters = calls, filters
        self.colors: dict[int, Color] = {}
        self.numbers: dict[int, int] = {}
        self.settings: dict[SettingGiven, int] = {}

    def color(self, of: int, name: str) -> int:
        """The number of a symbolic color; one that has none is nobody else's."""
        known = self.calls.colors[of]
        color = known.setdefault(name, Color(-1 - len(known), f"`{name}`"))
        if color.number not in self.numbers:
            self.numbers[color.number] = len(self.numbers)
            self.colors[color.number] = color
        return self.numbers[color.number]

    def setting(self, positions: Iterable[tuple[int, int]], ring: bool) -> int:
        return self.settings.setdefault((tuple(positions), ring), len(self.settings))

    def phase(self, of: int, phase: Phase) -> PhaseGiven:
        """A phase of the plan with a number."""
        plan = self.calls.plans[of]
        cuts, slicing = self.calls.cuts_of(of), _slicing(phase)
        atoms = [np.searchsorted(cuts, one + slicing.bounds).tolist() for one in _firsts(phase)]
        roles = tuple(self._role(of, role) for role in phase.roles)
        line = _Line(plan, phase)
        given = self.routers(of, phase, line, atoms)
        return replace(given, roles=roles, role_at=line.spread(line.role_at, NOBODY))

    def routers(
        self, of: int, phase: Phase, line: _Line | _OneLine, atoms: list[list[int]]
    ) -> PhaseGiven:
        """What routers and filters of a phase are given, without its lanes."""
        words = self.calls.plans[of].collective.contract.element.words
        parts = PAIR if phase.paired else 1
        sizes = np.diff(_slicing(phase).bounds) * words // parts
        counters = [self.filters(role) for role in phase.roles]
        filters = list(dict.fromkeys(one for found in counters for one in found.values()))
        sets = self._sets(of, phase, line, filters)
        return PhaseGiven(
            (),
            line.spread(np.full_like(line.role_at, NOBODY), NOBODY),
            line.spread(line.place_at, 0),
            line.spread(line.block_at, 0),
            sizes.tolist(),
            atoms,
            (words, parts),
            sets,
            tuple(map(_filter, filters)),
        )

    def _role(self, of: int, role: Role) -> RoleGiven:
        lanes = {lane.name: number for number, lane in enumerate(role.lanes)}
        return RoleGiven(tuple(self._lane(of, lane, lanes) for lane in role.lanes))

    def _lane(self, of: int, lane: Lane, lanes: Names) -> LaneGiven:
        number = 0
        loops = []
        for loop in lane.loops:
            entries = []
            for entry in loop.entries:
                ops = []
                for op in entry.ops:
                    if op.receive != "" and op.send != "":
                        ops.append(self._op(of, op, number, lanes.get(op.after)))
                    number += 1
                entries.append(EntryGiven(tuple(ops), entry.ends_step))
            loops.append(LoopGiven(loop.turns, loop.shift, tuple(entries)))
        return LaneGiven(tuple(loops))

    def _op(self, of: int, op: Op, number: int, after: int | None) -> OpGiven:
        receive, send = (
            self.color(of, place)
            if isinstance(place, str)
            else VECTOR
            if place.buffer is Buffer.VECTOR
            else VECTOR - 1 - place.area
            for place in (op.receive, op.send)
        )
        slices = _slices(op.slices)
        return OpGiven(
            number, receive, op.action.value, send, slices, op.advance.value, op.returns, after,
            op.vectors, op.elements, op.where,
        )  # fmt: skip

    def _sets(
        self, of: int, phase: Phase, line: _Line | _OneLine, filters: Sequence[Filter]
    ) -> Array:
        """What a phase sets at routers, PE by PE."""
        elsewhere = {detour.color for detour in phase.detours}
        rows = [np.zeros((0, 4), dtype=np.int64)]
        for index, role in enumerate(phase.roles):
            pes = np.flatnonzero(line.role_at == index)
            counters = self.filters(role)
            for use in role.colors:
                if use.color in elsewhere or not use.positions or not len(pes):
                    continue
                counter = counters.get(use.color)
                number = NOBODY if counter is None else filters.index(counter)
                color = self.color(of, use.color)
                for some, positions in line.turned(pes, use):
                    setting = self.setting(positions, use.ring)
                    row = np.array([0, color, setting, number])
                    rows.append(np.where([True, False, False, False], some[:, None], row))
        for detour in phase.detours:
            color = self.color(of, detour.color)
            for (x, y), route in detour.routes:
                setting = self.setting([_route(route, _NUMBERS)], ring=False)
                rows.append(np.array([[y * line.width + x, color, setting, NOBODY]]))
        return line.spread_rows(np.concatenate(rows))


class _Line:
    """The PEs of a phase, on the grid of its collective: by PE its role, its place on its line, and
    the block of the vectors that is its line's."""

    def __init__(self, plan: Plan, phase: Phase) -> None:
        grid = plan.collective.grid
        self.width, self.height = grid.width, grid.height
        self.whole = grid.whole.width * grid.whole.height
        self.places = places_of(grid)
        y, x = np.divmod(np.arange(self.width * self.height, dtype=np.int64), self.width)
        along, across = (y, x) if phase.axis == "y" else (x, y)
        self.place_at: Ints = along
        self.path = phase.path
        self.order: Ints = np.arange(len(along))
        if phase.path is not None:
            self.order = phase.path.y * self.width + phase.path.x
            self.place_at = np.zeros(len(along), dtype=np.int64)
            self.place_at[self.order] = np.arange(len(self.order))
        self.role_at = self._roles(phase)
        blocks = phase.blocks
        self.block_at: Ints = np.zeros(len(along), dtype=np.int64)
        for block, line in enumerate(blocks.lines if blocks else ()):
            self.block_at[across == line] = block

    def _roles(self, phase: Phase) -> Ints:
        height, width = (1, len(self.order)) if self.path else (self.height, self.width)
        roles = np.full((height, width), NOBODY, dtype=np.int64)
        for region, index in phase.regions:
            y, x = (
                [at for at in side if 0 <= at < most]
                for side, most in ((region.y, height), (region.x, width))
            )
            roles[np.ix_(y, x)] = index
        found: Ints = np.full(len(self.place_at), NOBODY, dtype=np.int64)
        found[self.order] = roles.reshape(-1)
        return found

    def turned(
        self, pes: Ints, use: ColorUse
    ) -> Iterator[tuple[Ints, tuple[tuple[int, int], ...]]]:
        """The positions of routers as sides of the grid, and the PEs that have them so: along a
        path sides are those towards the places before and behind."""
        if self.path is None:
            yield pes, tuple(_route(route, _NUMBERS) for route in use.positions)
            return
        ahead, back = self._sides
        both = ahead[pes] * 8 + back[pes]
        for code in np.unique(both).tolist():
            sides = {**_NUMBERS, Direction.EAST: code // 8, Direction.WEST: code % 8}
            positions = tuple(_route(route, sides) for route in use.positions)
            yield pes[both == code], positions

    @cached_property
    def _sides(self) -> tuple[Ints, Ints]:
        """On which side the next place of the path is, and the one before, by PE."""
        steps = np.diff(self.order)
        x = self.order % self.width
        side = np.full(len(steps), _NOWHERE, dtype=np.int64)
        near = x[:-1] == x[1:]
        side[near & (steps == -self.width)] = 0
        side[near & (steps == self.width)] = 2
        level = self.order[:-1] // self.width == self.order[1:] // self.width
        side[level & (steps == 1)] = 1
        side[level & (steps == -1)] = 3
        ahead = np.full(len(self.place_at), _NOWHERE, dtype=np.int64)
        back = ahead.copy()
        ahead[self.order[:-1]] = side
        back[self.order[1:]] = np.where(side == _NOWHERE, _NOWHERE, (side + 2) % 4)
        return ahead, back

    def spread(self, column: Ints, nobody: int) -> Array:
        """A number for each PE of the grid as one for each of the whole, int32 [PEs]."""
        found = np.full(self.whole, nobody, dtype=np.int32)
        for places in self.places:
            found[places] = column
        return found

    def spread_rows(self, rows: Ints) -> Array:
        """Rows of PEs of the grid as those of the whole one, PE by PE, int32 [4 * rows]."""
        there = rows[(rows[:, 0] >= 0) & (rows[:, 0] < len(self.place_at))]
        all_rows = np.tile(there, (len(self.places), 1))
        all_rows[:, 0] = self.places[:, there[:, 0]].reshape(-1)
        ordered = all_rows[np.argsort(all_rows[:, 0], kind="stable")]
        return np.ascontiguousarray(ordered, dtype=np.int32).reshape(-1)


class _OneLine:
    """The PEs of one line, or of a way over the grid that is laid out as a line."""

    def __init__(self, roles: Ints, ways: Ints | None) -> None:
        self.role_at, self.ways, self.width = roles, ways, len(roles)
        self.place_at: Ints = np.arange(len(roles), dtype=np.int64)
        self.block_at: Ints = np.zeros(len(roles), dtype=np.int64)

    def turned(
        self, pes: Ints, use: ColorUse
    ) -> Iterator[tuple[Ints, tuple[tuple[int, int], ...]]]:
        """The positions of routers, and the PEs that have them so; on a way what leads elsewhere is
        left out."""
        positions = tuple(_route(route, _NUMBERS) for route in use.positions)
        if self.ways is None:
            yield pes, positions
            return
        ahead, back = self.ways
        both = ahead[pes] * 8 + back[pes]
        for code in np.unique(both).tolist():
            onto = {code // 8: _NUMBERS[Direction.EAST], code % 8: _NUMBERS[Direction.WEST]}
            onto[_NUMBERS[Direction.RAMP]] = _NUMBERS[Direction.RAMP]
            yield (
                pes[both == code],
                tuple(
                    (
                        onto.get(receive, _NOWHERE),
                        sum(1 << to for side, to in onto.items() if send >> side & 1),
                    )
                    for receive, send in positions
                ),
            )

    @staticmethod
    def spread(column: Ints, nobody: int) -> Array:
        """A number for each PE, int32 [PEs]."""
        return column.astype(np.int32)

    @staticmethod
    def spread_rows(rows: Ints) -> Array:
        """Rows of PEs, PE by PE, int32 [4 * rows]."""
        ordered = rows[np.argsort(rows[:, 0], kind="stable")]
        return np.ascontiguousarray(ordered, dtype=np.int32).reshape(-1)


def _route(route: Route, sides: Mapping[Direction, int]) -> tuple[int, int]:
    return sides[route.receive], sum(1 << sides[side] for side in route.send)


def _filter(one: Filter) -> FilterGiven:
    period, before, passes = map(_slices, (one.period, one.before, one.passes))
    return FilterGiven(period, before, passes)


def _slices(of: Slices) -> SlicesGiven:
    return SlicesGiven(of.first, of.count, of.backward, of.blocks, of.period)
