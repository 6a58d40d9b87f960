"""What is asked of a phase of a program, and what is found: by PE, when its part is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from collc.base.grids import Grid, Lines
from collc.cost.arrivals import never
from collc.cost.operations import Costs
from collc.cost.predict import Mask, Times
from collc.cost.processor import Stall
from collc.cost.stretches import TIMES
from collc.plan import Phase


@dataclass
class Ends:
    """By PE: when its part is over, and whether a task is told of it; by symbolic color, from when
    on its router is torn down. `due` are two tasks between operations, behind storing and behind
    sending: when they are, -1 if there are none; the first is `long` by so many cycles. `comes`
    are stretches in which elements come (`collc.cost.arrivals`), and `code` those of an exchange's
    tasks (`collc.cost.stretches`)."""

    over: Times
    by_task: Mask
    torn: dict[str, Times]
    due: tuple[Times, Times]
    long: Times
    comes: Times
    code: Times


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


def parts_of(grid: Grid, of: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """The parts of an array [x, y] over the whole grid that a grid stands for, as views."""
    site = grid.site
    if site is None:
        yield of
        return
    for copy in range(site.copies):
        x = site.x + (copy if site.lines is Lines.COLUMN else 0)
        y = site.y + (copy if site.lines is Lines.ROW else 0)
        yield of[x : x + grid.width, y : y + grid.height]


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
        never(part.begun.shape),
        no_code(part.begun),
    )


def no_code(like: Times) -> Times:
    """That no PE runs any."""
    return np.zeros((*like.shape, TIMES, 0), dtype=np.int64)


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
    """What the task takes that sends the control wavelet that ends a part."""
    code = part.costs.code
    return part.dispatch[1] + code.control + part.costs.control_load + code.control_sent
