"""Links between routers that the ways of several lanes use.

A link carries one element a cycle over all colors; `collc.cost.cycles` keeps account of who takes
it when.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from collc.cost.cycles import take
from collc.cost.line_state import NONE, NOW, STORED, Arrays
from collc.plan.unrolled import NOWHERE, Ints

Link = Hashable  # on a line the place behind which it is, and its direction


@dataclass
class SharedLinks:
    """The links that lanes of several places use.

    `lanes` are those that use them; the links of `lanes[n]` are the entries `first[n]` to
    `first[n + 1]` of `entries`, which has [0, entry] the number of a link and [1, entry] how many
    hops behind the sender it is. `taken` is the table of the cycles in which links are taken.
    """

    lanes: list[int]
    first: list[int]
    entries: Ints
    taken: Ints


def rebuilt(line: Arrays) -> Arrays:
    """The table of taken links without what is over, and with room for more."""
    clock, taken = line.clock, line.taken
    known = taken[:, (taken[0] != NONE) & (taken[1] >= clock[NOW])]
    table = _table(known.shape[1] + line.links.shape[1])
    clock[STORED] = 0
    for link, cycle in known.T.tolist():
        take(clock, table, link, cycle)
    return line._replace(taken=table)


def _table(entries: int) -> Ints:
    """An empty table, with room for some times as many entries as there are to be stored."""
    return np.full((2, 8 << entries.bit_length()), NONE, dtype=np.int64)


def links_on_line(target: Ints, lanes: int) -> dict[int, list[Link]]:
    """The links that each lane's elements use, one after the other; `target` is where they go."""
    return {
        lane: list(_way(lane // lanes, to // lanes))
        for lane, to in enumerate(target.tolist())
        if to != NOWHERE
    }


def shared_links(used: Mapping[int, Sequence[Link]], lanes: int) -> SharedLinks:
    """`used` are the links of each lane that sends."""
    places: defaultdict[Link, set[int]] = defaultdict(set)
    for lane, way in used.items():
        for link in way:
            places[link].add(lane // lanes)
    numbers = {link: number for number, link in enumerate(places) if len(places[link]) > 1}
    ways = {
        lane: [(numbers[link], hops) for hops, link in enumerate(way) if link in numbers]
        for lane, way in used.items()
    }
    ways = {lane: way for lane, way in ways.items() if way}
    entries = [entry for way in ways.values() for entry in way]
    first = [0, *accumulate(map(len, ways.values()))]
    return SharedLinks(
        list(ways),
        first,
        np.array(entries, dtype=np.int64).reshape(-1, 2).T.copy(),
        _table(len(entries)),
    )


def _way(start: int, end: int) -> Iterator[Link]:
    step = 1 if end > start else -1
    return ((place, step) for place in range(start, end, step))
