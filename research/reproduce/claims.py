"""What a claim of a source is, and what comes of checking it.

A claim has an identifier (a letter for its source and a number), what the source says in our own
words, the configuration, the verdict that is on record, and a function that computes this
project's side. The function gives a verdict of its own; where that is not the one on record,
something has changed and `collc reproduce` fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import TypeVar

from collc.base.values import dataclass

T = TypeVar("T")


class Verdict(Enum):
    """What came of a claim."""

    EXACT = "EXACT"  # our value is the source's, to every digit it gives
    HOLDS = "HOLDS"  # an inequality, an "up to", an "about" is true of our values
    CLOSE = "CLOSE"  # of the same size; the note says why it is not the same
    SLIP = "SLIP"  # the source contradicts itself; the note says what is sound
    DIFFERS = "DIFFERS"  # by the stated rules it is another number
    OPEN = "OPEN"  # the source does not say enough to compute it


@dataclass(frozen=True)
class Depth:
    """How thoroughly to check: every value of a range, or some of them."""

    thorough: bool

    def of(self, values: Sequence[T], some: int = 8) -> Sequence[T]:
        """All values, or about `some` of them with the first and the last."""
        if self.thorough or len(values) <= some:
            return values
        step = (len(values) - 1) / (some - 1)
        return [values[round(step * index)] for index in range(some)]


@dataclass(frozen=True)
class Finding:
    """What this project computes for a claim."""

    ours: str
    verdict: Verdict
    note: str = ""


Evaluate = Callable[[Depth], Finding]


@dataclass(frozen=True)
class Claim:
    """A claim of a source and the verdict on record."""

    id: str
    claim: str
    configuration: str
    printed: str
    recorded: Verdict
    evaluate: Evaluate


@dataclass(frozen=True)
class Row:
    """A claim that has been checked."""

    id: str
    source: str
    claim: str
    configuration: str
    printed: str
    ours: str
    verdict: Verdict
    recorded: Verdict
    note: str

    @property
    def as_recorded(self) -> bool:
        """Whether the check came out as it did before."""
        return self.verdict is self.recorded


def exact(equal: bool, ours: object, note: str = "") -> Finding:
    """A value that should be the source's."""
    return Finding(str(ours), Verdict.EXACT if equal else Verdict.DIFFERS, note)


def holds(true: bool, ours: object, note: str = "") -> Finding:
    """A statement that should be true."""
    return Finding(str(ours), Verdict.HOLDS if true else Verdict.DIFFERS, note)


def close(pairs: Iterable[tuple[float, float]], ours: object, note: str) -> Finding:
    """Values beside the source's: of the same size if none is twice another."""
    values = list(pairs)
    if all(one == other for one, other in values):
        return Finding(str(ours), Verdict.EXACT, note)
    near = all(one < 2 * other and other < 2 * one for one, other in values)
    return Finding(str(ours), Verdict.CLOSE if near else Verdict.DIFFERS, note)


def slip(shown: bool, ours: object, note: str) -> Finding:
    """A mistake of the text, which the computation has to show."""
    return Finding(str(ours), Verdict.SLIP if shown else Verdict.DIFFERS, note)


def differs(other: bool, ours: object, note: str) -> Finding:
    """A number that the stated rules do not give."""
    return Finding(str(ours), Verdict.DIFFERS if other else Verdict.EXACT, note)


def wording(sound: str, note: str = "") -> Evaluate:
    """A slip of words, with nothing to compute."""
    return lambda _: Finding(sound, Verdict.SLIP, note)


def unknown(note: str) -> Evaluate:
    """A claim about measurements on a machine that the source does not describe."""
    return lambda _: Finding("-", Verdict.OPEN, note)
