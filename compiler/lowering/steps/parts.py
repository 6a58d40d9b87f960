"""What each lane of each PE has a part in, in the order in which the lane does it.

Along circuits a lane sends what it has to send and receives what it has to receive, each in order.
Relays have one order for a lane of the whole line: step by step, and within a step by source, the
farthest on its way first, so that nobody waits for what stands behind what he has to let pass:

    forward:   PE 3 sends, PE 2 sends, PE 1 sends, ...     backward: PE 0 sends, PE 1 sends, ...

Every PE follows that order, doing what concerns it: sending its own, passing on, receiving.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from collc.lowering.steps.traffic import Bools, Ints, Traffic
from collc.lowering.steps.wiring import Wiring
from collc.plan import AREA_BITS, RowKind
from collc.steps import Slicing

SENDS, RELAYS = int(RowKind.SENDS), int(RowKind.RELAYS)
RECEIVES, APPLIES = int(RowKind.RECEIVES), int(RowKind.APPLIES)
MOST = 0x7FFE  # elements of one operation, on any target


@dataclass(frozen=True, eq=False)
class Parts:
    """Arrays, one entry a part. `time` is twice the step, one more where a stage is applied;
    `kind` bits of `RowKind`; `first` and `count` the slices, of a relay 0 and the elements, or the
    slices, too, where their lengths are those of the run."""

    place: Ints
    lane: Ints
    time: Ints
    order: Ints
    kind: Ints
    first: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.place)

    def chosen(self, which: Ints | Bools) -> Parts:
        """The entries that an index selects."""
        return Parts(*(getattr(self, field.name)[which] for field in fields(self)))


def joined(parts: list[Parts]) -> Parts:
    """All parts in one record."""
    return Parts(
        *(np.concatenate([getattr(one, field.name) for one in parts]) for field in fields(Parts))
    )


def parts_of(
    traffic: Traffic, wiring: Wiring, slicing: Slicing | None, staged: Bools, areas: Ints
) -> Parts:
    """The parts of all places, sorted by place, lane and time, then in order. Without a `slicing`
    lengths are not known, and relays count slices."""
    bits = np.where(traffic.combines, int(RowKind.COMBINES), 0)
    received = RECEIVES | np.where(staged, int(RowKind.STAGES) | (areas << AREA_BITS), bits)
    laid = (
        _along_circuits(traffic, wiring, received)
        if wiring.circuits
        else _by_relays(traffic, wiring, slicing, received)
    )
    parts = joined([laid, _applied(traffic, wiring, staged, bits, areas)])
    return parts.chosen(np.lexsort((parts.order, parts.time, parts.lane, parts.place)))


def _along_circuits(traffic: Traffic, wiring: Wiring, received: Ints) -> Parts:
    """Each transfer at its source and at its target."""
    width = int(max(traffic.source.max(), traffic.target.max())) + 1
    lanes = np.zeros((width * width, 2), dtype=np.int64)
    for (source, target), pair in wiring.circuits.items():
        lanes[source * width + target] = pair
    lane = lanes[traffic.source * width + traffic.target]
    order = np.arange(len(traffic))
    ones = np.ones(len(traffic), dtype=np.int64)
    time = 2 * traffic.step
    sent = Parts(
        traffic.source,
        lane[:, 0],
        time,
        order,
        SENDS * ones,
        traffic.first,
        traffic.count,
    )
    taken = Parts(traffic.target, lane[:, 1], time, order, received, traffic.into, traffic.count)
    return joined([sent, taken])


def _by_relays(traffic: Traffic, wiring: Wiring, slicing: Slicing | None, received: Ints) -> Parts:
    """Each transfer at all places from its source to its target."""
    way = np.sign(traffic.target - traffic.source)
    far = np.abs(traffic.target - traffic.source)
    of = np.repeat(np.arange(len(traffic)), far + 1)
    hop = np.arange(len(of)) - np.repeat(np.cumsum(far + 1) - far - 1, far + 1)
    is_first, is_last = hop == 0, hop == far[of]
    kind = np.where(is_first, SENDS, np.where(is_last, received[of], RELAYS))
    lanes = {"forward": 1, "backward": -1}
    signs = [lanes[name] for name in wiring.lanes]
    lane = np.where(way == signs[0], 0, len(signs) - 1)
    order = np.argsort(np.lexsort((np.arange(len(traffic)), -far, -way * traffic.source)))
    passed, first = traffic.count, traffic.first
    if slicing is not None:
        bounds = slicing.bounds
        passed = bounds[traffic.first + traffic.count] - bounds[traffic.first]
        first = np.zeros_like(first)
    return Parts(
        traffic.source[of] + way[of] * hop,
        lane[of],
        2 * traffic.step[of],
        order[of],
        kind,
        np.where(is_last, traffic.into[of], np.where(is_first, traffic.first[of], first[of])),
        np.where(is_first | is_last, traffic.count[of], passed[of]),
    )


def _applied(traffic: Traffic, wiring: Wiring, staged: Bools, bits: Ints, areas: Ints) -> Parts:
    """Staged transfers once more, behind their step, on the first lane that the PE has."""
    first_lane = np.array(
        [
            next(
                (n for n, pair in enumerate(zip(ins, outs, strict=True)) if any(pair)),
                0,
            )
            for ins, outs in zip(wiring.receives, wiring.sends, strict=True)
        ],
        dtype=np.int64,
    )
    which = np.flatnonzero(staged)
    return Parts(
        traffic.target[which],
        first_lane[traffic.target[which]],
        2 * traffic.step[which] + 1,
        which.astype(np.int64),
        APPLIES | bits[which] | (areas[which] << AREA_BITS),
        traffic.into[which],
        traffic.count[which],
    )


def merged(parts: Parts, circuits: bool, way: int = 1, *, by_length: bool = False) -> Parts:
    """Neighbouring parts of a lane that one operation can do, made one.

    What is relayed counts together; sending, receiving and applying go on over slices that follow
    each other. Circuits keep one operation a transfer at both ends, so that the n-th of a step is
    the n-th for both. `by_length` says that relays count slices, which then have to follow, too.
    """
    if len(parts) < 2:
        return parts
    starts = np.flatnonzero(np.concatenate(([True], ~_joins(parts, circuits, way, by_length))))
    counts = np.add.reduceat(parts.count, starts)
    firsts = np.minimum.reduceat(parts.first, starts)
    return Parts(**(vars(parts.chosen(starts)) | {"first": firsts, "count": counts}))


def _joins(parts: Parts, circuits: bool, way: int, by_length: bool) -> Bools:
    """Which parts go on from the one before them."""
    before, here = parts.chosen(slice(None, -1)), parts.chosen(slice(1, None))  # type: ignore[arg-type]
    alike = np.ones(len(here), dtype=np.bool_)
    for field in ("place", "lane", "time", "kind"):
        alike &= getattr(before, field) == getattr(here, field)
    if circuits:
        alike &= (here.kind & APPLIES) > 0
    next_to = (
        before.first + before.count == here.first
        if way > 0
        else here.first + here.count == before.first
    )
    follows = next_to
    if not by_length:
        follows = np.where(here.kind == RELAYS, ~_full(parts, alike), next_to)
    result: Bools = alike & follows
    return result


def _full(parts: Parts, alike: Bools) -> Bools:
    """Where relays that could go on begin anew, so that no operation takes more than MOST elements;
    `alike` says which parts could join the one before them."""
    passed = np.where(parts.kind == RELAYS, parts.count, 0)
    before: Ints = np.cumsum(passed) - passed
    starts = np.concatenate(([True], ~alike))
    before -= before[np.flatnonzero(starts)][np.cumsum(starts) - 1]
    filled = before // (MOST - int(passed.max()) + 1)
    result: Bools = filled[1:] != filled[:-1]
    return result
