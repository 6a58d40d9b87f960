"""What the code of joined calls takes from each other: every PE has one processor.

A task is never interrupted: one that is due while another runs waits for its end. Pieces of code are
asked for about in the order of time; each finds what has been given before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from collc.cost.predict import Mask, Times


@dataclass(frozen=True)
class Piece:
    """Code of every PE, or of those in `on`: due in a cycle, and how many it takes."""

    due: Times
    cycles: Times
    on: Mask | None = None


@dataclass
class Processor:
    """By PE: from when to when its code runs."""

    given: list[tuple[Times, Times]] = field(default_factory=list)

    def hold(self, begin: Times, end: Times) -> None:
        """Code runs from here to there, whatever else is due."""
        self.given.append((begin, end))

    def forget(self, before: int) -> None:
        """What ended before a cycle is no longer asked for."""
        self.given = [(begin, end) for begin, end in self.given if int(end.max()) > before]

    def take(self, piece: Piece) -> Times:
        """When a piece of code runs: when nothing does that was there before."""
        begin = piece.due.copy()
        for _ in self.given:
            before = begin.copy()
            for start, end in self.given:
                begin = np.where((start <= begin) & (begin < end), end, begin)
            if (begin == before).all():
                break
        cycles = piece.cycles if piece.on is None else np.where(piece.on, piece.cycles, 0)
        self.given.append((begin, begin + cycles))
        return begin

    def take_all(self, pieces: Sequence[Piece]) -> list[Times]:
        """The same for several, on each PE in the order in which they are due."""
        due = np.stack([piece.due for piece in pieces])
        none = np.zeros_like(due[0])
        cycles = np.stack(
            [p.cycles + none if p.on is None else np.where(p.on, p.cycles, 0) for p in pieces]
        )
        order = np.argsort(due, axis=0, kind="stable")
        found = np.empty_like(due)
        for place in order:
            one = Piece(_at(due, place), _at(cycles, place))
            np.put_along_axis(found, place[None], self.take(one)[None], axis=0)
        return list(found)


def _at(values: Times, place: Times) -> Times:
    taken: Times = np.take_along_axis(values, place[None], axis=0)[0]
    return taken
