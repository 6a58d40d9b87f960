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
    ends = [_ends(shift) for shift in shifts]
    found: list[Stretch] = []
    at = plain = 0
    while at < total:
        turns = [1 + max(end[at] - at, 0) // size for size, end in enumerate(ends, start=1)]
        gains = [_gain(size, number) for size, number in enumerate(turns, start=1)]
        best = gains.index(max(gains))
        if gains[best] <= 0:
            at += 1
            continue
        found += _once(plain, at, places)
        shift = _first_known(shifts[best][:, at:], ends[best][at] - at, best + 1)
        found.append(Stretch(at, best + 1, turns[best], shift))
        at = plain = at + (best + 1) * turns[best]
    return [*found, *_once(plain, total, places)]


def _once(first: int, end: int, places: int) -> Iterator[Stretch]:
    if end > first:
        yield Stretch(first, end - first, 1, np.zeros(places, dtype=np.int64))


def _gain(size: int, turns: int) -> int:
    """Numbers saved, less the headers of the loop and of what follows."""
    return (turns - 1) * size * FIELDS - 2 * HEADER


def _first_known(shift: Ints, same: int, size: int) -> Ints:
    """By place, the first shift that is known; 0 where it may be any. A place where it may be any
    for `same` rows does best to have one that fits a little behind them, too."""
    width = size
    while width <= same and width < shift.shape[1]:
        width *= 2
    known = shift[:, :width] >= 0
    found: Ints = shift[np.arange(len(shift)), known.argmax(axis=1)]
    return np.where(known.any(axis=1), found, 0)


def _ends(shift: Ints) -> list[int]:
    """For each row, the first one behind it that does not go on by the same shift as all between
    do, at some place; rows at the end of the lane have none behind them."""
    places, columns = shift.shape
    column = np.arange(columns)
    # by place, the next column from each one on in which a shift is known
    following = np.where(shift >= 0, column, columns)
    following = np.minimum.accumulate(following[:, ::-1], axis=1)[:, ::-1]
    following = np.concatenate((following, np.full((places, 1), columns)), axis=1)
    # a known shift is broken by the next known one, if that is another
    after = following[np.arange(places)[:, None], column + 1]
    padded = np.concatenate((shift, np.full((places, 1), ANY)), axis=1)
    other = np.take_along_axis(padded, after, axis=1)
    broken = np.where((shift >= 0) & (after < columns) & (other != shift), after, columns)
    broken = np.where(shift == NONE, column, broken).min(axis=0, initial=columns)
    ends = np.minimum.accumulate(broken[::-1])[::-1].tolist()
    return [*ends, *([0] * (LONGEST + 1))]


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
