"""Trees as values: what `leaf`, `join` and a tree written by hand make, and their ranks.

A shape may share its parts (`join(t, t)` holds t once), so it can stand for more ranks than
memory would hold; its size is known before anything is written out.
"""

from __future__ import annotations

from collections.abc import Iterator

from collc.base.values import dataclass
from collc.language.problems import ProblemError, problem
from collc.language.syntax import Literal, Node

Children = tuple[tuple[int, ...], ...]
"""`children[r]` lists the ranks that r receives from, in order of receipt."""


@dataclass(frozen=True, eq=False)
class Given:
    """A tree whose children are written out; a leaf is `Given(((),))`."""

    children: Children

    @property
    def size(self) -> int:
        """How many ranks it has."""
        return len(self.children)


@dataclass(frozen=True, eq=False)
class Joined:
    """`join(first, second)`: second's ranks behind first's, its root under first's root."""

    first: Shape
    second: Shape
    size: int


Shape = Given | Joined

LEAF = Given(((),))


def join(first: Shape, second: Shape) -> Joined:
    """Tree that receives second's result after all that first's root receives."""
    return Joined(first, second, first.size + second.size)


def children_of(shape: Shape) -> Children:
    """Children of every rank of a shape."""
    children: list[list[int]] = [[] for _ in range(shape.size)]
    # Entries are (shape, its first rank); a number instead of a shape is a child to append.
    pending: list[tuple[Shape | int, int]] = [(shape, 0)]
    while pending:
        here, base = pending.pop()
        match here:
            case int():
                children[base].append(here)
            case Given():
                for rank, below in enumerate(here.children):
                    children[base + rank].extend(base + child for child in below)
            case Joined(first=first, second=second):
                root = base + first.size
                pending += [(root, base), (second, root), (first, base)]
    return tuple(map(tuple, children))


def check_literal(literal: Literal, most: int) -> Iterator[ProblemError]:
    """Yield what is wrong with a tree written by hand, when no line has more than `most` PEs."""
    if literal.root.rank != 0:
        message = f"the root of a tree is rank 0, not rank {literal.root.rank}"
        help = "number the ranks from the root outwards: rank 0 ends with the result"
        yield problem("C137", message, literal.root.span, help=help)
    nodes = _preorder(literal.root)
    seen: dict[int, Node] = {}
    for node in nodes:
        if node.rank >= most:
            message = f"rank {node.rank} is out of range: the longest line has {most} PEs"
            yield problem("C135", message, node.span, help=f"ranks are 0 to {most - 1}")
        if node.rank in seen:
            first = (seen[node.rank].span, "it stands here already")
            message = f"rank {node.rank} is in this tree twice"
            help = "every rank sends its vector exactly once"
            yield problem("C134", message, node.span, first, help=help)
        seen.setdefault(node.rank, node)
    if literal.root.rank == 0 and len(seen) == len(nodes) and max(seen) < most:
        yield from _check_numbering(literal, nodes, seen)


def literal_shape(literal: Literal) -> Given:
    """Shape of a tree written by hand that `check_literal` has nothing against."""
    nodes = sorted(_preorder(literal.root), key=lambda node: node.rank)
    return Given(tuple(tuple(child.rank for child in node.children) for node in nodes))


def _check_numbering(
    literal: Literal, nodes: list[Node], seen: dict[int, Node]
) -> Iterator[ProblemError]:
    missing = next((rank for rank in range(max(seen)) if rank not in seen), None)
    if missing is not None:
        highest = (seen[max(seen)].span, f"rank {max(seen)} stands here")
        message = f"rank {missing} is missing from this tree"
        help = "a tree has all ranks from 0 to its highest"
        yield problem("C133", message, literal.span, highest, help=help)
        return
    early = next((node for rank, node in enumerate(nodes) if node.rank != rank), None)
    if early is None:
        return
    late = nodes.index(early)
    help = (
        "vectors only travel towards the root, so children stand in rank order and each subtree is "
        "contiguous: read from left to right, the ranks are 0, 1, 2, ..."
    )
    message = f"rank {early.rank} is received before rank {late}"
    yield problem("C136", message, early.span, (seen[late].span, f"rank {late} is here"), help=help)


def _preorder(root: Node) -> list[Node]:
    """Nodes in the order of the source."""
    nodes, pending = [], [root]
    while pending:
        node = pending.pop()
        nodes.append(node)
        pending.extend(reversed(node.children))
    return nodes
