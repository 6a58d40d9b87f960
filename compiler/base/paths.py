"""A path: an order of all PEs of a grid, as in a snake.

A path is a row that has been folded into the grid. Whatever goes along it, tree or steps, is
planned, proved and checked on the row: place i of the row is PE `places[i]`, west is the side of
place i - 1, east that of place i + 1. Only where code is written, where PEs start a multicast, and
where results are compared does it matter which PE a place is (D29).

Where a PE is not next to the one before, the path is not contiguous: a way through the routers of
other PEs leads from one to the other (D66).
"""

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from collc.base.columns import Ints
from collc.base.values import dataclass

Pe = tuple[int, int]


@dataclass(frozen=True)
class Path:
    """The PEs (x, y) of a grid in their order; `word` is how the source names it."""

    word: str
    places: tuple[Pe, ...]

    def __len__(self) -> int:
        return len(self.places)

    def place_of(self, pe: Pe) -> int:
        """Which place a PE has."""
        return self._places_of[pe]

    @cached_property
    def _places_of(self) -> dict[Pe, int]:
        return {pe: place for place, pe in enumerate(self.places)}

    @cached_property
    def gaps(self) -> frozenset[int]:
        """The places that are not next to the place before them."""
        return frozenset(gaps(self.places))

    def crosses(self, place: int, other: int) -> bool:
        """Whether the path is not contiguous between two places."""
        first, last = sorted((place, other))
        return bool(self._gaps_up_to[last] > self._gaps_up_to[first])

    @cached_property
    def _gaps_up_to(self) -> Ints:
        """How many gaps there are up to each place."""
        found = np.zeros(len(self), dtype=np.int64)
        found[list(self.gaps)] = 1
        return np.cumsum(found)

    def way(self, source: int, target: int) -> tuple[Pe, ...]:
        """The PEs from one place to another: along a column, then along a row, or that way back."""
        if target < source:
            return self.way(target, source)[::-1]
        (x, y), (to_x, to_y) = self.places[source], self.places[target]
        column = ((x, at) for at in _between(y, to_y))
        row = ((at, to_y) for at in _between(x, to_x))
        return *column, *row, (to_x, to_y)

    @cached_property
    def x(self) -> Ints:
        """The column of each place."""
        return np.array([x for x, _ in self.places], dtype=np.int64)

    @cached_property
    def y(self) -> Ints:
        """The row of each place."""
        return np.array([y for _, y in self.places], dtype=np.int64)


def _between(first: int, end: int) -> range:
    """The coordinates from `first` on, up to the one before `end`."""
    return range(first, end, 1 if end > first else -1)


def gaps(places: Iterable[Pe]) -> Iterator[int]:
    """The places that are not next to the place before them."""
    before: Pe | None = None
    for place, (x, y) in enumerate(places):
        if before is not None and abs(x - before[0]) + abs(y - before[1]) != 1:
            yield place
        before = x, y


def hilbert(width: int, height: int) -> Iterator[Pe]:
    """A space-filling path from PE (0, 0) through a grid of any size.

    It ends in the corner at the far end of the first row or, where no path does that, of the first
    column. PEs of a grid are black and white by turns; a path goes from one color to the other, so
    the far end of a side is reached unless that side is odd and the other even.
    """
    if height == 1 or (width > 1 and (width % 2 == 0 or height % 2 == 1)):
        return _curve((0, 0), (1, 0), (0, 1), width, height)
    return _curve((0, 0), (0, 1), (1, 0), height, width)


def _curve(start: Pe, along: Pe, across: Pe, length: int, breadth: int) -> Iterator[Pe]:
    """From `start` to the far end of the side `along`, of `length` PEs.

    `length` is even or `breadth` odd, and so they are in every part:

        > > >       up, along, down again; a long piece is two pieces, one after the other.
        ^   v       What goes up and down has an even height, so the parts can be gone through.
    """
    if breadth == 1:
        yield from (_moved(start, along, step) for step in range(length))
    elif breadth == 2:
        for step in range(length):
            foot = _moved(start, along, step)
            ends = foot, _moved(foot, across, 1)
            yield from ends if step % 2 == 0 else reversed(ends)
    elif 2 * length > 3 * breadth:
        first = length // 2 + (length // 2) % 2
        yield from _curve(start, along, across, first, breadth)
        yield from _curve(_moved(start, along, first), along, across, length - first, breadth)
    else:
        left, rise = (length + 1) // 2, breadth // 2 + (breadth // 2) % 2
        yield from _curve(start, across, along, rise, left)
        top = _moved(start, across, rise)
        yield from _curve(top, along, across, length, breadth - rise)
        corner = _moved(_moved(start, along, length - 1), across, rise - 1)
        down, back = (-across[0], -across[1]), (-along[0], -along[1])
        yield from _curve(corner, down, back, rise, length - left)


def _moved(pe: Pe, way: Pe, steps: int) -> Pe:
    return pe[0] + way[0] * steps, pe[1] + way[1] * steps
