"""What pieces take, from whole tasks that are made of them: the integers that fit best.

Code is optimised and pipelined, so a piece takes now more and now less, by what is around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

ROUNDS = 3000
TIE = 1e-3  # what pulls a piece towards nothing where no task tells
LIMITS = (40, 12, 8, 5, 4, 3, 3)  # cycles


Pieces = tuple[int, Mapping[str, int]]  # what a task took, and how often it has each piece


@dataclass(frozen=True)
class Fit:
    """Cycles by piece, and how far tasks are off: the root of the mean square, and the most."""

    cycles: Mapping[str, int]
    error: float
    worst: int


def fitted(tasks: Sequence[Pieces], signed: frozenset[str] = frozenset()) -> Fit:
    """The fit to tasks that took so many cycles, and have so many of each piece. Only `signed` ones
    take less than nothing; where tasks leave it open, a piece takes nothing."""
    names = sorted({name for _, counts in tasks for name in counts})
    counts = np.array([[of.get(name, 0) for name in names] for _, of in tasks], dtype=np.float64)
    cycles = np.array([took for took, _ in tasks], dtype=np.float64)
    square = counts.T @ counts + TIE * np.eye(len(names))
    aim = counts.T @ cycles
    least = np.array([-np.inf if name in signed else 0 for name in names])
    found = _descended(square, aim, least, np.zeros(len(names)), whole=False)
    found = _descended(square, aim, least, np.round(found), whole=True)
    found = _by_pairs(square, aim, least, found)
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


def _by_pairs(
    square: np.ndarray, aim: np.ndarray, least: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Whole numbers moved by one, alone and two at a time, as long as that makes it better."""
    steps = np.concatenate((np.eye(len(start)), -np.eye(len(start))))
    moves = np.concatenate((steps, *(steps + one for one in steps)))
    found, curve = start.copy(), np.einsum("ij,jk,ik->i", moves, square, moves) / 2
    for _ in range(ROUNDS):
        gain = moves @ (aim - square @ found) - curve
        gain[((found + moves) < least).any(axis=1)] = 0
        best = int(gain.argmax())
        if gain[best] < 1e-9:
            break
        found = found + moves[best]
    return found


def trimmed(tasks: Sequence[Pieces], signed: frozenset[str] = frozenset()) -> Fit:
    """The fit to the tasks that it is near, which most are: what one has to do depends on how far
    the other lane is, which is taken from the model, and may be otherwise in a run; and where a
    function is called that others have in its place, more than the call may be different."""
    kept = list(tasks)
    for limit in LIMITS:
        fit = fitted(kept, signed)
        kept = [task for task in tasks if abs(_off(fit, task)) <= limit]
    return fitted(kept, signed)


def _off(fit: Fit, task: Pieces) -> int:
    took, counts = task
    return sum(fit.cycles.get(name, 0) * count for name, count in counts.items()) - took
