"""A tree along an order that is not contiguous: how far ranks are, and which links detours have in
common."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import accumulate, pairwise

from collc.base.values import dataclass
from collc.plan import Phase
from collc.plan.geometry import line_of

Link = Hashable


@dataclass(frozen=True)
class Distances:
    """By rank: how many hops it is from the root, and how many vectors are on their way over one of
    the links from it to the rank before at the same time."""

    at: Sequence[int]
    load: Sequence[int]


def distances(phase: Phase, reach: int) -> Distances:
    """Of every rank; vectors of ranks that are more than `reach` apart do not meet. Without gaps
    ranks are a hop apart and have links of their own."""
    if phase.path is None or not phase.detours:
        return Distances(range(line_of(phase).ranks), [1] * line_of(phase).ranks)
    line = line_of(phase)
    detours = {(detour.pes[0], detour.pes[-1]): detour.pes for detour in phase.detours}
    pes = [phase.path.places[line.coordinate(rank)] for rank in range(line.ranks)]
    hops = [list(pairwise(detours.get((pe, near), (pe, near)))) for near, pe in pairwise(pes)]
    users: defaultdict[Link, list[int]] = defaultdict(list)
    for index, links in enumerate(hops):
        for link in links:
            users[link].append(index)
    load = [1] + [
        max(sum(abs(other - index) <= reach for other in users[link]) for link in links)
        for index, links in enumerate(hops)
    ]
    return Distances([0, *accumulate(map(len, hops))], load)
