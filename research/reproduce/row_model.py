"""The cost model of reductions on a row of PEs, by following vectors instead of formulas.

An element that a PE sends in a cycle is used by the PE `d` hops on 2 ramp + d + 1 cycles later. A
PE takes the vectors of its children one after the other, in the order of the tree, and sends its
sum while it takes the last. Nothing else takes time.
"""

from __future__ import annotations

from collections.abc import Sequence

from collc_research.reproduce.closed_forms import RAMP

Tree = Sequence[Sequence[int]]


def cycles(
    children: Tree, length: int, positions: Sequence[int] | None = None, ramp: int = RAMP
) -> int:
    """Cycles until rank 0 has the last element; ranks stand at `positions`, 0, 1, 2, ... if not
    given.

    A vector is a stream without gaps, so it is enough to follow its first element.
    """
    places = range(len(children)) if positions is None else positions
    first_sent = [1] * len(children)
    last_taken = [0] * len(children)
    for rank in reversed(range(len(children))):
        for child in children[rank]:
            way = 2 * ramp + abs(places[child] - places[rank]) + 1
            start = max(first_sent[child] + way, last_taken[rank] + 1)
            first_sent[rank], last_taken[rank] = start, start + length - 1
    return last_taken[0]


def cycles_by_element(children: Tree, length: int, ramp: int = RAMP) -> int:
    """The same, every element followed by itself."""
    sent = [list(range(1, length + 1)) for _ in children]
    for rank in reversed(range(len(children))):
        busy = 0
        for child in children[rank]:
            taken = []
            for leaves in sent[child]:
                busy = max(busy + 1, leaves + 2 * ramp + child - rank + 1)
                taken.append(busy)
            sent[rank] = taken
    return sent[0][-1] if children[0] else 0


def chain(ranks: int) -> Tree:
    """Every rank receives from the next."""
    return [[rank + 1] if rank + 1 < ranks else [] for rank in range(ranks)]


def star(ranks: int) -> Tree:
    """Rank 0 receives from all."""
    return [list(range(1, ranks)), *([] for _ in range(ranks - 1))]
