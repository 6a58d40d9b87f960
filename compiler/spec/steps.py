"""How a collective is carried out: trees, multicasts, algorithms along lines."""

from __future__ import annotations

from enum import Enum

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.spec.exchange import Moves


class Order(Enum):
    """How ranks are laid along a line: rank 0 is at the side named first."""

    WEST_TO_EAST = "west_to_east"
    EAST_TO_WEST = "east_to_west"
    NORTH_TO_SOUTH = "north_to_south"
    SOUTH_TO_NORTH = "south_to_north"


@dataclass(frozen=True)
class Tree:
    """A tree of ranks: `children[r]` lists r's children in order of receipt; the root is rank 0.

    `text` is how the source names it (`two_phase(S = 4)`). The language has checked that every
    rank 0..n-1 occurs exactly once and that the numbering is pre-order. Of a tree that the
    compiler is to choose, `candidates` are those it chooses from, this one among them.
    """

    text: str
    children: tuple[tuple[int, ...], ...]
    span: Span
    candidates: tuple[Tree, ...] = ()


@dataclass(frozen=True)
class ReduceStep:
    """Reduce every line of one axis to one rank by a tree, or by two that meet there.

    On a W x 1 or 1 x H grid there is one line. On a wider grid "columns" reduces every column,
    and "row" the one row that holds the results of the columns before. Ranks run in `order`.
    `tree` is that of the root's own side, the root included; if the root is within the line, that
    is the smaller side, of two equal ones that of the lower ranks, and `far` is the tree of the
    other side, without the root, whose own root comes next to it.

    Where it `skips`, `tree` is that of all ranks but the root; it leads to the end of the line that
    is nearer to the root, which sends the sum on to it.
    """

    order: Order
    tree: Tree
    span: Span
    root: int = 0
    far: Tree | None = None
    skips: bool = False


@dataclass(frozen=True)
class BroadcastStep:
    """Multicast from PE (x, y) to the whole grid."""

    x: int
    y: int
    span: Span


@dataclass(frozen=True, eq=False)
class Algorithm:
    """An algorithm on a line of `ranks` ranks whose vectors are cut into `slices` slices.

    `text` is how the source names it (`butterfly(G = 3)`). The language has checked that ranks and
    slices exist and that no rank sends to itself; no step is empty.
    """

    text: str
    ranks: int
    slices: int
    steps: tuple[Moves, ...]
    span: Span

    @property
    def combines(self) -> bool:
        """Whether any transfer combines what it brings with what is there."""
        return any(bool(moves.combines.any()) for moves in self.steps)


class Share(Enum):
    """What part of the vector an algorithm works on along a line of a grid."""

    VECTOR = "vector"
    OWN_BLOCK = "own_block"  # every line has a block of the vector
    EVERY_BLOCK = "every_block"  # the same in all blocks


@dataclass(frozen=True)
class RunStep:
    """An algorithm run along lines of one axis, "x" or "y".

    `order` is a word of the language, `places[r]` is where it puts rank r on a line. `lines` are
    the coordinates, on the other axis, of the first and the last line. If it is `wide`, an
    instruction takes two wavelets of the fabric. If it works on a `share` of the vector,
    `across[b]` is the coordinate of the line whose block is b; where the contract is not about
    slices, a block is the slice that a rank of the lines across has.
    """

    axis: str
    order: str
    places: tuple[int, ...]
    lines: tuple[int, int]
    algorithm: Algorithm
    span: Span
    wide: bool = False
    share: Share = Share.VECTOR
    across: tuple[int, ...] = ()


Step = ReduceStep | BroadcastStep | RunStep


# a tree over all ranks but the root, whose sum comes to it from the nearer end
ROOT_BYPASS = "root_bypass"


def axis_of(order: Order) -> str:
    """The coordinate that grows or falls along an order: "x" along a row, "y" along a column."""
    return "x" if order in (Order.WEST_TO_EAST, Order.EAST_TO_WEST) else "y"


def ascending(order: Order) -> bool:
    """Whether ranks grow with the coordinate."""
    return order in (Order.WEST_TO_EAST, Order.NORTH_TO_SOUTH)
