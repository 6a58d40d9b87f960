"""Link use on a two-tier direct network: bytes over each link of each class.

A message goes L1 - L2 - L1 at most: to the node of its supernode that is linked with the other one,
over, and on. Bytes are floats, since a vector may be cut into parts that are no whole bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from collc.base.values import dataclass
from collc_research.networks.network import TwoTier
from collc_research.networks.rounds import Ints, Round

Bytes = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClassUse:
    """Of the `links` of a class, how many carry something, and the least and the most of it."""

    links: int
    used: int
    least_bytes: float
    most_bytes: float


@dataclass(frozen=True)
class LinkUse:
    """Links within supernodes (L1) and between them (L2)."""

    l1: ClassUse
    l2: ClassUse


class Loads:
    """Bytes over every link so far: `l1[s, a, b]` from node a to b of s, `l2[s, t]` from s to t."""

    def __init__(self, network: TwoTier) -> None:
        self.network = network
        supernodes, nodes = network.supernodes, network.nodes
        self.l1: Bytes = np.zeros((supernodes, nodes, nodes))
        self.l2: Bytes = np.zeros((supernodes, supernodes))

    def add_ranks(self, source: Ints, destination: Ints, size: Bytes | Ints | float) -> None:
        """Messages between cores."""
        cores = self.network.cores
        self.add_nodes(source // cores, destination // cores, size)

    def add_nodes(self, source: Ints, destination: Ints, size: Bytes | Ints | float) -> None:
        """Messages between nodes, which are numbered through all supernodes."""
        nodes = self.network.nodes
        sizes: Bytes = np.broadcast_to(np.asarray(size, dtype=np.float64), source.shape)
        (here, out), (there, last) = divmod(source, nodes), divmod(destination, nodes)
        stays = here == there
        self._within(here[stays], out[stays], last[stays], sizes[stays])
        here, out, there, last = (index[~stays] for index in (here, out, there, last))
        sizes = sizes[~stays]
        leaves, enters = there % nodes, here % nodes
        self._within(here, out, leaves, sizes)
        np.add.at(self.l2, (here, there), sizes)
        self._within(there, enters, last, sizes)

    def _within(self, supernode: Ints, first: Ints, second: Ints, size: Bytes) -> None:
        moves = first != second
        np.add.at(self.l1, (supernode[moves], first[moves], second[moves]), size[moves])

    def use(self) -> LinkUse:
        """The summary by class."""
        network = self.network
        within = network.supernodes * network.nodes * (network.nodes - 1)
        between = network.supernodes * (network.supernodes - 1)
        return LinkUse(_summary(self.l1, within), _summary(self.l2, between))


def _summary(loads: Bytes, links: int) -> ClassUse:
    used = loads[loads > 0]
    if not len(used):
        return ClassUse(links, 0, 0.0, 0.0)
    return ClassUse(links, len(used), float(used.min()), float(used.max()))


def two_tier_use(network: TwoTier, rounds: Iterable[Round], element_bytes: int) -> LinkUse:
    """Link use of a schedule with at most as many ranks as the network has."""
    loads = Loads(network)
    for one in rounds:
        loads.add_ranks(one.source, one.destination, one.elements * element_bytes)
    return loads.use()
