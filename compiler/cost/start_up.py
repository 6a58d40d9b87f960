"""Programs on few PEs by the clock: most of their cycles are start-up.

The fewest that they take beyond a model is what every emitted program takes at least: more PEs only
add code, and words that wait for each other. First tasks are taken to begin at once, since with
more PEs a launch that follows the reset is over before it counts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import product

from collc.base.diagnostics import Span
from collc.base.grids import Grid
from collc.cost.clocked import clocked_once
from collc.lowering import alternatives_of, planned_by
from collc.schedule import build_schedule
from collc.spec import (
    BroadcastStep,
    Collective,
    Contract,
    ContractKind,
    Limits,
    Order,
    ReduceStep,
    Tree,
)
from collc.target import Target

Children = tuple[tuple[int, ...], ...]  # of each rank of a tree
_NOWHERE = Span("", 1, 1, 1, 1)


def of_few_elements(contract: Contract, most: int, kind: ContractKind | None = None) -> Contract:
    """A contract, or one of another kind, about vectors of so many elements at most."""
    length, name = min(contract.length, most), "x" if contract.buffer else ""
    kind = kind or contract.kind
    return Contract(kind, name, contract.element, length, contract.operation, _NOWHERE)


@lru_cache(maxsize=256)
def cycles_of_few(
    contract: Contract, trees: tuple[Children, ...], multicasts: int, target: Target
) -> int:
    """The cycles of reductions by trees, one or two of them, each along all lines of an axis of a
    grid with as many PEs as it has ranks, and of so many multicasts behind them."""
    free = replace(target, cycles=target.cycles.behind_others)
    orders = (Order.NORTH_TO_SOUTH, Order.WEST_TO_EAST)[-len(trees) :]
    steps: tuple[ReduceStep | BroadcastStep, ...] = tuple(
        ReduceStep(order, Tree("few", children, _NOWHERE), _NOWHERE)
        for order, children in zip(orders, trees, strict=True)
    )
    steps += (BroadcastStep(0, 0, _NOWHERE),) * multicasts
    *columns, width = map(len, trees)
    grid = Grid("few", width, columns[0] if columns else 1, _NOWHERE)
    few = Collective("few", contract, grid, steps, Limits(None, None), (), _NOWHERE)
    schedule = build_schedule(few)
    plans = (
        planned_by(chosen, schedule, free, alone=True)
        for chosen in product(*alternatives_of(schedule, free))
    )
    return min(clocked_once(plan).cycles for plan in plans)
