"""What pieces take, from whole tasks that are made of them: the integers that fit best.

Code is optimised and pipelined, so a piece takes now more and now less, by what is around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

ROUNDS = 3000
TIE = 1e-3  # what pulls a piece towards nothing where no task tells
PULL = 3.0  # what pulls it towards what it is about, in tasks
TRIMS = 3
FAR_OFF = 12  # cycles


Pieces = tuple[int, Mapping[str, int]]  # what a task took, and how often it has each piece


@dataclass(frozen=True)
class Fit:
    """Cycles by piece, and how far tasks are off: the root of the mean square, and the most."""

    cycles: Mapping[str, int]
    error: float
    worst: int


def fitted(
    tasks: Sequence[Pieces],
    signed: frozenset[str] = frozenset(),
    about: Mapping[str, int] | None = None,
) -> Fit:
    """The fit to tasks that took so many cycles and have so many of each piece; only `signed` ones
    may take less than nothing. Where tasks leave it open, pieces take what they are `about`."""
    names = sorted({name for _, counts in tasks for name in counts})
    counts = np.array([[of.get(name, 0) for name in names] for _, of in tasks], dtype=np.float64)
    cycles = np.array([took for took, _ in tasks], dtype=np.float64)
    least = np.array([-np.inf if name in signed else 0 for name in names])
    start = np.array([about.get(name, 0) if about else 0 for name in names], dtype=np.float64)
    tie = PULL if about else TIE
    square = counts.T @ counts + tie * np.eye(len(names))
    aim = counts.T @ cycles + tie * start
    found = _descended(square, aim, least, start, whole=False)
    found = _descended(square, aim, least, np.round(found), whole=True)
    off = counts @ found - cycles
    values = dict(zip(names, found.astype(int).tolist(), strict=True))
    return Fit(values, float(np.sqrt((off**2).mean())), round(float(np.abs(off).max())))


def _descended(
    square: np.ndarray, aim: np.ndarray, least: np.ndarray, start: np.ndarray, *, whole: bool
) -> np.ndarray:
    """One number after the other made as good as it can be, until nothing changes."""
    found = start.copy()
    for _ in range(ROUNDS):
        before = found.copy()
        for index in range(len(found)):
            best = found[index] + (aim[index] - square[index] @ found) / square[index, index]
            found[index] = max(least[index], round(best) if whole else best)
        if np.abs(found - before).max() < 1e-6:
            break
    return found


def trimmed(
    tasks: Sequence[Pieces],
    signed: frozenset[str] = frozenset(),
    about: Mapping[str, int] | None = None,
) -> Fit:
    """The fit without tasks that are far off: which of two lanes is next is taken from the model,
    and may be the other one in a run."""
    kept = list(tasks)
    for _ in range(TRIMS):
        fit = fitted(kept, signed, about)
        limit = max(FAR_OFF, 3 * fit.error)
        kept = [task for task in tasks if abs(_off(fit, task)) < limit]
    return fitted(kept, signed, about)


def _off(fit: Fit, task: Pieces) -> int:
    took, counts = task
    return sum(fit.cycles.get(name, 0) * count for name, count in counts.items()) - took
