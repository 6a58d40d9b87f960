"""Symbolic contributions on a line: what every place holds, element range by element range.

A vector is cut into segments, so finely that every slice of every phase is a whole number of them.
At a place, a segment has the set of ranks whose contributions are in it, the segment it was at
first, and a flaw if contributions were combined that cannot be told apart afterwards. Where their
order matters it is a run of ranks, and what does not go on behind its last one is a flaw. Sets
are bits of 64-bit words, so that a step moves all its slices by a few array operations. Where
rounding matters a segment has a mark, too, which tells in which groups it was combined.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from collc.base.columns import Bools, Ints, Words, repeated_rows
from collc.base.values import dataclass
from collc.spec.exchange import Moves, Slicing, StepsPhase

# flaws, the worst last: what nobody had before or nobody kept, contributions out of rank order, one
# counted twice, two segments combined
NOTHING, UNORDERED, TWICE, MIXED = 1, 2, 3, 4


@dataclass(frozen=True, eq=False)
class Cut:
    """Segments of a vector: segment i is elements bounds[i] to bounds[i + 1] - 1.

    A vector without elements, as a barrier has, is one segment.
    """

    bounds: Ints

    @property
    def count(self) -> int:
        """How many segments there are."""
        return max(len(self.bounds) - 1, 1)

    def of_slices(self, slicing: Slicing) -> Ints:
        """The first segment of every slice, and one behind the last; a token is all there is."""
        if slicing.length == 0:
            return np.zeros(slicing.count + 1, np.int64)
        return np.searchsorted(self.bounds, slicing.bounds)


def cut_for(length: int, slicings: Iterable[Slicing], finest: bool) -> Cut:
    """Segments for the slices of several phases; `finest` makes every element one."""
    if length == 0:
        return Cut(np.zeros(1, np.int64))
    if finest:
        return Cut(np.arange(length + 1, dtype=np.int64))
    bounds = [np.array([0, length], np.int64)]
    for slicing in slicings:
        bounds.append(slicing.bounds)
    return Cut(np.unique(np.concatenate(bounds)))


@dataclass(frozen=True, eq=False)
class Carried:
    """The transfers of a step segment by segment: places and segments of both ends."""

    source: Ints
    taken: Ints
    destination: Ints
    into: Ints
    combines: Bools


@dataclass(frozen=True)
class Block:
    """The segments first to last - 1, followed by themselves."""

    first: int
    last: int


def carried(phase: StepsPhase, moves: Moves, starts: Ints, block: Block) -> Carried:
    """What a step carries of the segments of a block, in the order of its transfers.

    `starts` is the first segment of every slice.
    """
    places = np.array(phase.places, dtype=np.int64)
    first, last = starts[moves.slice], starts[moves.slice + moves.count]
    shift = starts[moves.into] - first
    if phase.slicing.length == 0:
        last = first + 1
    first, last = np.maximum(first, block.first), np.minimum(last, block.last)
    counts = np.maximum(last - first, 0)
    row, within = repeated_rows(counts)
    taken = first[row] + within - block.first
    return Carried(
        source=places[moves.source[row]],
        taken=taken,
        destination=places[moves.destination[row]],
        into=taken + shift[row],
        combines=moves.combines[row],
    )


class Contributions:
    """What the places of a line hold of the segments of a block.

    `ranks`, the rank at each place, is given where contributions have to be in the order of ranks;
    `groups` says that it matters which are combined first.
    """

    def __init__(
        self,
        places: int,
        block: Block,
        tokens: bool,
        ranks: Ints | None = None,
        groups: bool = False,
    ) -> None:
        segments = block.last - block.first
        words = (places + 63) // 64
        self.block = block
        self.who: Words = np.zeros((places, segments, words), np.uint64)
        for place in range(places):
            self.who[place] = one_of(place, words)
        self.origin = np.tile(np.arange(block.first, block.last, dtype=np.int32), (places, 1))
        self.flaw = np.zeros((places, segments), np.int8)
        self._tokens = tokens
        self._ordered = ranks is not None
        # the first and the last rank of a run; without order nobody looks at it
        self.run = np.zeros((places, segments if self._ordered else 0, 2), np.int64)
        if ranks is not None:
            self.run[:] = ranks[:, None, None]
        # equal where the same contributions were combined in the same groups, on either side
        self.mark: Words = np.zeros((places, segments if groups else 0), np.uint64)
        if groups:
            self.mark[:] = _stirred(np.arange(places, dtype=np.uint64))[:, None]

    def move(self, step: Carried) -> tuple[int, int] | None:
        """Carry out a step; yields place and segment where an overwriting transfer met another."""
        who = self.who[step.source, step.taken]
        origin = self.origin[step.source, step.taken]
        flaw = self.flaw[step.source, step.taken]
        combines = np.ones_like(step.combines) if self._tokens else step.combines
        run = self.run[step.source, step.taken] if self._ordered else None
        mark = self.mark[step.source, step.taken] if self.mark.size else None
        keys = step.destination * self.who.shape[1] + step.into
        rounds = list(rounds_of(keys))
        for chosen in rounds:
            at = (step.destination[chosen], step.into[chosen])
            if run is not None:
                flaw[chosen] = self._go_on(at, run[chosen], flaw[chosen], combines[chosen])
            if mark is not None:
                joined = _stirred(self.mark[at] + mark[chosen])
                self.mark[at] = np.where(combines[chosen], joined, mark[chosen])
            self._receive(at, (who[chosen], origin[chosen], flaw[chosen]), combines[chosen])
        return _clash(keys, combines, self.who.shape[1]) if len(rounds) > 1 else None

    def _go_on(
        self,
        at: tuple[Ints, Ints],
        run: Ints,
        flaw: npt.NDArray[np.int8],
        combines: Bools,
    ) -> npt.NDArray[np.int8]:
        """The runs after a combination or overwriting, own ranks first; yields the flaws of what
        arrives, with those that do not go on behind the own ones."""
        there = self.run[at]
        joined = np.stack((there[:, 0], run[:, 1]), axis=1)
        gap = combines & (there[:, 1] >= run[:, 0])
        self.run[at] = np.where(combines[:, None], joined, run)
        return np.where(gap, np.maximum(flaw, UNORDERED), flaw).astype(np.int8)

    def _receive(
        self,
        at: tuple[Ints, Ints],
        arriving: tuple[Words, npt.NDArray[np.int32], npt.NDArray[np.int8]],
        combines: Bools,
    ) -> None:
        """Combine or overwrite; no place and segment stands in `at` twice."""
        who, origin, flaw = arriving
        if combines.any():
            there = self.who[at]
            if not self._tokens:
                twice = (there & who).any(axis=-1) & combines
                mixed = (self.origin[at] != origin) & combines
                flaw = np.maximum(flaw, np.where(combines, self.flaw[at], 0))
                flaw = np.maximum(flaw, np.where(mixed, MIXED, np.where(twice, TWICE, 0)))
                flaw = flaw.astype(np.int8)
                origin = np.where(combines, self.origin[at], origin)
            who = np.where(combines[:, None], there | who, who)
        self.who[at], self.origin[at], self.flaw[at] = who, origin, flaw

    def combine_all(self, source: int, destination: int) -> None:
        """Combine the whole vector of one place into that of another."""
        twice = (self.who[destination] & self.who[source]).any(axis=-1)
        mixed = self.origin[destination] != self.origin[source]
        flaw = np.maximum(self.flaw[destination], self.flaw[source])
        if self._ordered:
            gap = self.run[destination, :, 1] >= self.run[source, :, 0]
            self.run[destination, :, 1] = self.run[source, :, 1]
            flaw = np.maximum(flaw, np.where(gap, UNORDERED, 0))
        self.flaw[destination] = np.maximum(flaw, np.where(mixed, MIXED, np.where(twice, TWICE, 0)))
        self.who[destination] |= self.who[source]
        if self.mark.size:
            self.mark[destination] = _stirred(self.mark[destination] + self.mark[source])

    def drop(self, places: list[int]) -> None:
        """What these places have is kept by nobody: they have passed it on as it came in."""
        self.flaw[places] = np.maximum(self.flaw[places], NOTHING)

    def keep_only(self, has: Bools) -> None:
        """Places have no more than these segments of the block."""
        self.flaw[~has] = NOTHING

    def copy_to_all(self, source: int) -> None:
        """Overwrite every vector with that of one place."""
        for held in (self.who, self.origin, self.flaw, self.run, self.mark):
            held[:] = held[source].copy()


def _stirred(numbers: Words) -> Words:
    """Numbers of which sums say nothing any more (the last steps of SplitMix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def one_of(place: int, words: int) -> Words:
    """The set of one rank, named by its place."""
    found = np.zeros(words, np.uint64)
    found[place // 64] = np.uint64(1) << np.uint64(place % 64)
    return found


def all_of(places: int) -> Words:
    """The set of all ranks."""
    bits = np.zeros((places + 63) // 64 * 64, np.uint8)
    bits[:places] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def members(who: Words) -> list[int]:
    """The places in a set, in their order."""
    bits = np.unpackbits(who.astype("<u8").view(np.uint8), bitorder="little")
    return [int(place) for place in np.flatnonzero(bits)]


def rounds_of(keys: Ints) -> Iterator[npt.NDArray[np.intp]]:
    """Indices of the keys such that no key stands in a round twice, in the order given."""
    different, counts = np.unique(keys, return_counts=True)
    if len(different) == len(keys):
        yield np.arange(len(keys))
        return
    order = np.argsort(keys, kind="stable")
    _, occurrence = repeated_rows(counts)
    for turn in range(int(counts.max())):
        yield np.sort(order[occurrence == turn])


def _clash(keys: Ints, combines: Bools, segments: int) -> tuple[int, int] | None:
    """Place and segment that several transfers write, not all of them combining."""
    different, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    copies = np.bincount(places, weights=~combines)
    wrong = np.flatnonzero((counts > 1) & (copies > 0))
    if not len(wrong):
        return None
    key = int(different[wrong[0]])
    return key // segments, key % segments
