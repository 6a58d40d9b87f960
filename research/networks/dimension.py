"""One dimension of ring, switch or full connection, by the analytical rule of ASTRA-sim.

Parts of the vector, one after the other, go through the rounds of the schedule. A round takes its
hand-over and its longest message; a last hand-over ends a part. A message of m bytes takes
hops * latency + m / bandwidth, rounded down. Whoever hands on what it has just combined waits for
its memory, which reads twice and writes once; a sum that only goes back to where its last part
came from, as in the middle of halving and doubling, does not.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from collc.base.values import dataclass
from collc_research.networks.network import Dimension, Topology
from collc_research.networks.rounds import Ints, Round

_ACCESSES = 3
_GIB = 1 << 30


@dataclass(frozen=True)
class DimensionCost:
    """`time_ns` of all parts; `rounds` of one of them; `bytes_sent` by the busiest rank."""

    time_ns: int
    rounds: int
    splits: int
    bytes_sent: int


def dimension_cost(
    network: Dimension,
    parts: Iterable[tuple[Iterable[Round], int]],
    ranks: int,
    element_bytes: int,
) -> DimensionCost:
    """Follow every part of the vector: the rounds of one, and how many there are of its length."""
    total, most_rounds, splits = 0.0, 0, 0
    sent = np.zeros(ranks, dtype=np.int64)
    for rounds, times in parts:
        time, count, before = network.endpoint_delay_ns, 0, None
        for one in rounds:
            size = one.elements * element_bytes
            time += _round(network, one, before, size, ranks)
            np.add.at(sent, one.source, size * times)
            count, before = count + 1, one
        total += time * times if count else 0.0
        most_rounds, splits = max(most_rounds, count), splits + times
    return DimensionCost(int(total), most_rounds, splits, int(sent.max(initial=0)))


def _round(network: Dimension, one: Round, before: Round | None, size: Ints, ranks: int) -> float:
    """The time of a round, its hand-over included."""
    message = np.floor(_latency(network, one, ranks) + size / _bytes_per_ns(network, ranks))
    memory = _ACCESSES * np.floor(size / network.memory_bytes_per_ns)
    longest = (message + memory * _hands_on(one, before, ranks)).max()
    return network.endpoint_delay_ns + float(longest)


def _bytes_per_ns(network: Dimension, ranks: int) -> float:
    """Bandwidth between two ranks: of a ring both directions, of a full connection one link."""
    links = {
        Topology.RING: network.links - network.links % 2 or 1,
        Topology.SWITCH: network.links,
        Topology.FULL: network.links // max(ranks - 1, 1),
    }
    return links[network.topology] * network.bandwidth_gib_per_s * _GIB / 1e9


def _latency(network: Dimension, one: Round, ranks: int) -> Ints:
    """What each message pays for its way, whole nanoseconds."""
    hops = np.ones(len(one), dtype=np.int64)
    if network.topology is Topology.SWITCH:
        hops *= 2
    elif network.topology is Topology.RING and network.counts_hops:
        hops = (one.destination - one.source) % ranks
        if network.links > 1:
            hops = np.minimum(hops, ranks - hops)
    return (hops * network.latency_ns).astype(np.int64)


def _hands_on(one: Round, before: Round | None, ranks: int) -> npt.NDArray[np.bool_]:
    """For each message, whether its sender has just combined something from another rank."""
    if before is None or not before.combined.any():
        return np.zeros(len(one), dtype=np.bool_)
    sums = before.combined > 0
    receivers, counts = np.unique(before.destination[sums], return_counts=True)
    at = np.minimum(np.searchsorted(receivers, one.source), len(receivers) - 1)
    arrived = np.where(receivers[at] == one.source, counts[at], 0)
    back = np.isin(
        one.source * ranks + one.destination,
        before.destination[sums] * ranks + before.source[sums],
    )
    return np.asarray(arrived > back)
