"""Rows of a lane as loops: groups of rows that repeat, their first slices going on by one shift.

`loops_in` works on several places at once, whose loops have to have the same form.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from collc_evaluator import repeats

from collc.base.columns import Ints
from collc.lowering.steps.parts import APPLIES, RECEIVES, SENDS
from collc.lowering.steps.rows import FIELDS

LONGEST = 6  # rows of a group
HEADER = 2  # numbers in front of a loop: turns and shift


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
    by_size, end = repeats(rows, LONGEST, slices, reads, RECEIVES | APPLIES)
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
