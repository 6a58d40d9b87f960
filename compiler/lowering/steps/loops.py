"""Rows of a lane as loops: groups of rows that repeat, their first slices going on by one shift.

`loops_in` works on several places at once, whose loops have to have the same form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from collc.lowering.steps.parts import APPLIES, RECEIVES, SENDS
from collc.lowering.steps.rows import FIELDS
from collc.lowering.steps.traffic import Ints

LONGEST = 6  # rows of a group
HEADER = 2  # numbers in front of a loop: turns and shift
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
    by_size = np.full((LONGEST, places, total), ANY)
    end = np.zeros((LONGEST, total), dtype=np.int64)
    for size in range(1, min(LONGEST, total - 1) + 1):
        by_size[size - 1, :, : total - size] = shift = _shifts(rows, size, slices, reads)
        end[size - 1, : total - size] = _ends(shift)
    sizes = np.arange(1, LONGEST + 1)[:, None]
    turns = 1 + np.maximum(end - np.arange(total), 0) // sizes
    # numbers saved, less the headers of the loop and of what follows
    gains = (turns - 1) * sizes * FIELDS - 2 * HEADER
    best = gains.argmax(axis=0)
    found: list[Stretch] = []
    begin = 0
    for at in np.flatnonzero(gains.max(axis=0) > 0).tolist():
        if at < begin:
            continue
        size, times = int(best[at]) + 1, int(turns[best[at], at])
        found += _once(begin, at, places)
        same = int(end[size - 1, at]) - at
        shift = _first_known(by_size[size - 1, :, at:], same, size)
        found.append(Stretch(at, size, times, shift))
        begin = at + size * times
    return [*found, *_once(begin, total, places)]


def _shifts(rows: Ints, size: int, slices: int, reads: int) -> Ints:
    """[place, row] by how many slices each row goes on in the one that is `size` behind it."""
    one, other = rows[:, :-size], rows[:, size:]
    out, into = ((other[..., field] - one[..., field]) % slices for field in (1, 3))
    kind = one[..., 0]
    shift = np.where(kind & (RECEIVES | APPLIES), into, ANY)
    differs = (kind & reads > 0) & (shift != ANY) & (shift != out)
    shift = np.where(kind & reads, out, shift)
    differs |= (one[..., ::2] != other[..., ::2]).any(axis=-1)
    return np.where(differs, NONE, shift)


def _ends(shift: Ints) -> Ints:
    """By row, the first one behind it that does not go on by the same shift as all between do, at
    some place."""
    places, total = shift.shape
    at = np.arange(total)
    known = np.where(shift >= 0, at, total)
    known = np.minimum.accumulate(known[:, ::-1], axis=1)[:, ::-1]  # the first known from there on
    behind = np.concatenate((known[:, 1:], np.full((places, 1), total)), axis=1)
    following = np.take_along_axis(shift, np.minimum(behind, total - 1), axis=1)
    # a known shift is broken by the next known one, if that is another
    broken = (shift >= 0) & (behind < total) & (following != shift)
    found = np.where(shift == NONE, at, np.where(broken, behind, total)).min(axis=0)
    return np.minimum.accumulate(found[::-1])[::-1]


def _once(first: int, end: int, places: int) -> Iterator[Stretch]:
    if end > first:
        yield Stretch(first, end - first, 1, np.zeros(places, dtype=np.int64))


def _first_known(shift: Ints, same: int, size: int) -> Ints:
    """By place, the first shift that is known; 0 where it may be any. A place where it may be any
    for `same` rows does best to have one that fits a little behind them, too."""
    width = size
    while width <= same and width < shift.shape[1]:
        width *= 2
    known = shift[:, :width] >= 0
    found: Ints = shift[np.arange(len(shift)), known.argmax(axis=1)]
    return np.where(known.any(axis=1), found, 0)
