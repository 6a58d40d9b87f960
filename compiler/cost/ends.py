"""What is asked of a phase of a program, and what is found: by PE, when its part is over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from collc.base.columns import Array, Bools
from collc.base.grids import Grid, Lines
from collc.base.values import dataclass
from collc.cost.operations import Costs
from collc.cost.predict import Times
from collc.cost.processor import Stall
from collc.cost.stretches import Stretches, later, no_stretch
from collc.plan import Phase

Area = tuple[slice, slice] | tuple[Times, Times]  # of a grid: columns and rows


@dataclass
class Ends:
    """By PE: when its part is over, and whether a task is told of it; by symbolic color, from when
    on its router is torn down. `due` are two tasks between operations, behind storing and behind
    sending: when they are, -1 if there are none; the first is `long` by so many cycles. `comes` are
    stretches in which elements come, and `code` those of an exchange's tasks
    (`collc.cost.stretches`)."""

    over: Times
    by_task: Bools
    torn: dict[str, Times]
    due: tuple[Times, Times]
    long: Times
    comes: Stretches
    code: Stretches

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All of it, [x, y] and, of stretches, [x, y, time, stretch]."""
        by_pe = (self.over, self.by_task, self.long, *self.due, self.comes, self.code)
        return (*by_pe, *self.torn.values())

    def with_arrays(self, arrays: Iterable[Array]) -> Ends:
        """The same with other arrays."""
        over, by_task, long, stored, sent, comes, code, *torn = arrays
        colors = dict(zip(self.torn, torn, strict=True))
        return Ends(over, by_task, colors, (stored, sent), long, comes, code)

    def later(self, cycles: int) -> Ends:
        """The same of a phase that begins so many cycles later."""
        shift = np.full_like(self.over, cycles)
        stored, sent = (np.where(times < 0, -1, times + cycles) for times in self.due)
        return replace(
            self,
            over=self.over + cycles,
            torn={name: times + cycles for name, times in self.torn.items()},
            due=(stored, sent),
            comes=later(self.comes, shift),
            code=later(self.code, shift),
        )

    def with_parts(self, areas: Sequence[Area], parts: Sequence[Ends]) -> Ends:
        """The same with what is said of the PEs of some areas, of each by one of the parts."""
        arrays = zip(self.arrays, *(part.arrays for part in parts), strict=True)
        return self.with_arrays([_placed(areas, *of) for of in arrays])


def _placed(areas: Sequence[Area], own: Array, *parts: Array) -> Array:
    """An array with those of parts in their areas."""
    by_pe, found = own.ndim == len(areas[0]), own.copy()
    if not by_pe:
        found = np.zeros((*own.shape[:-1], max(part.shape[-1] for part in parts)), dtype=np.int64)
    for area, part in zip(areas, parts, strict=True):
        found[area if by_pe else (*area, slice(None), slice(part.shape[-1]))] = part
    return found


@dataclass(frozen=True)
class Part:
    """A phase with what it costs; at `begun[x, y]` the code of a PE, `depth[x, y]` calls deep,
    calls its first function, and its routers that were torn down are open. A PE that is `quick`
    does not wait for the control wavelet that it sends last; what `restores` changes the sign of
    the result. The two tasks between operations (`Ends`) take the cycles `dispatch` to find out
    whose they are; their code begins so many cycles `late`, these included. What only sends may
    `stall` when it has begun; `depth` is by as much larger. Beside an exchange PEs run code of
    `others`, if that is known (`collc.cost.stretches`). One that `ends_torn_down` waits for that,
    and for no control wavelet."""

    phase: Phase
    costs: Costs
    begun: Times
    depth: Times
    torn_down: bool
    quick: bool
    restores: bool
    late: tuple[Times, Times]
    dispatch: tuple[Times, Times]
    stall: Stall
    others: Times | None = None
    ends_torn_down: bool = False

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What is said by PE, but for `dispatch`."""
        others = () if self.others is None else (self.others,)
        stall = self.stall.behind, self.stall.cycles
        return (self.begun, self.depth, *self.late, *stall, *others)

    def with_arrays(self, arrays: Iterable[Array]) -> Part:
        """The same with other arrays."""
        begun, depth, stored, sent, behind, cycles, *others = arrays
        return replace(
            self,
            begun=begun,
            depth=depth,
            late=(stored, sent),
            stall=Stall(behind, cycles),
            others=others[0] if others else None,
        )


def areas_of(grid: Grid) -> Iterator[tuple[slice, slice]]:
    """The parts of the whole grid that a grid stands for."""
    site = grid.site
    if site is None:
        yield slice(None), slice(None)
        return
    for copy in range(site.copies):
        x = site.x + (copy if site.lines is Lines.COLUMN else 0)
        y = site.y + (copy if site.lines is Lines.ROW else 0)
        yield slice(x, x + grid.width), slice(y, y + grid.height)


def parts_of(grid: Grid, of: Array) -> Iterator[Array]:
    """The same parts of an array [x, y], as views."""
    return (of[area] for area in areas_of(grid))


def idle(part: Part) -> Ends:
    """PEs without a part run through it; no router has been used."""
    costs, code = part.costs, part.costs.code
    through = code.ends + part.depth - code.returns + code.frame + costs.between
    over = part.begun + through + costs.task - costs.dispatch
    colors = {use.color for role in part.phase.roles for use in role.colors}
    return Ends(
        over,
        np.ones(over.shape, dtype=np.bool_),
        {color: part.begun.copy() for color in sorted(colors)},
        (np.full_like(part.begun, -1), np.full_like(part.begun, -1)),
        np.zeros_like(part.begun),
        no_stretch(part.begun),
        no_stretch(part.begun),
    )


def ended_by_control(part: Part, issued: int) -> tuple[int, bool]:
    """The same where a control wavelet that is issued in this cycle is the last of a part."""
    if part.quick:
        return issued + part.costs.code.control_sent, False
    if part.ends_torn_down:
        return issued + part.costs.code.control_sent + part.costs.between, True
    moves = issued + part.costs.code.returns
    return part.costs.after(moves, moves).time, True


def control_leaves(part: Part, issued: int) -> int:
    """When the control wavelet of a tree that is issued in a cycle is in its router: it goes at
    once if nobody waits for it, else behind the task."""
    costs = part.costs
    at_once = part.quick or part.ends_torn_down
    return issued + (1 if at_once else costs.code.returns) + costs.send_start + costs.ramp_up


def by_control(part: Part) -> Times:
    """By PE, the cycles of the task that sends the control wavelet with which a part ends."""
    code = part.costs.code
    return part.dispatch[1] + code.control + part.costs.control_load + code.control_sent
