"""What each lane of each PE has a part in, in the order in which the lane does it.

Along circuits a lane sends what it has to send and receives what it has to receive, each in order.
Relays have one order for a lane of the whole line: step by step, and within a step by source, the
farthest on its way first, so that nobody waits for what stands behind what he has to let pass:

    forward:   PE 3 sends, PE 2 sends, PE 1 sends, ...     backward: PE 0 sends, PE 1 sends, ...

Every PE follows that order, doing what concerns it: sending its own, passing on, receiving.
"""

from dataclasses import dataclass, replace

import numpy as np
from collc_evaluator import lay

from collc.base.columns import Bools, Columns, Ints, alternating, joined, stable_order
from collc.lowering.steps.traffic import Traffic
from collc.lowering.steps.wiring import Wiring
from collc.plan import AREA_BITS, RowKind
from collc.spec.exchange import Slicing

SENDS, RELAYS = int(RowKind.SENDS), int(RowKind.RELAYS)
RECEIVES, APPLIES = int(RowKind.RECEIVES), int(RowKind.APPLIES)
COUNT = 2  # the column of a part's count
MOST = 0x7FFE  # elements of one operation, on any target


@dataclass(frozen=True, eq=False)
class Parts(Columns):
    """Arrays, one entry a part. `time` is twice the step, one more where a stage is applied;
    `kind` bits of `RowKind`; `first` and `count` the slices, of a relay 0 and the elements, or the
    slices, too, where their lengths are those of the run."""

    place: Ints
    lane: Ints
    time: Ints
    kind: Ints
    first: Ints
    count: Ints


def along_circuits(traffic: Traffic, wiring: Wiring, staged: Bools, areas: Ints) -> Parts:
    """The parts of all places, sorted by place, lane and time, then in the order of the transfers.

    There is one operation a transfer at both ends, so that the n-th of a step is the n-th for both;
    only what is applied to slices that follow each other is made one.
    """
    lane = _lanes_of(traffic, wiring)
    time = 2 * traffic.step
    kinds = np.full(len(traffic), SENDS)
    taken = _taken(traffic, staged, areas)
    parts = alternating(
        Parts(traffic.source, lane[:, 0], time, kinds, traffic.first, traffic.count),
        Parts(traffic.target, lane[:, 1], time, taken, traffic.into, traffic.count),
    )
    if staged.any():
        parts = joined([parts, _applied(traffic, wiring, staged, areas)])
    parts = parts.chosen(stable_order(parts.place * len(wiring.lanes) + parts.lane, parts.time))
    if not staged.any():
        return parts
    starts = np.flatnonzero(np.concatenate(([True], ~_applied_on(parts)))[: len(parts)])
    counts = np.add.reduceat(parts.count, starts.astype(np.intp))  # takes no wider indices
    return replace(parts.chosen(starts), count=counts)


def _lanes_of(traffic: Traffic, wiring: Wiring) -> Ints:
    """The lanes at both ends of each transfer, [transfers, 2]."""
    width = int(max(traffic.source.max(), traffic.target.max())) + 1
    ends = np.array(sorted(wiring.circuits), dtype=np.int64)
    lanes = np.array([wiring.circuits[pair] for pair in map(tuple, ends.tolist())], dtype=np.int64)
    circuit = np.searchsorted(ends @ (width, 1), traffic.source * width + traffic.target)
    found: Ints = lanes[circuit]
    return found


def _applied_on(parts: Parts) -> Bools:
    """Which parts but the first apply the slices that follow those of the part before them."""
    alike: Bools = (parts.kind[1:] & APPLIES) > 0
    for of in (parts.place, parts.lane, parts.time, parts.kind):
        alike &= of[:-1] == of[1:]
    alike &= parts.first[:-1] + parts.count[:-1] == parts.first[1:]
    return alike


