"""Streams: slices that routers put in order by themselves, so that a PE has a few long operations.

Of an exchange that streams, a lane is a color that flows along the line one way. A PE sends slices
on it by one operation and receives others by one; both go over the vector in the order of the
words on the color, from the last element to the first where the lane is `backward`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from collc.plan.numbers import Number


@dataclass(frozen=True)
class Slices:
    """Slices `first` to `end` - 1, each a formula of the place."""

    first: Number
    end: Number


@dataclass(frozen=True)
class Filter:
    """What a router lets its own PE have of a color: of every `period` wavelets, which are those of
    a call, the ones behind the first `before` that carry the slices `passes`."""

    period: Slices
    before: Slices
    passes: Slices


class Behind(Enum):
    """What follows a PE's last word on a color."""

    NOTHING = "nothing"
    NEXT = "next"  # the PE's own router takes the next position
    RESET = "reset"  # a control wavelet sets every router it comes to back to its first position


@dataclass(frozen=True)
class Stream:
    """What a PE does on a lane: the slices that it `sends`, what follows them, the slices that it
    `receives`. Its own slices `return` if its router hands them to the neighbour and back to the
    PE; when they have been received they have been sent."""

    sends: Slices | None
    receives: Slices | None
    backward: bool
    behind: Behind = Behind.NOTHING
    returns: bool = False

    @property
    def ends(self) -> int:
        """How many ends the PE waits for: that of receiving, and that of sending unless the former
        says it, too."""
        return int(self.receives is not None) + int(self.sends is not None and not self.returns)
