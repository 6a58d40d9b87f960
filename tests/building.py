"""Specs built directly, for tests that begin behind the language."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from collc.base.diagnostics import Span
from collc.base.grids import Grid
from collc.spec import (
    BroadcastStep,
    Collective,
    Contract,
    ContractKind,
    ElementType,
    Limits,
    Operation,
    Order,
    ReduceStep,
    Tree,
)

HERE = Span("test.coll", 1, 1, 1, 2)
Children = tuple[tuple[int, ...], ...]


def frozen(children: Sequence[Sequence[int]]) -> Children:
    return tuple(tuple(sources) for sources in children)


def chain(ranks: int) -> Children:
    return frozen([[rank + 1] if rank + 1 < ranks else [] for rank in range(ranks)])


def star(ranks: int) -> Children:
    return frozen([list(range(1, ranks)), *([] for _ in range(ranks - 1))])


def binomial(ranks: int) -> Children:
    children: list[list[int]] = [[] for _ in range(ranks)]
    for rank in range(1, ranks):
        children[rank & (rank - 1)].append(rank)
    return frozen(children)


def two_phase(ranks: int, group: int) -> Children:
    """Chains in groups cut from the far end, then a chain over the groups' leaders."""
    leaders = sorted({0, *range(ranks - group, 0, -group)})
    children = [[rank + 1] if rank + 1 not in {*leaders, ranks} else [] for rank in range(ranks)]
    for near, far in pairwise(leaders):
        children[near].append(far)
    return frozen(children)


def random_tree(ranks: int, seed: int) -> Children:
    """Each rank hangs below the previous one or one of its ancestors: any pre-order tree."""
    pick = random.Random(seed)
    children: list[list[int]] = [[] for _ in range(ranks)]
    path = [0]
    for rank in range(1, ranks):
        path = path[: pick.randint(1, len(path))]
        children[path[-1]].append(rank)
        path.append(rank)
    return frozen(children)


def reduce_step(
    children: Children, order: Order = Order.WEST_TO_EAST, text: str = "tree"
) -> ReduceStep:
    return ReduceStep(order, Tree(text, children, HERE), HERE)


def collective(
    width: int,
    height: int,
    steps: Sequence[ReduceStep | BroadcastStep],
    kind: ContractKind = ContractKind.REDUCE,
    length: int = 16,
    element: ElementType = ElementType.F32,
    operation: Operation | None = Operation.ADD,
    colors: int | None = None,
) -> Collective:
    return Collective(
        name="total",
        contract=Contract(kind, "x", element, length, operation, HERE),
        grid=Grid("grid", width, height, HERE),
        steps=tuple(steps),
        limits=Limits(colors, None if colors is None else HERE),
        expectations=(),
        span=HERE,
    )


def line_reduce(children: Children, length: int = 16, colors: int | None = None) -> Collective:
    """A reduce along one row."""
    return collective(len(children), 1, [reduce_step(children)], length=length, colors=colors)


def line_allreduce(children: Children, length: int = 16) -> Collective:
    """A reduce along one row, then a broadcast from its west end."""
    steps = [reduce_step(children), BroadcastStep(0, 0, HERE)]
    return collective(len(children), 1, steps, ContractKind.ALLREDUCE, length)


def grid_allreduce(rows: Children, columns: Children, length: int = 16) -> Collective:
    """Columns to their north end, that row to its west end, then a broadcast."""
    steps = [
        reduce_step(columns, Order.NORTH_TO_SOUTH),
        reduce_step(rows, Order.WEST_TO_EAST),
        BroadcastStep(0, 0, HERE),
    ]
    return collective(len(rows), len(columns), steps, ContractKind.ALLREDUCE, length)


def broadcast(width: int, height: int, x: int, y: int, length: int = 16) -> Collective:
    """A broadcast from PE (x, y)."""
    step = BroadcastStep(x, y, HERE)
    return collective(width, height, [step], ContractKind.BROADCAST, length, operation=None)
