"""What a contract of the user's own says, rank by rank, on a line of ranks."""

from __future__ import annotations

from dataclasses import dataclass

from collc.base.diagnostics import Span
from collc.spec.exchange import Ranks


@dataclass(frozen=True, eq=False)
class Holdings:
    """What ranks have, as arrays of equal length.

    Row i: rank `holder[i]` has `count[i]` slices from `slice[i]` on of rank `whose[i]`, as its own
    slices from `into[i]` on. What several rows put into one slice is combined there.
    """

    holder: Ranks
    whose: Ranks
    slice: Ranks
    into: Ranks
    count: Ranks

    def __len__(self) -> int:
        return len(self.holder)


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
