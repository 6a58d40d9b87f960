"""Claims of the ASTRA-sim exercise: an all-reduce on eight accelerators, to the nanosecond.

The three algorithms are the prelude's, followed on the networks of the exercise.
"""

from __future__ import annotations

from functools import cache

from collc_research.networks.cost import cost_on
from collc_research.networks.dimension import DimensionCost
from collc_research.networks.network import Dimension, Topology
from collc_research.reproduce.claims import Claim, Depth, Finding, Verdict, exact, holds, wording
from collc_research.reproduce.patterns import allreduction

RANKS = 8
END_NS = 1  # what every total has beyond its collective; the tables' column of computing is 0
MIB = 1 << 20
RING_US = {
    1: 45.681,
    2: 62.761,
    4: 96.921,
    8: 165.297,
    16: 302.077,
    32: 575.609,
    64: 1122.673,
    128: 2216.745,
    256: 4404.945,
    512: 8781.373,
    1024: 17534.229,
}
TOPOLOGIES_US = {Topology.RING: 17534.229, Topology.SWITCH: 35026.693, Topology.FULL: 5004.925}
_ALGORITHMS = {
    Topology.RING: ("ring_allreduce", 2),
    Topology.SWITCH: ("halving_doubling", 1),
    Topology.FULL: ("direct_allreduce", 7),
}


@cache
def _cost(topology: Topology, mebibytes: int) -> DimensionCost:
    algorithm, links = _ALGORITHMS[topology]
    network = Dimension(
        topology,
        links,
        latency_ns=500,
        bandwidth_gib_per_s=50,
        endpoint_delay_ns=10,
        splits=4,
    )
    found = cost_on(allreduction(algorithm, RANKS, mebibytes * MIB // 4), network)
    assert isinstance(found, DimensionCost)
    return found


def _total_us(topology: Topology, mebibytes: int) -> float:
    return (_cost(topology, mebibytes).time_ns + END_NS) / 1000


def _sizes(_: Depth) -> Finding:
    ours = {size: _total_us(Topology.RING, size) for size in RING_US}
    equal = sum(ours[size] == us for size, us in RING_US.items())
    shown = ", ".join(f"{us:.3f}" for us in ours.values())
    return exact(equal == len(RING_US), f"{equal} of {len(RING_US)}: {shown}")


def _topologies(_: Depth) -> Finding:
    ours = {topology: _total_us(topology, 1024) for topology in TOPOLOGIES_US}
    equal = sum(ours[topology] == us for topology, us in TOPOLOGIES_US.items())
    shown = ", ".join(f"{us:.3f}" for us in ours.values())
    return exact(equal == len(TOPOLOGIES_US), f"{equal} of {len(TOPOLOGIES_US)}: {shown}")


def _sent(_: Depth) -> Finding:
    pairs = [(Topology.RING, size) for size in RING_US]
    pairs += [(topology, 1024) for topology in TOPOLOGIES_US]
    ratios = {_cost(t, size).bytes_sent / (size * MIB) for t, size in pairs}
    return exact(ratios == {1.75}, f"{', '.join(map(str, sorted(ratios)))} times the size")


def _ratios(_: Depth) -> Finding:
    ring, switch, full = (_total_us(topology, 1024) for topology in TOPOLOGIES_US)
    shown = f"ring / full {ring / full:.2f}, switch / ring {switch / ring:.2f}"
    note = "bandwidth alone gives (n - 1) / 2 = 3.5 and the ratio of links, 2"
    return holds(full < ring < switch, shown, note)


def _exposed(_: Depth) -> Finding:
    """Nothing is computed beside the one collective, so that all of it is exposed."""
    printed = [*((Topology.RING, size, us) for size, us in RING_US.items())]
    printed += [(topology, 1024, us) for topology, us in TOPOLOGIES_US.items()]
    equal = sum(_total_us(topology, size) == us for topology, size, us in printed)
    note = "the nanosecond beyond the collective counts as exposed, since computing is 0"
    return exact(equal == len(printed), f"{equal} of {len(printed)} times equal the total", note)


_E, _H, _S = Verdict.EXACT, Verdict.HOLDS, Verdict.SLIP
_GROUPS = "one of the three groups of computing, kind and size is left out"

CLAIMS = (
    Claim(
        "A01",
        "all-reduce of 1 to 1024 MB, us",
        "8 on a ring",
        ", ".join(f"{us:.3f}" for us in RING_US.values()),
        _E,
        _sizes,
    ),
    Claim(
        "A02",
        "ring, switch, full connection, us",
        "8, 1 GB",
        ", ".join(f"{us:.3f}" for us in TOPOLOGIES_US.values()),
        _E,
        _topologies,
    ),
    Claim("A03", "bytes that a rank sends", "8, all sizes and kinds", "1.75 times", _E, _sent),
    Claim("A04", "which is fastest", "8, 1 GB", "full, ring, switch", _H, _ratios),
    Claim("A05", "exposed communication", "both tables", "all, computing 0 us", _E, _exposed),
    Claim(
        "A06",
        "name of an input",
        "slides",
        "exercise_2_2.txt",
        _S,
        wording("a script, exercise_2_2.sh", "and a quote is not closed before a colon"),
    ),
    Claim(
        "A07",
        "workload of 5 MB",
        "slides",
        "two groups of three words",
        _S,
        wording("three groups, as in its own table", _GROUPS),
    ),
)
