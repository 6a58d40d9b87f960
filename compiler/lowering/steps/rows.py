"""The step tables of a line: what each lane of each PE does, row by row, in order.

A row sends (or relays) and receives. Along circuits a lane sends what it has to send and receives
what it has to receive, each in order: there is one operation a transfer at both ends, and the n-th
sent and the n-th received of a step make a row. Relays have one order for a lane of the whole line:
step by step, and within a step by source, the farthest on its way first, so that no PE waits for a
transfer that is queued behind one that it has to relay:

    forward:   PE 3 sends, PE 2 sends, PE 1 sends, ...     backward: PE 0 sends, PE 1 sends, ...

Every PE follows that order, doing what concerns it: sending its own, passing on, receiving.
"""

import numpy as np
from collc_evaluator import step_rows

from collc.base.columns import Bools, Columns, Ints, joined
from collc.base.values import dataclass
from collc.lowering.steps.traffic import Traffic
from collc.lowering.steps.wiring import Wiring
from collc.plan import AREA_BITS, RowKind
from collc.plan.entries import FIELDS
from collc.spec.exchange import Slicing

SENDS, RELAYS = int(RowKind.SENDS), int(RowKind.RELAYS)
RECEIVES, STAGES, APPLIES = int(RowKind.RECEIVES), int(RowKind.STAGES), int(RowKind.APPLIES)
MOST = 0x7FFE  # elements of one operation, on any target


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows `start[slot]` to `start[slot + 1] - 1` are those of slot = place * lanes + lane, in
    order: [slots + 1]. `time` [rows] is twice the step, one more where a stage is applied; `values`
    [rows, FIELDS] are kind, first slice out and how many, first slice in and how many. What is
    relayed is counted in elements, and its first slice means nothing; where lengths are those of
    the run it is given in slices like all else."""

    start: Ints
    time: Ints
    values: Ints


@dataclass(frozen=True, eq=False)
class _Transfers(Columns):
    """Transfers in the order in which lanes do them, as `collc_evaluator.step_rows` takes them; all
    fields are [transfers]."""

    slot: Ints
    step: Ints
    hops: Ints
    time: Ints
    first: Ints
    into: Ints
    count: Ints
    passed: Ints
    taken: Ints


def rows_of(
    traffic: Traffic,
    wiring: Wiring,
    slicing: Slicing | None,
    stages: tuple[Bools, Ints],
    *,
    may_turn: bool,
) -> tuple[Rows, bool]:
    """The rows of all places, with neighbours that one operation can do made one, and whether
    elements then go from the last to the first: where that leaves fewer along relays, nothing is
    staged and they `may_turn`. `stages` are which transfers are staged, and in which area, both
    [transfers].

    What is relayed counts together, as far as one operation takes so many elements; sending,
    receiving and applying go on over slices that follow each other. Without a `slicing` lengths are
    not known, and relays count slices, of which neighbours go together.
    """
    staged, areas = stages
    transfers = _transfers(traffic, wiring, slicing, staged, areas)
    if staged.any():
        transfers = joined([transfers, _applied(traffic, wiring, staged, areas)])
        transfers = transfers.chosen(np.argsort(transfers.time, kind="stable"))
    longest = int(transfers.passed[transfers.hops > 1].max(initial=0))
    *tables, backward = step_rows(
        transfers,
        wiring.has_lane.shape,
        RowKind,
        circuits=bool(wiring.circuits),
        most=None if slicing is None else max(1, MOST - longest + 1),
        may_turn=may_turn and not staged.any(),
    )
    return Rows(*tables), backward


def _transfers(
    traffic: Traffic, wiring: Wiring, slicing: Slicing | None, staged: Bools, areas: Ints
) -> _Transfers:
    """Each transfer, from the lane it is sent on to the one it is received on."""
    far = traffic.target - traffic.source
    lanes = len(wiring.lanes)
    passed, order = traffic.count, None
    if wiring.circuits:
        begin, end = _lanes_of(traffic, wiring)
        hops = np.ones_like(far)
    else:
        begin = end = np.where(far > 0, 0, lanes - 1)
        hops = np.abs(far)
        order = np.lexsort((-hops, -np.sign(far) * traffic.source, traffic.step))
        if slicing is not None:
            bounds = slicing.bounds
            passed = bounds[traffic.first + traffic.count] - bounds[traffic.first]
    slot = traffic.source * lanes + begin
    found = _Transfers(
        slot,
        (traffic.target * lanes + end - slot) // hops,
        hops,
        2 * traffic.step,
        traffic.first,
        traffic.into,
        traffic.count,
        passed,
        RECEIVES | np.where(staged, STAGES | (areas << AREA_BITS), _combining(traffic)),
    )
    return found if order is None else found.chosen(order)


def _applied(traffic: Traffic, wiring: Wiring, staged: Bools, areas: Ints) -> _Transfers:
    """Staged transfers once more, behind their step, on the first lane that the PE has."""
    which = np.flatnonzero(staged)
    place, none = traffic.target[which], np.zeros_like(which)
    return _Transfers(
        place * len(wiring.lanes) + wiring.has_lane.argmax(axis=1)[place],
        none,
        none,
        2 * traffic.step[which] + 1,
        none,
        traffic.into[which],
        traffic.count[which],
        none,
        APPLIES | _combining(traffic)[which] | (areas[which] << AREA_BITS),
    )


def _combining(traffic: Traffic) -> Ints:
    """Whether what arrives is combined, in the kind of its row."""
    return np.where(traffic.combines, int(RowKind.COMBINES), 0)


def _lanes_of(traffic: Traffic, wiring: Wiring) -> tuple[Ints, Ints]:
    """The lanes at both ends of each transfer, [transfers]."""
    width = int(max(traffic.source.max(), traffic.target.max())) + 1
    ends = np.array(sorted(wiring.circuits), dtype=np.int64)
    lanes = np.array([wiring.circuits[pair] for pair in map(tuple, ends.tolist())], dtype=np.int64)
    circuit = np.searchsorted(ends @ (width, 1), traffic.source * width + traffic.target)
    return lanes[circuit, 0], lanes[circuit, 1]


def padded(rows: Rows, lanes: int) -> list[Ints]:
    """For each lane all places' rows side by side, [places, rows, FIELDS]: every place gets as many
    rows of a time as any other has; those that it lacks do nothing, and no PE gets them."""
    slot = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    times, time = np.unique(rows.time, return_inverse=True)
    begins = np.flatnonzero(np.append(True, (slot[1:] != slot[:-1]) | (time[1:] != time[:-1])))
    number = np.arange(len(slot)) - np.repeat(begins, np.diff(np.append(begins, len(slot))))
    found = []
    for lane in range(lanes):
        own = slot % lanes == lane
        most = np.ones(len(times), dtype=np.int64)
        np.maximum.at(most, time[own], number[own] + 1)
        start = np.cumsum(most) - most
        table = np.zeros(((len(rows.start) - 1) // lanes, int(most.sum()), FIELDS), dtype=np.int64)
        table[slot[own] // lanes, start[time[own]] + number[own]] = rows.values[own]
        found.append(table)
    return found
