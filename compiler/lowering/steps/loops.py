"""Rows of a lane as loops: groups of rows that repeat, their first slices going on by one shift.

`loops_in` works on several places at once, whose loops have to have the same form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from collc.lowering.steps.parts import APPLIES, RECEIVES, SENDS
from collc.lowering.steps.rows import FIELDS
from collc.lowering.steps.traffic import Bools, Ints

LONGEST = 6  # rows of a group
HEADER = 2  # numbers in front of a loop: turns and shift (and whether registers walk)
ANY, NONE = -1, -2  # shifts: whatever it is, there is none


@dataclass(frozen=True, eq=False)
class Stretch:
    """Rows `first` to `first + size - 1`, run `turns` times; `shift` by place."""

    first: int
    size: int
    turns: int
    shift: Ints


def loops_in(rows: Ints, slices: int, reads: int = SENDS) -> list[Stretch]:
    """The rows [places, rows, FIELDS] as stretches in order, greedily the longest repetition. Rows
    of the kinds `reads` say which slices they put out."""
    places, total, _ = rows.shape
    shifts = [_shifts(rows, size, slices, reads) for size in range(1, LONGEST + 1)]
    found: list[Stretch] = []
    at = plain = 0
    while at < total:
        best = max(_candidates(shifts, at, total), key=_gain, default=None)
        if best is None or _gain(best) <= 0:
            at += 1
            continue
        found += _once(plain, at, places)
        found.append(best)
        at = plain = at + best.size * best.turns
    return [*found, *_once(plain, total, places)]


def _once(first: int, end: int, places: int) -> Iterator[Stretch]:
    if end > first:
        yield Stretch(first, end - first, 1, np.zeros(places, dtype=np.int64))


def _gain(stretch: Stretch) -> int:
    """Numbers saved, less the headers of the loop and of what follows."""
    return (stretch.turns - 1) * stretch.size * FIELDS - 2 * HEADER


def _candidates(shifts: list[Ints], at: int, total: int) -> Iterator[Stretch]:
    """The repetitions of each size that begin with row `at`."""
    for size, shift in enumerate(shifts, start=1):
        if at + 2 * size > total:
            continue
        width = size
        same, value = _same(shift[:, at : at + width])
        while same == width and at + width < shift.shape[1]:
            width *= 2
            same, value = _same(shift[:, at : at + width])
        if same >= size:
            yield Stretch(at, size, 1 + same // size, value)


def _same(window: Ints) -> tuple[int, Ints]:
    """How many columns, from the first on, have one shift at each place, and that."""
    known = window >= 0
    first = known.argmax(axis=1)
    value: Ints = np.where(known.any(axis=1), window[np.arange(len(window)), first], 0)
    broken = ((known & (window != value[:, None])) | (window == NONE)).any(axis=0)
    return int(broken.argmax()) if broken.any() else window.shape[1], value


def _shifts(rows: Ints, size: int, slices: int, reads: int) -> Ints:
    """[places, rows - size]: by how many slices a row goes on in the row `size` behind it."""
    before, behind = rows[:, :-size], rows[:, size:]
    if before.shape[1] == 0:
        return np.zeros((len(rows), 0), dtype=np.int64)
    alike = (before[:, :, [0, 2, 4]] == behind[:, :, [0, 2, 4]]).all(axis=2)
    kind = before[:, :, 0]
    out = _shift(before, behind, 1, (kind & reads) > 0, slices)
    into = _shift(before, behind, 3, (kind & (RECEIVES | APPLIES)) > 0, slices)
    both = np.where(out == ANY, into, np.where((into == ANY) | (into == out), out, NONE))
    result: Ints = np.where(alike, both, NONE)
    return result


def _shift(before: Ints, behind: Ints, field: int, used: Bools, slices: int) -> Ints:
    shift: Ints = np.where(used, (behind[:, :, field] - before[:, :, field]) % slices, ANY)
    return shift
