"""One color per edge where edges meet: no router ever changes, at the price of more colors.

The edge from a rank to its parent occupies the routers from one to the other. Two edges that share
a router have different routes at one of them, so they need different colors; edges that share none
may have the same. Edges are intervals, and a sweep from rank 0 that takes the lowest free color
needs no more colors than the busiest router has edges, which is the least possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from collc.lowering.line import Behaviour, line_tree, sides
from collc.lowering.rounds import rounds_for
from collc.plan import Advance, ColorUse, Direction, Route, SendVector, Step, StoreVectors
from collc.schedule import ReducePhase


def static(phase: ReducePhase, length: int, max_extent: int) -> tuple[Behaviour, ...]:
    """What each rank of the line does; `length` is the vector's, in elements."""
    tree = line_tree(phase.children)
    edge_colors = color_edges(tree.parent)
    names = {rank: f"{phase.name}_{color}" for rank, color in edge_colors.items()}
    routes = _routes(tree.parent, names, sides(phase))
    return tuple(
        Behaviour(
            steps=tuple(_steps(phase.children[rank], names, rank, length, max_extent)),
            colors=tuple(ColorUse(name, (routes[rank][name],)) for name in sorted(routes[rank])),
            relays=any(tree.passes[rank]),
        )
        for rank in range(phase.ranks)
    )


def color_edges(parent: tuple[int | None, ...]) -> dict[int, int]:
    """The color of the edge from each rank to its parent; edges that share a router differ.

    A color is free again behind the far end of its edge. Edges are taken by near end; of those
    that begin together the shorter first.
    """
    edges = sorted((above, rank) for rank, above in enumerate(parent) if above is not None)
    ends: list[int] = []
    colors: dict[int, int] = {}
    for near, far in edges:
        free = [color for color, end in enumerate(ends) if end < near]
        color = free[0] if free else len(ends)
        ends[color : color + 1] = [far]
        colors[far] = color
    return colors


def _routes(
    parent: tuple[int | None, ...], names: dict[int, str], near_far: tuple[Direction, Direction]
) -> list[dict[str, Route]]:
    """For each router the one route of each color that touches it."""
    near, far = near_far
    routes: list[dict[str, Route]] = [{} for _ in parent]
    for rank, above in enumerate(parent):
        if above is None:
            continue
        routes[rank][names[rank]] = Route(Direction.RAMP, (near,))
        routes[above][names[rank]] = Route(far, (Direction.RAMP,))
        for router in range(above + 1, rank):
            routes[router][names[rank]] = Route(far, (near,))
    return routes


def _steps(
    children: tuple[int, ...], names: dict[int, str], rank: int, length: int, max_extent: int
) -> Iterator[Step]:
    """Stores by runs of one color in order of receipt, the last child added while sending."""
    sends = rank in names
    stored = children[:-1] if sends else children
    for color, run in groupby(names[child] for child in stored):
        vectors = len(list(run))
        yield StoreVectors(color, vectors, rounds_for(vectors, length, max_extent))
    if sends:
        yield SendVector(names[rank], names[children[-1]] if children else None, Advance.NOTHING)
