"""Programs on few PEs by the clock: most of their cycles are start-up.

The fewest that they take beyond the model of trees is what every emitted program takes at least:
more PEs only add code, and words that wait for each other. In a star the root's code is over
before the words of all others have come. First tasks are taken to begin at once, since with more
PEs a launch that follows the reset is over before it counts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import product

from collc.base.diagnostics import Span
from collc.base.grids import Grid
from collc.base.values import dataclass
from collc.cost.clocked import clocked
from collc.lowering import alternatives_of, planned_by
from collc.plan.one_call import of_one_call
from collc.schedule import build_schedule
from collc.spec import BroadcastStep, Collective, Contract, Limits, Order, ReduceStep, Tree
from collc.target import Target

_FEW = 2  # elements of vectors
_STARS = (2, 16)  # PEs of a row; with more the root's code is over no sooner
_NOWHERE = Span("", 1, 1, 1, 1)


@dataclass(frozen=True)
class Parts:
    """How many reductions follow each other, each along all lines of an axis, and how many
    multicasts follow them."""

    reductions: int
    multicasts: int


@dataclass(frozen=True)
class Few:
    """The ranks of the lines of each reduction, and the cycles that all takes."""

    ranks: tuple[int, ...]
    cycles: int


def of_few(contract: Contract, parts: Parts, target: Target) -> tuple[Contract, tuple[Few, ...]]:
    """A contract about vectors of few elements, and how few PEs keep it by such parts."""
    length, name = min(contract.length, _FEW), "x" if contract.buffer else ""
    few = Contract(contract.kind, name, contract.element, length, contract.operation, _NOWHERE)
    return few, _stars(few, parts, target)


@lru_cache(maxsize=64)
def _stars(contract: Contract, parts: Parts, target: Target) -> tuple[Few, ...]:
    ranks = [(2, row)[-parts.reductions :] for row in _STARS]
    return tuple(Few(one, _cycles(contract, one, parts, target)) for one in ranks)


def _cycles(contract: Contract, ranks: tuple[int, ...], parts: Parts, target: Target) -> int:
    """The cycles of stars along one axis behind the other."""
    free = replace(target, cycles=target.cycles.behind_others)
    orders = (Order.NORTH_TO_SOUTH, Order.WEST_TO_EAST)[-parts.reductions :]
    steps: tuple[ReduceStep | BroadcastStep, ...] = tuple(
        ReduceStep(order, _star(count), _NOWHERE)
        for order, count in zip(orders, ranks, strict=True)
    )
    steps += (BroadcastStep(0, 0, _NOWHERE),) * parts.multicasts
    *columns, width = ranks
    height = columns[0] if columns else 1
    grid = Grid("few", width, height, _NOWHERE)
    few = Collective("few", contract, grid, steps, Limits(None, None), (), _NOWHERE)
    schedule = build_schedule(few)
    plans = (
        planned_by(chosen, schedule, free, alone=True)
        for chosen in product(*alternatives_of(schedule, free))
    )
    return min(clocked(of_one_call(plan)).cycles for plan in plans)


def _star(ranks: int) -> Tree:
    return Tree("star", (tuple(range(1, ranks)), *((),) * (ranks - 1)), _NOWHERE)
