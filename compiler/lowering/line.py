"""Facts about a pre-order tree laid along a line, root rank 0, data flowing towards rank 0.

The near side of a router is the one towards rank 0, the far side the other. In a pre-order tree a
vector going to rank a from a later child passes exactly the routers of a's earlier subtrees, so
what passes a router is known from the ranks around it.
"""

from functools import lru_cache

from collc.base.values import dataclass

Children = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LineTree:
    """A tree with its parents and depths."""

    children: Children
    parent: tuple[int | None, ...]
    depth: tuple[int, ...]

    def is_last_child(self, rank: int) -> bool:
        """Whether nothing arrives at the parent of `rank` after its vector."""
        parent = self.parent[rank]
        return parent is not None and self.children[parent][-1] == rank


@lru_cache(maxsize=16)
def line_tree(children: Children) -> LineTree:
    """Derive parents and depths of a tree in pre-order."""
    parent: list[int | None] = [None] * len(children)
    depth = [0] * len(children)
    for rank, sources in enumerate(children):
        for child in sources:
            parent[child], depth[child] = rank, depth[rank] + 1
    return LineTree(children, tuple(parent), tuple(depth))


def passing_colors(tree: LineTree, received_on: tuple[int, ...]) -> tuple[frozenset[int], ...]:
    """For each router, the colors of the vectors that pass it.

    A vector from a rank to its parent has the parent's color in `received_on` and passes the
    routers strictly between them.
    """
    changes: list[list[tuple[int, int]]] = [[] for _ in range(len(tree.parent) + 1)]
    for rank, above in enumerate(tree.parent):
        if above is not None and rank - above > 1:
            changes[above + 1].append((received_on[above], 1))
            changes[rank].append((received_on[above], -1))
    counts = dict.fromkeys(received_on, 0)
    found: list[frozenset[int]] = []
    for here in changes[:-1]:
        for color, change in here:
            counts[color] += change
        same = found and not here
        found.append(
            found[-1] if same else frozenset(color for color, n in counts.items() if n > 0)
        )
    return tuple(found)
