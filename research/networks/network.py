"""The kinds of networks that a schedule can be followed on.

Times are nanoseconds, sizes bytes. Each field is a key of the file that describes the network
(docs/networks.md); the sources of the rules are in docs/sources.md.
"""

from __future__ import annotations

from enum import Enum

from collc.base.values import dataclass


@dataclass(frozen=True)
class Uniform:
    """Every pair of ranks is equally far apart; a rank sends and receives one message at a time.

    A message of m bytes takes alpha + m beta where its ends exchange in both directions. One that
    only goes one way costs `one_way_alpha` times alpha and `one_way_beta` times m beta. Combining
    costs gamma for each byte.
    """

    alpha_ns: float
    beta_ns_per_byte: float
    gamma_ns_per_byte: float = 0.0
    one_way_alpha: float = 1.0
    one_way_beta: float = 1.0


class Topology(Enum):
    """How the ranks of one dimension are connected."""

    RING = "ring"
    SWITCH = "switch"
    FULL = "full"


@dataclass(frozen=True)
class Dimension:
    """One dimension of a machine for training: a ring, a switch, or all ranks with each other.

    `links` leave each rank, each with `bandwidth_gib_per_s`. Handing a message over takes
    `endpoint_delay_ns`. The vector is cut into `splits`, one after the other. A sum that goes on
    waits for three accesses to a memory with `memory_bytes_per_ns`. With `counts_hops` a message
    that goes farther than to a neighbour of a ring pays the latency for every link.
    """

    topology: Topology
    links: int
    latency_ns: float
    bandwidth_gib_per_s: float
    endpoint_delay_ns: float = 0.0
    splits: int = 1
    memory_bytes_per_ns: float = 500_000.0
    counts_hops: bool = False


@dataclass(frozen=True)
class TwoTier:
    """Cliques of cliques: `supernodes` of `nodes` of `cores`, ranks in this order.

    All nodes of a supernode are linked with each other (L1), and all supernodes (L2): the link from
    s to t leaves node t mod `nodes` of s and ends at node s mod `nodes` of t. Each link has two
    directions. What stays within a node is not counted.
    """

    supernodes: int
    nodes: int
    cores: int

    @property
    def ranks(self) -> int:
        """How many cores there are."""
        return self.supernodes * self.nodes * self.cores


@dataclass(frozen=True)
class Mesh:
    """The wafer's own mesh, as large as the program's grid: links between neighbouring PEs."""


Network = Uniform | Dimension | TwoTier | Mesh

KINDS: dict[str, type[Network]] = {
    "uniform": Uniform,
    "dimension": Dimension,
    "two-tier": TwoTier,
    "mesh": Mesh,
}