def by_relays(
    traffic: Traffic,
    wiring: Wiring,
    slicing: Slicing | None,
    stages: tuple[Bools, Ints],
    *,
    may_turn: bool,
) -> tuple[Parts, bool]:
    """The parts of all places, in the order of their lanes, with neighbours that one operation can
    do made one, and whether elements then go from the last to the first: where that leaves fewer
    parts, nothing is staged and they `may_turn`.

    What is relayed counts together, as far as one operation takes so many elements; sending,
    receiving and applying go on over slices that follow each other. Without a `slicing` lengths are
    not known, and relays count slices, which then have to follow, too.
    """
    transfers = _transfers(traffic, wiring, slicing, *stages)
    most = max(1, MOST - int(transfers.between[transfers.hops > 1, COUNT].max(initial=0)) + 1)
    lanes = len(wiring.lanes)
    may_turn = may_turn and not stages[0].any()
    slots = len(wiring.sends) * lanes
    counts, parts, turned = lay(transfers, slots, most, slicing is None, may_turn)
    slot = np.repeat(np.arange(slots), counts)
    return Parts(slot // lanes, slot % lanes, *parts.T), turned


@dataclass(frozen=True, eq=False)
class _Transfers(Columns):
    """Transfers in the order in which lanes do them, as `collc_evaluator.lay` takes them: a slot is
    a lane of a PE; at the beginning, between and at the end [transfer, (kind, first, count)]."""

    slot: Ints
    step: Ints
    hops: Ints
    time: Ints
    beginning: Ints
    between: Ints
    end: Ints


def _transfers(
    traffic: Traffic, wiring: Wiring, slicing: Slicing | None, staged: Bools, areas: Ints
) -> _Transfers:
    """Each transfer, and what is applied behind steps, which is done at one PE."""
    way = np.sign(traffic.target - traffic.source)
    far = np.abs(traffic.target - traffic.source)
    ways = {"forward": 1, "backward": -1}
    lanes = len(wiring.lanes)
    lane = np.where(way == ways[wiring.lanes[0]], 0, lanes - 1)
    passed, first = traffic.count, traffic.first
    if slicing is not None:
        bounds = slicing.bounds
        passed = bounds[traffic.first + traffic.count] - bounds[traffic.first]
        first = np.zeros_like(first)
    moved = _Transfers(
        traffic.source * lanes + lane,
        way * lanes,
        far,
        2 * traffic.step,
        _columns(SENDS, traffic.first, traffic.count),
        _columns(RELAYS, first, passed),
        _columns(_taken(traffic, staged, areas), traffic.into, traffic.count),
    ).chosen(np.lexsort((-far, -way * traffic.source, traffic.step, lane)))
    applied = _applied(traffic, wiring, staged, areas)
    none = np.zeros_like(applied.place)
    nothing = _columns(0, none, none)
    done = _Transfers(
        applied.place * lanes + applied.lane,
        none,
        none,
        applied.time,
        nothing,
        nothing,
        _columns(applied.kind, applied.first, applied.count),
    )
    both = joined([moved, done])
    return both.chosen(stable_order(both.time))


def _columns(kind: Ints | int, first: Ints, count: Ints) -> Ints:
    """Numbers of parts side by side."""
    return np.stack((np.broadcast_to(kind, first.shape), first, count), axis=1)


def _bits(traffic: Traffic) -> Ints:
    """Whether what arrives is combined, in the kind of its part."""
    return np.where(traffic.combines, int(RowKind.COMBINES), 0)


def _taken(traffic: Traffic, staged: Bools, areas: Ints) -> Ints:
    """The kinds of the parts in which transfers are received."""
    stages = int(RowKind.STAGES) | (areas << AREA_BITS)
    return RECEIVES | np.where(staged, stages, _bits(traffic))


def _applied(traffic: Traffic, wiring: Wiring, staged: Bools, areas: Ints) -> Parts:
    """Staged transfers once more, behind their step, on the first lane that the PE has."""
    which = np.flatnonzero(staged)
    return Parts(
        traffic.target[which],
        wiring.has_lane.argmax(axis=1)[traffic.target[which]],
        2 * traffic.step[which] + 1,
        APPLIES | _bits(traffic)[which] | (areas[which] << AREA_BITS),
        traffic.into[which],
        traffic.count[which],
    )
