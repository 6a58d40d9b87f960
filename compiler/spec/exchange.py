"""A phase made of steps: in each, ranks of a line exchange slices of their vectors.

A vector of `length` elements is cut into `count` slices as evenly as integers allow; a slice may be
empty. In a step every transfer reads what its source held when the step began, so the transfers of
a step do not depend on each other; several that combine into one slice do so in the order given.
A rank goes on to its next step when its own transfers of this one are done.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from collc.base.columns import Bools, Columns, Ints, repeated_rows
from collc.base.diagnostics import Span
from collc.base.values import dataclass

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Slicing:
    """A vector of `length` elements in `count` slices; slice i is elements bound(i) to
    bound(i + 1) - 1. Elements that stay together, so many as the `grain`, are cut as one. If it is
    `dynamic`, the length is given when the program runs, and `length` is the most that it is."""

    count: int
    length: int
    grain: int = 1
    dynamic: bool = False

    def bound(self, index: int) -> int:
        """The first element of slice `index`; `bound(count)` is the length."""
        return index * (self.length // self.grain) // self.count * self.grain

    @property
    def bounds(self) -> Ints:
        """Where every slice begins, and last the length."""
        index = np.arange(self.count + 1, dtype=np.int64)
        return index * (self.length // self.grain) // self.count * self.grain

    @property
    def even(self) -> bool:
        """Whether all slices have the same length."""
        return self.length % (self.count * self.grain) == 0

    def size(self, first: int, count: int = 1) -> int:
        """Elements in `count` slices from `first` on."""
        return self.bound(first + count) - self.bound(first)


@dataclass(frozen=True)
class Blocks:
    """A vector of `length` elements cut into one block for each of several parallel lines, as
    evenly as integers allow; the line at coordinate `lines[b]` works on block b.

    Lines work on as many elements as the longest block has. Where a block has one less, that is
    the first element of the next block as well, which nobody there has a use for yet, or any more.
    """

    length: int
    lines: tuple[int, ...]

    @property
    def longest(self) -> int:
        """How many elements each line works on."""
        return -(-self.length // len(self.lines))

    def first(self, block: int) -> int:
        """The first element of a block."""
        return block * self.length // len(self.lines)

    def first_of_line(self, coordinate: int) -> int:
        """The first element that a line works on."""
        return self.first(self.lines.index(coordinate))


@dataclass(frozen=True, eq=False)
class Moves(Columns):
    """The transfers of one step, in order, as arrays of equal length.

    Transfer i takes `count[i]` slices from `slice[i]` on of rank `source[i]` to the slices from
    `into[i]` on of rank `destination[i]`; where `combines[i]` they are combined there, else they
    overwrite. The slices of one transfer do not wrap around. `into` differs from `slice` only in
    a copy.
    """

    source: Ranks
    destination: Ranks
    slice: Ranks
    into: Ranks
    count: Ranks
    combines: Bools

    def by_slice(self) -> Moves:
        """The same transfers with one slice in each."""
        row, within = repeated_rows(self.count)
        return self.chosen(row)._shifted(within.astype(np.int32), np.ones(len(row), np.int32))

    def in_every_block(self, blocks: int, slices: int) -> Moves:
        """The same transfers in each of so many blocks of so many slices, block by block."""
        shift = np.repeat(np.arange(blocks, dtype=np.int32) * slices, len(self))
        each = self.chosen(np.tile(np.arange(len(self)), blocks))
        return each._shifted(shift, each.count)

    def _shifted(self, shift: Ranks, count: Ranks) -> Moves:
        """Slices so far behind those of the transfers, and so many."""
        return replace(self, slice=self.slice + shift, into=self.into + shift, count=count)


_NONE = np.zeros(0, np.int32)
NO_MOVES = Moves(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE.astype(np.bool_))


@dataclass(frozen=True, eq=False)
class StepsPhase:
    """Steps along every line of one axis.

    `places[r]` is where rank r stands on its line, 0 being the west or north end; every place
    0..ranks - 1 occurs once; `order` is the word for that. `lines` are the coordinates, on the
    other axis, of the first and the last of the parallel lines. `algorithm` is how the source names
    it (`butterfly(G = 3)`). In a barrier vectors have no elements, and every transfer is a token.
    With `blocks` every line works on its block of the vector; `slicing` is that of a block.
    If it is `wide`, an instruction takes two wavelets of the fabric.
    """

    name: str
    axis: str
    places: tuple[int, ...]
    lines: tuple[int, int]
    slicing: Slicing
    steps: tuple[Moves, ...]
    algorithm: str
    order: str
    span: Span
    blocks: Blocks | None = None
    wide: bool = False

    @property
    def ranks(self) -> int:
        """How many ranks a line has."""
        return len(self.places)

    @property
    def combines(self) -> bool:
        """Whether any transfer combines what it brings with what is there."""
        return any(bool(moves.combines.any()) for moves in self.steps)

    @property
    def coordinates(self) -> range:
        """Where its places are on the axis."""
        return range(self.ranks)

    @property
    def stretch(self) -> tuple[int, int]:
        """The lowest and the highest coordinate of its PEs on the axis."""
        return min(self.places), max(self.places)
