"""Streams: slices that routers put in order by themselves, so that a PE has a few long operations.

Of an exchange that streams, a lane is a color that flows along the line one way. A PE sends slices
on it by one operation and receives others by one; both go over the vector in the order of the
words on the color, from the last element to the first where the lane is `backward`.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.plan.numbers import SliceRange
from collc.plan.routers import Advance


@dataclass(frozen=True)
class Stream:
    """What a PE does on a lane: the slices that it `sends`, what follows them, the slices that it
    `receives`. Its own slices `return` if its router hands them to the neighbour and back to the
    PE; when they have been received they have been sent.

    What a PE sends goes `through` it if each element is combined with one that arrives, as it
    leaves; what it receives comes behind that. What is received `combines` with the PE's own, or
    overwrites it; if it is `staged`, when all has ended."""

    sends: SliceRange | None
    receives: SliceRange | None
    backward: bool
    advance: Advance = Advance.NOTHING
    returns: bool = False
    through: bool = False
    combines: bool = False
    staged: bool = False

    @property
    def ends(self) -> int:
        """How many ends the PE waits for: that of receiving, and that of sending unless the former
        says it, too, or comes behind it."""
        told = self.returns or (self.through and self.receives is not None)
        return int(self.receives is not None) + int(self.sends is not None and not told)
