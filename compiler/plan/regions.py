"""Sets of PEs that do the same: strided runs of coordinates, and strided rectangles."""

from __future__ import annotations

from collections.abc import Iterator

from collc.base.values import dataclass


@dataclass(frozen=True, order=True)
class Strided:
    """The coordinates first, first + step, ..., last (inclusive), the run repeated `repeats` times
    at a distance of `period`.

    step >= 1. A plain stride has `repeats` 1 and `period` 0. Otherwise period > last - first, so
    that c is a member iff, with d = c - first, d >= 0, d / period < repeats (rounded down),
    d % period <= last - first and (d % period) % step == 0. Groups of a two-phase tree need this.
    """

    first: int
    last: int
    step: int = 1
    period: int = 0
    repeats: int = 1

    @property
    def end(self) -> int:
        """The largest member."""
        return self.last + (self.repeats - 1) * self.period

    def __iter__(self) -> Iterator[int]:
        for turn in range(self.repeats):
            shift = turn * self.period
            yield from range(self.first + shift, self.last + shift + 1, self.step)

    def __len__(self) -> int:
        return ((self.last - self.first) // self.step + 1) * self.repeats

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int) or not self.first <= value <= self.end:
            return False
        distance = value - self.first
        within = distance % self.period if self.repeats > 1 else distance
        return within <= self.last - self.first and within % self.step == 0

    def shifted(self, distance: int) -> Strided:
        """Every coordinate `distance` further on."""
        first, last = self.first + distance, self.last + distance
        return Strided(first, last, self.step, self.period, self.repeats)

    def mirrored(self, extent: int) -> Strided:
        """The same coordinates counted from the other end of 0..extent - 1."""
        start = extent - 1 - self.end
        return Strided(start, start + self.last - self.first, self.step, self.period, self.repeats)


@dataclass(frozen=True, order=True)
class Region:
    """A strided rectangle of PEs."""

    x: Strided
    y: Strided

    def sides(self, axis: str) -> tuple[Strided, Strided]:
        """Its coordinates along an axis, and those across."""
        return (self.x, self.y) if axis == "x" else (self.y, self.x)

    def __contains__(self, pe: object) -> bool:
        return isinstance(pe, tuple) and pe[0] in self.x and pe[1] in self.y
