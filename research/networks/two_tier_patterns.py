"""Collectives that use all links of a two-tier network, as bytes between its nodes.

The root is core 0 of the first node. A node's own cores exchange at no cost, so that the first core
speaks for its node. Sizes are bytes: of what each core has or gets, or of the whole vector.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from collc_research.networks.network import TwoTier
from collc_research.networks.two_tier import Loads

Message = tuple[int, int, float]


class _Nodes:
    """The nodes of a network by supernode and place, and which of them are linked."""

    def __init__(self, network: TwoTier) -> None:
        self.supernodes = range(network.supernodes)
        self.places = range(network.nodes)
        self._nodes = network.nodes

    def node(self, supernode: int, place: int) -> int:
        """The number of a node."""
        return supernode * self._nodes + place

    def link(self, here: int, there: int) -> tuple[int, int]:
        """The two ends of the link from one supernode to another."""
        ends = self.node(here, there % self._nodes), self.node(there, here % self._nodes)
        return ends[0], ends[1]

    def spread(self, supernode: int, place: int, size: float) -> list[Message]:
        """From a node to all others of its supernode."""
        here = self.node(supernode, place)
        return [(here, self.node(supernode, to), size) for to in self.places if to != place]

    def exchange(self, supernode: int, size: float) -> list[Message]:
        """From all nodes of a supernode to all others of it."""
        return [m for place in self.places for m in self.spread(supernode, place, size)]


def _loads(network: TwoTier, messages: Iterable[Message]) -> Loads:
    columns = list(zip(*messages, strict=True))
    loads = Loads(network)
    source, destination = (np.array(column, dtype=np.int64) for column in columns[:2])
    loads.add_nodes(source, destination, np.array(columns[2]))
    return loads


def scatter(network: TwoTier, per_core: float) -> Loads:
    """To the nodes linked with each supernode, over, and to the nodes there."""
    at = _Nodes(network)
    per_node = per_core * network.cores
    per_supernode = per_node * network.nodes
    messages: list[Message] = []
    for there in at.supernodes[1:]:
        leaves, enters = at.link(0, there)
        messages += [(0, leaves, per_supernode), (leaves, enters, per_supernode)]
    for supernode in at.supernodes:
        messages += at.spread(supernode, 0, per_node)
    return _loads(network, messages)


def broadcast(
    network: TwoTier, total: float, *, repeats: bool = False, all_forward: bool = False
) -> Loads:
    """Chunks to the root's neighbours, each of them to one supernode, to all nodes there, on to all
    other supernodes, and to all nodes.

    `repeats`: a node also spreads the chunk that its supernode has spread before. `all_forward`:
    all supernodes send to all others, not only those that were given a chunk. Raises ValueError if
    there are too few supernodes to give every chunk to another one.
    """
    if network.supernodes <= network.nodes:
        raise ValueError("a broadcast needs more supernodes than nodes in one")
    at, chunk = _Nodes(network), total / network.nodes
    messages = at.spread(0, 0, chunk)
    given = {}  # the chunk that each chosen supernode has
    for place in at.places:
        there = place or network.nodes
        given[there] = place
        leaves, enters = at.link(0, there)
        messages.append((leaves, enters, chunk))
        messages += at.spread(there, enters % network.nodes, chunk)
    arrived: dict[int, set[int]] = {0: set(at.places)}
    for here in at.supernodes[1:] if all_forward else given:
        for there in at.supernodes[1:]:
            if there != here:
                leaves, enters = at.link(here, there)
                messages.append((leaves, enters, chunk))
                arrived.setdefault(there, set()).add(enters % network.nodes)
    for there, place in given.items() if repeats else ():
        arrived[there].add(place)
    for there, places in arrived.items():
        for place in sorted(places):
            messages += at.spread(there, place, chunk)
    return _loads(network, messages)


def allgather(network: TwoTier, per_core: float, *, own: bool = False) -> Loads:
    """Nodes exchange, supernodes exchange, and what arrives is spread.

    `own`: a node also spreads its own supernode's part, as if that were linked with itself.
    """
    at = _Nodes(network)
    per_node = per_core * network.cores
    per_supernode = per_node * network.nodes
    messages: list[Message] = []
    for here in at.supernodes:
        messages += at.exchange(here, per_node)
        for there in at.supernodes:
            leaves, enters = at.link(there, here)
            if there != here:
                messages.append((leaves, enters, per_supernode))
            if there != here or own:
                messages += at.spread(here, enters % network.nodes, per_supernode)
    return _loads(network, messages)


def _reduced_by_supernode(at: _Nodes, network: TwoTier, total: float) -> list[Message]:
    """Every supernode's part of the vector is in it, reduced, a share of it at each node."""
    part = total / network.supernodes
    messages: list[Message] = []
    for here in at.supernodes:
        for there in at.supernodes:
            owner = at.link(here, there)[0]
            others = (at.node(here, place) for place in at.places)
            messages += [(other, owner, part) for other in others if other != owner]
            if there != here:
                messages.append((*at.link(here, there), part))
        messages += at.exchange(here, part / network.nodes)
    return messages


def reduce_scatter(network: TwoTier, total: float) -> Loads:
    """Slices to the nodes linked with their supernode, reduced there, over, and reduced again."""
    return _loads(network, _reduced_by_supernode(_Nodes(network), network, total))


def reduce(network: TwoTier, total: float, *, exchanges: bool = False) -> Loads:
    """The same, then every supernode's slice is collected, and sent to the root.

    `exchanges`: the nodes of a supernode send their shares to all of it.
    """
    at, part = _Nodes(network), total / network.supernodes
    share = part / network.nodes
    messages = _reduced_by_supernode(at, network, total)
    for here in at.supernodes:
        first = at.node(here, 0)
        shares = at.exchange(here, share)
        messages += shares if exchanges else [m for m in shares if m[1] == first]
        if here:
            messages.append((first, 0, part))
    return _loads(network, messages)


def usual_cost(operation: str, total: float, ranks: int) -> float:
    """Time, in betas, of the usual algorithm for long vectors on any network."""
    sent = (ranks - 1) / ranks * total
    return 2 * sent if operation in ("broadcast", "reduce") else sent


def printed_cost(operation: str, total: float, network: TwoTier) -> float:
    """Time, in betas, that is printed for the two-tier algorithm."""
    nodes, supernodes = network.nodes, network.supernodes
    every = 1 / nodes + 1 / supernodes + 1 / (supernodes * nodes)
    parts = {
        "scatter": max(1 / nodes, 1 / supernodes),
        "allgather": every,
        "broadcast": 3 / nodes,
        "reduce-scatter": every,
        "reduce": 1 / nodes + 2 / supernodes,
    }
    return parts[operation] * total
