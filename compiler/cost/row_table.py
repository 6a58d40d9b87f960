"""The rows of a line and their pieces of code as tables, for compiled functions.

In reading order: the table, what it takes to prepare and to start a row, the most moves of a task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from collc.cost.line_state import (
    APPLYING,
    ENDS,
    INTO,
    OPERATIONS,
    OUT,
    OVER,
    PASSED,
    PIECE,
    PIECE_END,
    PREPARED,
    ROW_FIELDS,
)
from collc.cost.operations import Costs
from collc.cost.row_code import Features, Here, prepared, start
from collc.plan import AREA_BITS, RowKind
from collc.plan.unrolled import Ints, Unrolled

RECEIVES, SENT = int(RowKind.RECEIVES), int(RowKind.SENDS | RowKind.RELAYS)
APPLIES, COMBINES = int(RowKind.APPLIES), int(RowKind.COMBINES)
END = int(RowKind.ENDS)
NO_MORE = int(RowKind.OVER) | END
BEHIND = 3  # rows that say so behind the last one of a lane: code looks so far ahead
KINDS = 1 << AREA_BITS  # more than the bits of a row say


@dataclass(frozen=True, eq=False)
class RowTable:
    """`rows` is [row, field], those of lane l from `first[l]` on, as many as `count[l]`; `pieces`
    is [n, 0] and [n, 1] of moves, and `most` is how many moves there may be in a task."""

    first: Ints
    count: Ints
    rows: Ints
    pieces: Ints
    most: int


def row_table(costs: Costs, text: Features, unrolled: Unrolled, here: Sequence[Here]) -> RowTable:
    """The rows of all lanes; `here` says what is known of each lane."""
    # what moves nothing has no row, unless that depends on the length of the run
    there = unrolled.written if text.cuts else unrolled.kind
    kept = np.flatnonzero((there & (SENT | RECEIVES | APPLIES | END)) > 0)
    lanes = len(unrolled.start) - 1
    lane = np.repeat(np.arange(lanes), np.diff(unrolled.start))[kept]
    count = np.bincount(lane, minlength=lanes)
    ends = np.cumsum(count + BEHIND)
    at = np.arange(len(kept)) + BEHIND * lane

    def spread(values: Ints, behind: int) -> Ints:
        found = np.full(ends[-1], behind, dtype=np.int64)
        found[at] = values[kept]
        return found

    kind = spread(unrolled.kind, NO_MORE)
    rows = np.zeros((ends[-1], ROW_FIELDS), dtype=np.int64)
    rows[:, OPERATIONS] = np.sign(kind & SENT) + np.sign(kind & RECEIVES)
    rows[:, ENDS] = (kind & END) > 0
    if unrolled.lanes > 1:
        rows[(ends - BEHIND - 1)[count > 0], ENDS] = (
            1  # as the text has it, of the last one of each
        )
    rows[:, OVER] = (kind & NO_MORE & ~END) > 0
    rows[:, INTO] = spread(unrolled.into_to - unrolled.into_from, 0) // costs.per_wavelet
    rows[:, OUT] = spread(unrolled.out_to - unrolled.out_from, 0) // costs.per_wavelet
    rows[:, PASSED] = spread(unrolled.passed, 0) // costs.per_wavelet
    rows[:, APPLYING] = _applying(costs, kind, rows[:, INTO] * costs.per_wavelet)

    different = list(dict.fromkeys(here))
    which = np.array([different.index(one) for one in here], dtype=np.int64)
    which = np.repeat(which, count + BEHIND)
    rows[:, PREPARED] = _preparing(text, different, which, spread(there, NO_MORE))
    pieces = _pieces(text, different, rows, which, kind)
    most = unrolled.lanes * (_most(rows, ends - count - BEHIND) + 6) + 4  # more than is added
    return RowTable(ends - count - BEHIND, count, rows, pieces, most)


def _preparing(text: Features, here: Sequence[Here], which: Ints, kind: Ints) -> Ints:
    """Instructions that prepare each row, of this kind on a lane of `here[which]`."""
    keys, of_key = np.unique(which * KINDS + kind, return_inverse=True)
    counts = [prepared(text, here[key // KINDS], key % KINDS) for key in keys.tolist()]
    return np.array(counts, dtype=np.int64)[of_key]


def _pieces(text: Features, here: Sequence[Here], rows: Ints, which: Ints, kind: Ints) -> Ints:
    """The moves of all different pieces; each row gets told which are its own, of this kind on a
    lane of `here[which]`."""
    keys, of_key = np.unique(which * KINDS + kind, return_inverse=True)
    pieces = [start(text, here[key // KINDS], key % KINDS) for key in keys.tolist()]
    ends = np.array([0, *accumulate(map(len, pieces))], dtype=np.int64)
    rows[:, PIECE], rows[:, PIECE_END] = ends[of_key], ends[of_key + 1]
    return np.array([move for piece in pieces for move in piece], dtype=np.int64).reshape(-1, 2)


def _applying(costs: Costs, kind: Ints, sizes: Ints) -> Ints:
    """Cycles to take what is staged to the vector."""
    combines = (kind & COMBINES) > 0
    by_rate = np.where(combines, -(-sizes // costs.apply_rate), -(-sizes // costs.move_rate))
    return np.where(combines, sizes * costs.combine, by_rate) if costs.maps else by_rate


def _most(rows: Ints, first: Ints) -> int:
    """The most moves of rows of a lane that are started by one task: rows without operations, and
    one that has some. Instructions alone are counted together with those before them."""
    count = rows[:, PIECE_END] - rows[:, PIECE]
    moves = np.concatenate(([0], np.cumsum(np.where(count > 1, count + 1, 0))))
    begins = np.append(False, rows[:, OPERATIONS] > 0)  # behind each row that has operations
    begins[first] = True
    return int(np.diff(moves[begins]).max(initial=0))
