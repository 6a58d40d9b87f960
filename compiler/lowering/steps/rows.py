"""Parts to rows: what a lane can do at the same time, step by step, with the ends of steps marked.

A row sends (or relays) and receives. Along circuits the n-th part sent and the n-th received of a
step make a row. On relay lanes a part that is received right behind one that is sent does.
"""

from dataclasses import dataclass

import numpy as np

from collc.base.columns import Bools, Columns, Ints, joined, stable_order
from collc.lowering.steps.parts import APPLIES, RECEIVES, RELAYS, SENDS, Parts
from collc.plan import RowKind

ENDS = int(RowKind.ENDS)
FIELDS = 5  # kind, out, out_count, into, into_count


@dataclass(frozen=True, eq=False)
class Rows(Columns):
    """Rows sorted by place, lane, time and their order; `values` is [rows, FIELDS]."""

    place: Ints
    lane: Ints
    time: Ints
    values: Ints


def rows_of(parts: Parts, circuits: bool) -> Rows:
    """The rows of all places; a lane with nothing to do in a step of its PE gets an empty one."""
    key, number = _numbered(parts, circuits)
    which, index = np.unique(key * len(parts) + number, return_inverse=True)
    values = np.zeros((len(which), FIELDS), dtype=np.int64)
    np.bitwise_or.at(values[:, 0], index, parts.kind)
    out = (parts.kind & (SENDS | RELAYS)) > 0
    values[index[out], 1], values[index[out], 2] = parts.first[out], parts.count[out]
    into = (parts.kind & (RECEIVES | APPLIES)) > 0
    values[index[into], 3], values[index[into], 4] = parts.first[into], parts.count[into]
    one = np.zeros(len(which), dtype=np.int64)
    one[index] = np.arange(len(parts))
    rows = Rows(parts.place[one], parts.lane[one], parts.time[one], values)
    return _with_ends(_with_empty_rows(rows))


def _numbered(parts: Parts, circuits: bool) -> tuple[Ints, Ints]:
    """For each part the number of its (place, lane, time), and that of its row therein."""
    key: Ints = np.cumsum(_changes(parts)) - 1
    sends = (parts.kind & SENDS) > 0
    if circuits:
        number = np.where(sends, _running(key, sends), _running(key, ~sends))
        return key, number
    receives = (parts.kind & RECEIVES) > 0
    beside: Bools = np.zeros(len(parts), dtype=np.bool_)
    beside[1:] = sends[:-1] & receives[1:] & (key[1:] == key[:-1])
    return key, _running(key, ~beside)


def _changes(of: Parts | Rows) -> Bools:
    """Which entries differ from the one before in place, lane or time; the first does."""
    new = np.ones(len(of), dtype=np.bool_)
    new[1:] = (
        (of.place[1:] != of.place[:-1])
        | (of.lane[1:] != of.lane[:-1])
        | (of.time[1:] != of.time[:-1])
    )
    return new


def _running(key: Ints, counts: Bools) -> Ints:
    """For each entry, how many before it within its key count (itself included, less one)."""
    ones = counts.astype(np.int64)
    total: Ints = np.cumsum(ones)
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    before: Ints = (total - ones)[starts]
    result: Ints = total - before[key] - 1
    return result


def _with_empty_rows(rows: Rows) -> Rows:
    """In each step in which a PE does something, all lanes that it has get a row."""
    lanes = int(rows.lane.max()) + 1
    if lanes == 1:
        return rows
    times = int(rows.time.max()) + 1
    step_of = rows.place * times + rows.time
    used = np.sort(step_of)
    used = used[np.append(True, used[1:] != used[:-1])]  # several times as fast as np.unique
    added = []
    for lane in range(lanes):
        here = rows.lane == lane
        asked = used[np.isin(used // times, rows.place[here])]
        lacking = asked[np.isin(asked, step_of[here], invert=True)]
        empty = np.zeros((len(lacking), FIELDS), dtype=np.int64)
        added.append(Rows(lacking // times, np.full_like(lacking, lane), lacking % times, empty))
    rows = joined([rows, *added])
    # stable: rows of a step keep their order
    return rows.chosen(stable_order(rows.place, rows.lane, rows.time))


def _with_ends(rows: Rows) -> Rows:
    """The last row of a lane in a step says so; a PE with one lane has nothing to wait for."""
    last = np.append(_changes(rows)[1:], True)
    lane_changes = (rows.place[1:] != rows.place[:-1]) | (rows.lane[1:] != rows.lane[:-1])
    end_of_lane = np.append(lane_changes, True)
    lanes = np.zeros(int(rows.place.max()) + 1, dtype=np.int64)
    np.add.at(lanes, rows.place[end_of_lane], 1)
    rows.values[:, 0] |= np.where(last & (lanes[rows.place] > 1), ENDS, 0)
    return rows


def padded(rows: Rows, places: int) -> list[Ints]:
    """For each lane all places' rows side by side, [places, rows, FIELDS]: every place gets as many
    rows of a step as any other has; those that it lacks do nothing, and no PE gets them."""
    found = []
    for lane in range(int(rows.lane.max()) + 1):
        own = rows.chosen(rows.lane == lane)
        group = own.place * (int(rows.time.max()) + 1) + own.time
        new = np.concatenate(([True], group[1:] != group[:-1]))
        number = _running(np.cumsum(new) - 1, np.ones(len(group), dtype=np.bool_))
        times = np.unique(rows.time)
        slot_of = np.searchsorted(times, own.time)
        most = np.ones(len(times), dtype=np.int64)
        np.maximum.at(most, slot_of, number + 1)
        start = np.cumsum(most) - most
        table = np.zeros((places, int(most.sum()), FIELDS), dtype=np.int64)
        table[own.place, start[slot_of] + number] = own.values
        found.append(table)
    return found
