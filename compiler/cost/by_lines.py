"""The clock of a grid, line by line: equal lines are followed once.

The phases of most collectives on a grid go along an axis each, and what a PE does in one depends on
those before only by the cycle in which it comes to it (`collc.machine.segments`). So each phase is
followed on lines by themselves. A line whose PEs do what those of another one do, and come to it at
the same distances in time, takes the same. A multicast over the grid, which is the last phase, is
followed on the ways to the corners: the PEs beside them wait for it, and let it pass at once.

The cycles are those of the clock of the whole grid (tests/cost/test_by_lines.py). Where a plan is
no such sequence of lines, `timed_by_lines` gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.values import dataclass
from collc.emit.model import LibraryModel
from collc.emit.scripts import Lengths, ScriptsByPhase
from collc.machine.given import NOBODY, Given
from collc.machine.reading import given_of_line
from collc.machine.segments import InseparableError
from collc.machine.timed import Script, Timed, Told, timed_line, told_of
from collc.plan import Phase, Plan, filters_of
from collc.plan.geometry import multicast_of
from collc.plan.one_call import by_itself_in
from collc.plan.plan import ProgramPlan

_AXES = {"x", "y"}
_SMALL = 16  # PEs, beyond which a grid is followed by lines
_NORTH, _EAST, _SOUTH, _WEST, _NOWHERE = 0, 1, 2, 3, 7  # sides of the grid


@dataclass(frozen=True)
class Clocked:
    """The cycle in which the last PE is done, and in which the last one comes to each mark."""

    cycles: int
    marks: Sequence[int]


def timed_by_lines(
    program: ProgramPlan, library: LibraryModel, lengths: Lengths | None, most: int
) -> Clocked | None:
    """What the clock says of a collective called once; None if not all its phases go along lines,
    or PEs are too few for it to be worth while. Raises what the clock of a grid does."""
    plan = _plan_by_lines(program)
    if plan is None:
        return None
    try:
        return _Lines(program, plan, library, lengths, most).followed()
    except InseparableError:
        return None


def told_by_lines(program: ProgramPlan, library: LibraryModel, most: int) -> list[Told] | None:
    """What there is to tell of the lines that end last in each phase, with numbers of PEs of the
    grid; None, and raises, as `timed_by_lines`."""
    plan = _plan_by_lines(program)
    if plan is None:
        return None
    try:
        lines = _Lines(program, plan, library, None, most, traced=True)
        return None if lines.followed() is None else lines.told
    except InseparableError:
        return None


def _plan_by_lines(program: ProgramPlan) -> Plan | None:
    """The plan of a program that is one call, each phase of which is along an axis, or the last one
    a multicast to the whole grid, with no color that is torn down."""
    plan = by_itself_in(program)
    if plan is None or not plan.phases:
        return None
    grid, (*before, last) = plan.collective.grid, plan.phases
    alone = grid.whole.width * grid.whole.height == max(grid.width, grid.height)  # a single line
    if alone or grid.whole.width * grid.whole.height <= _SMALL:
        return None
    multicast = multicast_of(last)
    told = multicast is not None and multicast.extents == (grid.width, grid.height)
    axes = [phase.axis for phase in (before if told else plan.phases)]
    straight = all(one.path is None and not one.detours for one in plan.phases)
    return plan if straight and set(axes) <= _AXES else None


class _Lines:
    """A plan whose phases are followed by lines, those along one axis together. `at` is when each
    PE comes to the next of them, by place, int64 [height, width]; `marks` say when the last one has
    come to each phase."""

    def __init__(  # noqa: PLR0913 - what runs, and how
        self,
        program: ProgramPlan,
        plan: Plan,
        library: LibraryModel,
        lengths: Lengths | None,
        most: int,
        *,
        traced: bool = False,
    ) -> None:
        self.plan, self.target, self.most = plan, program.target, most
        self.traced, self.told = traced, list[Told]()
        grid, phases = self.plan.collective.grid, self.plan.phases
        self.shape = grid.height, grid.width
        self.groups = list(_groups(phases))
        scripts = ScriptsByPhase(program, library, self.groups, lengths or {})
        numbers, which = np.unique(scripts.at, return_inverse=True)
        known: list[dict[Script, int]] = [{} for _ in self.groups]
        numbered: list[dict[int, int]] = [{} for _ in self.groups]
        cut = []
        for number in numbers.tolist():
            row = []
            for of, same, one in zip(known, numbered, scripts.segments(number), strict=True):
                if id(one) not in same:  # which `scripts` holds
                    same[id(one)] = of.setdefault(one, len(of))
                row.append(same[id(one)])
            cut.append(row)
        self.segments = np.array(cut, dtype=np.int64).T[:, which.reshape(self.shape)]
        self.scripts = [list(of) for of in known]
        self.at = np.zeros(self.shape, dtype=np.int64)
        self.marks = [0] * (len(phases) + 1)
        self.pes = np.arange(grid.height * grid.width).reshape(self.shape)
        self.roles = [of.reshape(self.shape) for of in scripts.roles]

    def followed(self) -> Clocked | None:
        """The whole of it."""
        for number, group in enumerate(self.groups):
            self._come_to(group.start, self.at)
            if self.plan.phases[group.start].axis in _AXES:
                self._along(number)
            elif not self._multicast(number):
                return None
        self._come_to(len(self.plan.phases), self.at)
        return Clocked(self.marks[-1], tuple(self.marks))

    def _come_to(self, mark: int, at: Ints) -> None:
        self.marks[mark] = max(self.marks[mark], int(at.max()))

    def _along(self, number: int) -> None:
        """Phases along an axis."""
        group = self.groups[number]
        down = self.plan.phases[group.start].axis == "y"
        arrays = (self.segments[number], self.at, *(self.roles[at] for at in group))
        segments, at, *roles = (one.T.copy() if down else one for one in arrays)
        taking_part = np.any([of != NOBODY for of in roles], axis=(0, 2))
        ended = at.copy()
        self._alone(number, segments, at, ended, ~taking_part)
        found: dict[object, Timed] = {}
        givens: dict[object, Given] = {}
        last: tuple[int, Timed, int, int] | None = None  # of the lines, which one ends last
        for line in np.flatnonzero(taking_part).tolist():
            begin = int(at[line].min())
            starts, since = at[line] - begin, min(begin, self._first)
            own = tuple(of[line].tobytes() for of in roles)
            key = segments[line].tobytes(), own, starts.tobytes(), since
            if key not in found:
                if own not in givens:
                    of_line = [of[line] for of in roles]
                    givens[own] = given_of_line(self.plan, group, of_line, filters_of)
                found[key] = self._run(number, givens[own], segments[line], starts, since)
            ended[line] = begin + found[key].done
            self._pass(found[key], begin)
            end = int(ended[line].max())
            if last is None or end > last[0]:
                last = end, found[key], line, begin
        if self.traced and last is not None:
            _, slowest, line, begin = last
            pes = self.pes.T if down else self.pes
            self._tell(number, slowest, segments[line], pes[line], begin)
        self.at = ended.T if down else ended

    def _tell(self, number: int, line: Timed, segments: Ints, pes: Ints, begin: int) -> None:
        """What a line has to tell."""
        self.told.append(told_of(line, self.scripts[number], segments, pes, begin))

    @property
    def _first(self) -> int:
        """The cycle from which on tasks begin at once."""
        return self.target.cycles.engine.first_task

    def _pass(self, line: Timed, begin: int) -> None:
        """The marks that are passed on the way."""
        for mark, at in enumerate(line.marks):
            if at:
                self.marks[mark] = max(self.marks[mark], begin + at)

    def _alone(self, number: int, segments: Ints, at: Ints, ended: Ints, pes: Bools) -> None:
        """PEs of lines that have no part in phases run through their code."""
        if not pes.any():
            return
        group, nobody = self.groups[number], np.full(1, NOBODY, dtype=np.int64)
        given = given_of_line(self.plan, group, [nobody for _ in group], filters_of)
        begins, starts = at[pes], np.zeros(1, dtype=np.int64)
        kinds = segments[pes] * (self._first + 1) + np.minimum(begins, self._first)
        distinct, which = np.unique(kinds, return_inverse=True)
        which = which.reshape(begins.shape)
        took = np.zeros(len(distinct), dtype=np.int64)
        for index, (segment, since) in enumerate(
            divmod(kind, self._first + 1) for kind in distinct
        ):
            found = self._run(number, given, starts + segment, starts, int(since))
            took[index] = found.done[0]
            self._pass(found, int(begins[which == index].max()))
        ended[pes] = begins + took[which]

    def _run(self, number: int, given: Given, segments: Ints, starts: Ints, since: int) -> Timed:
        """One line."""
        used, which = np.unique(segments, return_inverse=True)
        scripts = [self.scripts[number][one] for one in used.tolist()]
        at = which.reshape(-1)
        how = (starts, since, self.most)
        return timed_line(given, self.target, scripts, at, *how, traced=self.traced)

    def _multicast(self, number: int) -> bool:
        """A multicast to the whole grid: when the PEs on the ways to its corners have taken it.
        False if some may not wait for it when it comes."""
        (phase,) = self.groups[number]
        multicast = multicast_of(self.plan.phases[phase])
        assert multicast is not None, "what goes along no axis"
        x, y = multicast.at
        height, width = self.shape
        rows, columns = np.ogrid[:height, :width]
        comes = self.at[y, x] + self.target.hop * (abs(rows - y) + abs(columns - x))
        if bool((self.at > comes).any()):
            return False
        ended = self.at.copy()
        for to in product({0, width - 1}, {0, height - 1}):
            way = list(_way((x, y), to))
            over_x, over_y = np.array(way).T
            sides = [_side(one, other) for one, other in pairwise(way)]
            ways = np.array([[*sides, _NOWHERE], [_NOWHERE, *((one + 2) % 4 for one in sides)]])
            roles = self.roles[phase][over_y, over_x]
            given = given_of_line(self.plan, (phase,), [roles], filters_of, ways)
            begin = int(self.at[over_y, over_x].min())
            starts, since = self.at[over_y, over_x] - begin, min(begin, self._first)
            found = self._run(number, given, self.segments[number][over_y, over_x], starts, since)
            ended[over_y, over_x] = begin + found.done
            self._pass(found, begin)
            if self.traced:
                segments, pes = (of[over_y, over_x] for of in (self.segments[number], self.pes))
                self._tell(number, found, segments, pes, begin)
        self.at = ended
        return True


def _groups(phases: Sequence[Phase]) -> Iterator[range]:
    """Phases that follow each other along an axis, by their numbers: words of a phase may come to a
    PE while it is in the one before."""
    first = 0
    for at, phase in enumerate(phases):
        if phase.axis not in _AXES or phase.axis != phases[first].axis:
            if first < at:
                yield range(first, at)
            first = at
    yield range(first, len(phases))


def _side(one: tuple[int, int], other: tuple[int, int]) -> int:
    """On which side of a PE another one is that is beside it."""
    (x, y), (to_x, to_y) = one, other
    if x == to_x:
        return _SOUTH if to_y > y else _NORTH
    return _EAST if to_x > x else _WEST


def _way(root: tuple[int, int], to: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The PEs from the root of a multicast to a corner: along the root's row, then the column."""
    (x, y), (to_x, to_y) = root, to
    yield from ((at, y) for at in _between(x, to_x))
    yield from ((to_x, at) for at in _between(y, to_y)[1:])


def _between(one: int, other: int) -> list[int]:
    step = 1 if other >= one else -1
    return list(range(one, other + step, step))
