"""What a contract of the user's own says, rank by rank, on a line of ranks."""

from collections.abc import Iterator

import numpy as np

from collc.base.columns import Columns
from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.spec.exchange import Ranks


@dataclass(frozen=True, eq=False)
class Holdings(Columns):
    """What ranks have, as arrays of equal length.

    Row i: rank `holder[i]` has `count[i]` slices from `slice[i]` on of rank `whose[i]`, as its own
    slices from `into[i]` on. What several rows put into one slice is combined there.
    """

    holder: Ranks
    whose: Ranks
    slice: Ranks
    into: Ranks
    count: Ranks


_NONE = np.zeros(0, np.int32)
NO_HOLDINGS = Holdings(_NONE, _NONE, _NONE, _NONE, _NONE)


@dataclass(frozen=True, eq=False)
class OwnContract:
    """A contract on a line of `ranks` ranks whose vectors are cut into `slices` slices.

    `text` is how the source names it (`sums(G = 4)`), `places[r]` where rank r stands on its line
    along the `axis`, by an `order` of the language. Before, ranks have what `given` says of their
    own vectors, or all of them if that is None; after, they have what is `promised`. The language
    has checked that only what is given is promised, each contribution once, and in one slice only
    what was in one place of the vectors.
    """

    text: str
    ranks: int
    slices: int
    given: Holdings | None
    promised: Holdings
    axis: str
    order: str
    places: tuple[int, ...]
    span: Span

    @property
    def relabels(self) -> bool:
        """Whether slices are promised in the places of others."""
        return bool((self.promised.into != self.promised.slice).any())


@dataclass(frozen=True)
class Due:
    """Slices `into` to `into + count - 1` of a rank are to hold those of the ranks `whose`, from
    `slice` on, combined."""

    holder: int
    into: int
    count: int
    slice: int
    whose: tuple[int, ...]


def dues(own: OwnContract) -> Iterator[Due]:
    """What is promised, rank by rank; neighbouring slices of the same ranks together."""
    last: Due | None = None
    for one in _by_slice(own.promised):
        if last is not None and _follows(last, one):
            last = Due(last.holder, last.into, last.count + 1, last.slice, last.whose)
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def _by_slice(held: Holdings) -> Iterator[Due]:
    """The same for every slice by itself."""
    whose: dict[tuple[int, int, int], list[int]] = {}
    columns = (held.holder, held.whose, held.slice, held.into, held.count)
    for holder, of, slice_, into, count in zip(*(c.tolist() for c in columns), strict=True):
        for i in range(count):
            whose.setdefault((holder, into + i, slice_ + i), []).append(of)
    for (holder, into, slice_), ranks in sorted(whose.items()):
        yield Due(holder, into, 1, slice_, tuple(sorted(ranks)))


def _follows(last: Due, one: Due) -> bool:
    there = (last.holder, last.into + last.count, last.slice + last.count, last.whose)
    return there == (one.holder, one.into, one.slice, one.whose)
