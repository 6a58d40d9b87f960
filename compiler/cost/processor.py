"""What joined calls take from each other: a PE has one processor for the code of all of them.

A task is never interrupted, and one that is due while another runs waits for its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from collc.cost.predict import Mask, Times

# by PE: when code was due, from which cycle on it runs, and before which one
Stretch = tuple[Times, Times, Times]

_FIRST = 1 << 40  # cycles, more than any program takes


@dataclass(frozen=True)
class Piece:
    """Code of the PEs in `on`: the cycle in which it is due, and how many it takes. The `system`'s
    goes before all that waits."""

    due: Times
    cycles: Times
    on: Mask
    system: bool = False

    @property
    def length(self) -> Times:
        """What it takes; 0 where there is none."""
        return np.where(self.on, self.cycles, 0)


@dataclass
class Processor:
    """As one call sees it: when the code of the `others` runs, and when its own does."""

    others: list[Stretch]
    given: list[Stretch] = field(default_factory=list)
    others_work: list[Stretch] = field(default_factory=list)
    work: list[Stretch] = field(default_factory=list)  # from when to when how much is done

    def put_off(self, begin: Times, end: Times) -> Times:
        """By how much work that would be done from `begin` to `end` ends later for what others do
        meanwhile."""
        late = np.zeros_like(begin)
        for start, over, cycles in self.others_work:
            meanwhile = np.maximum(np.minimum(end, over) - np.maximum(begin, start), 0)
            late += cycles * meanwhile // np.maximum(over - start, 1)
        return late

    def hold(self, due: Times, begin: Times, end: Times) -> None:
        """Code that was due in a cycle runs from here to there, whatever else is due."""
        self.given.append((due, begin, end))

    def first_free(self, due: Times) -> Times:
        """When code begins that is due in a cycle; it waits for what was due before."""
        taken = [*self.others, *self.given]
        begin = due
        for _ in taken:
            before = begin
            for earlier, start, end in taken:
                waits = (earlier <= due) & (start <= begin) & (begin < end)
                begin = np.where(waits, end, begin)
            if (begin == before).all():
                break
        return begin

    def take(self, pieces: Sequence[Piece]) -> list[Times]:
        """When pieces of code begin, on each PE in the order in which they are due."""
        due = np.stack([piece.due for piece in pieces])
        length = np.stack([piece.length for piece in pieces])
        rank = np.stack([np.where(piece.system, piece.due - _FIRST, piece.due) for piece in pieces])
        begun = np.empty_like(due)
        for one in np.argsort(rank, axis=0, kind="stable")[:, None]:
            when, cycles, place = (
                np.take_along_axis(of, one, axis=0)[0] for of in (due, length, rank)
            )
            begin = self.first_free(when)
            self.hold(place, begin, begin + cycles)
            np.put_along_axis(begun, one, begin[None], axis=0)
        return list(begun)

    def would_take(self, pieces: Sequence[Piece]) -> list[Times]:
        """The same, without taking it."""
        return Processor(self.others, list(self.given)).take(pieces)
