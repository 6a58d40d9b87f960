"""Facts about a pre-order tree laid along a line, root rank 0, data flowing towards rank 0.

The near side of a router is the one towards rank 0, the far side the other. In a pre-order tree a
vector going to rank a from a later child passes exactly the routers of a's earlier subtrees, so
what passes a router is known from the ranks around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from collc.plan import ColorUse, Direction, Step
from collc.placement import SIDES
from collc.schedule import ReducePhase

Children = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Behaviour:
    """What one rank does: its steps and its color settings. Ranks that do the same share a role."""

    steps: tuple[Step, ...]
    colors: tuple[ColorUse, ...]
    relays: bool


@dataclass(frozen=True)
class LineTree:
    """A tree with its parents, depths and what passes by: `passes[rank][parity]` tells whether
    vectors for ranks of that parity of depth pass the router of `rank`.
    """

    children: Children
    parent: tuple[int | None, ...]
    depth: tuple[int, ...]
    passes: tuple[tuple[bool, bool], ...]

    def is_last_child(self, rank: int) -> bool:
        """Whether nothing arrives at the parent of `rank` after its vector."""
        parent = self.parent[rank]
        return parent is not None and self.children[parent][-1] == rank


def sides(phase: ReducePhase) -> tuple[Direction, Direction]:
    """The near and the far side of the routers of a phase."""
    return SIDES[phase.order]


@lru_cache(maxsize=64)
def line_tree(children: Children) -> LineTree:
    """Derive parents, depths and passing vectors, in time linear in the ranks."""
    parent: list[int | None] = [None] * len(children)
    depth = [0] * len(children)
    for rank, sources in enumerate(children):
        for child in sources:
            parent[child], depth[child] = rank, depth[rank] + 1
    return LineTree(children, tuple(parent), tuple(depth), _passes(parent, depth))


def _passes(parent: list[int | None], depth: list[int]) -> tuple[tuple[bool, bool], ...]:
    """For each router, whether vectors for even and for odd ranks pass it."""
    changes = [[0, 0] for _ in range(len(parent) + 1)]
    for rank, above in enumerate(parent):
        if above is not None:
            changes[above + 1][depth[above] % 2] += 1
            changes[rank][depth[above] % 2] -= 1
    passing, found = [0, 0], []
    for even, odd in changes[:-1]:
        passing = [passing[0] + even, passing[1] + odd]
        found.append((passing[0] > 0, passing[1] > 0))
    return tuple(found)
