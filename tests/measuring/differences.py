"""What each piece takes, from stretches of code that have it and stretches that have not.

Two stretches that differ in one piece alone tell what that takes; so does one that is made of one
piece alone. What is known then is left out, and others come to differ in one alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import median_low

Counts = Mapping[str, int]


@dataclass(frozen=True)
class Difference:
    """What a piece takes by stretch `more` less stretch `less`, which may be none."""

    cycles: Fraction
    more: str
    less: str


@dataclass(frozen=True)
class Piece:
    """A piece: all differences that say what it takes, `cycles` is the one in the middle."""

    name: str
    found: tuple[Difference, ...]

    @property
    def cycles(self) -> int:
        """Whole cycles."""
        return round(median_low(one.cycles for one in self.found))

    @property
    def spread(self) -> int:
        """By how many cycles the differences disagree."""
        cycles = [one.cycles for one in self.found]
        return round(max(cycles) - min(cycles))


@dataclass(frozen=True)
class _Left:
    """A stretch without the pieces that are known."""

    where: str
    cycles: Fraction
    counts: tuple[tuple[str, int], ...]


def isolated(stretches: Iterable[tuple[str, int, Counts]]) -> list[Piece]:
    """All pieces that can be told apart, each with what says so."""
    left = [
        _Left(where, Fraction(cycles), tuple(sorted(of.items()))) for where, cycles, of in stretches
    ]
    pieces: list[Piece] = []
    while True:
        found: dict[str, list[Difference]] = {}
        for name, difference in _alone(_different(left)):
            found.setdefault(name, []).append(difference)
        if not found:
            return pieces
        new = {name: Piece(name, tuple(of)) for name, of in sorted(found.items())}
        pieces += new.values()
        left = [_without(one, new) for one in left]


def _different(left: Sequence[_Left]) -> list[_Left]:
    """One of those that have the same pieces and take as long."""
    return list({(one.counts, one.cycles): one for one in reversed(left) if one.counts}.values())


def _alone(left: Sequence[_Left]) -> Iterator[tuple[str, Difference]]:
    for one in left:
        if len(one.counts) == 1:
            ((name, count),) = one.counts
            yield name, Difference(one.cycles / count, one.where, "")
    for one, other in combinations(left, 2):
        more = dict(one.counts)
        for name, count in other.counts:
            more[name] = more.get(name, 0) - count
        differs = [(name, count) for name, count in more.items() if count]
        if len(differs) != 1:
            continue
        ((name, count),) = differs
        cycles = (one.cycles - other.cycles) / count
        first, second = (one, other) if count > 0 else (other, one)
        yield name, Difference(cycles, first.where, second.where)


def _without(one: _Left, known: Mapping[str, Piece]) -> _Left:
    cycles = sum(known[name].cycles * count for name, count in one.counts if name in known)
    counts = tuple((name, count) for name, count in one.counts if name not in known)
    return _Left(one.where, one.cycles - cycles, counts)
