"""Links between routers that the ways of several lanes use.

A link carries one element a cycle over all colors. An element uses the links of its way one after
the other, each a hop later than the one before, or as soon after that as the link is free.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from collc.unrolled import NOWHERE, Ints

MANY = 4096  # cycles in which a link is taken, before those that are over are dropped

Link = Hashable  # on a line the place behind which it is, and its direction


@dataclass
class Links:
    """By sending lane (place * lanes + lane), for those that share links with another place: the
    links shared, and how many hops behind the sender. By link: when it is taken. By cycle: the
    lanes at which elements arrive in it."""

    ways: dict[int, list[tuple[Link, int]]]
    hop: int
    taken: defaultdict[Link, set[int]] = field(default_factory=lambda: defaultdict(set))
    arriving: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def send(self, lane: int, target: int, now: int, delay: int) -> None:
        """An element leaves; where nothing is in its way, it arrives after `delay`."""
        waited = 0
        for link, hops in self.ways[lane]:
            taken = self.taken[link]
            while now + waited + hops * self.hop in taken:
                waited += 1
            taken.add(now + waited + hops * self.hop)
            if len(taken) > MANY:
                self.taken[link] = {cycle for cycle in taken if cycle >= now}
        self.arriving[now + delay + waited].append(target)


def links_on_line(target: Ints, lanes: int) -> dict[int, list[Link]]:
    """The links that each lane's elements use, one after the other; `target` is where they go."""
    return {
        lane: list(_way(lane // lanes, to // lanes))
        for lane, to in enumerate(target.tolist())
        if to != NOWHERE
    }


def shared_links(used: Mapping[int, Sequence[Link]], lanes: int, hop: int) -> Links:
    """`used` are the links of each lane that sends."""
    ways = {lane: list(zip(links, count())) for lane, links in used.items()}
    places: defaultdict[Link, set[int]] = defaultdict(set)
    for lane, way in ways.items():
        for link, _ in way:
            places[link].add(lane // lanes)
    shared = {
        lane: [(link, hops) for link, hops in way if len(places[link]) > 1]
        for lane, way in ways.items()
    }
    return Links({lane: way for lane, way in shared.items() if way}, hop)


def _way(start: int, end: int) -> Iterator[Link]:
    step = 1 if end > start else -1
    return ((place, step) for place in range(start, end, step))
