"""Rows of a lane as loops: groups of rows that repeat, their first slices going on by one shift."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from collc_evaluator import find_loops

from collc.base.columns import Bools, Ints
from collc.base.values import dataclass
from collc.lowering.steps.rows import APPLIES, RECEIVES, RELAYS, SENDS
from collc.plan.entries import FIELDS

LONGEST = 6  # rows of a group
HEADER = 2  # numbers in front of a loop: turns and shift

LaneForm = tuple[tuple[int, int], ...]  # of each loop: rows, and 1 if it is run more than once


@dataclass(frozen=True, eq=False)
class LaneProgram:
    """The loops of a lane at several places, as [places, numbers]: of each loop turns and shift,
    then the rows of one turn; `form` says how to read it. Rows of the kinds `reads` say which
    slices they put out."""

    form: LaneForm
    places: Ints
    numbers: Ints
    reads: int

    @property
    def used(self) -> Bools:
        """Which numbers are read at each place: those of slices only where a row has them."""
        used = np.ones(self.numbers.shape, dtype=np.bool_)
        at = np.array(list(self._row_columns()))
        kind = self.numbers[:, at]
        used[:, at + 1] = (kind & self.reads) > 0
        used[:, at + 2] = (kind & (SENDS | RELAYS)) > 0
        used[:, at + 3] = used[:, at + 4] = (kind & (RECEIVES | APPLIES)) > 0
        return used

    def _row_columns(self) -> Iterator[int]:
        """Where each row begins."""
        at = 0
        for size, _ in self.form:
            at += HEADER
            yield from range(at, at + size * FIELDS, FIELDS)
            at += size * FIELDS


class Tables:
    """Step tables as loops: table t has the rows [rows, FIELDS] from `start[t]` to before
    `start[t + 1]`. Rows of the kinds `reads` say which slices they put out. Where loops are found
    `together` all tables have as many rows, and loops of one form."""

    def __init__(
        self, rows: Ints, start: Ints, slices: int, *, reads: int, together: bool = False
    ) -> None:
        counts, self._loops = find_loops(
            rows,
            start,
            slices,
            out=reads,
            into=RECEIVES | APPLIES,
            header=HEADER,
            longest=LONGEST,
            together=together,
        )
        self._rows, self._start, self._reads = rows, start, reads
        self._first_loop = np.append(0, np.cumsum(counts))
        forms = np.stack((self._loops[:, 1], self._loops[:, 2] > 1), axis=1).tolist()
        bounds = self._first_loop.tolist()
        self.forms: list[LaneForm] = [
            tuple(map(tuple, forms[low:high])) for low, high in pairwise(bounds)
        ]

    def program(self, places: Ints, tables: Ints) -> LaneProgram:
        """The loops of `places`, whose tables have one form."""
        form = self.forms[tables[0]]
        loops = self._loops[self._first_loop[tables][:, None] + np.arange(len(form))]
        size = np.array([rows for rows, _ in form], dtype=np.int64)
        loop = np.repeat(np.arange(len(form)), size)
        row = np.arange(len(loop))
        within = row - (np.cumsum(size) - size)[loop]
        rows = self._rows[self._start[tables][:, None] + loops[:, loop, 0] + within]
        # each loop's numbers stand in front of its rows
        heads = HEADER * np.arange(len(form)) + FIELDS * (np.cumsum(size) - size)
        row_at = HEADER * (loop + 1) + FIELDS * row
        numbers = np.zeros((len(tables), HEADER * len(form) + FIELDS * len(row)), dtype=np.int64)
        numbers[:, heads[:, None] + np.arange(HEADER)] = loops[:, :, 2:]
        numbers[:, row_at[:, None] + np.arange(FIELDS)] = rows
        return LaneProgram(form, places, numbers, self._reads)
