"""A lower bound on the cycles of any tree, for what is reduced by trees and then broadcast.

The argument is in docs/bounds.md. A tree here: every PE sends one vector to one PE nearer the
root, along the line, in any order of elements and of receipt. So this bounds what a better tree
could gain; a program that reduces parts of the vector by different trees may be faster, down to
the bound of `collc.cost.bound`. What every emitted program spends on starting up is counted
(`collc.cost.start_up`). In reading order: the phases of a plan, a line.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from collc.base.columns import Ints
from collc.cost.bound import words_of
from collc.cost.start_up import Children, cycles_of_few, of_few_elements
from collc.plan.geometry import Multicast, line_of, multicast_of
from collc.plan.plan import Phase, Plan
from collc.target import Target

LOADS = 16  # a link that may carry more vectors than this may carry any number
_FEW = 2  # elements of vectors whose start-up is measured
# PEs of a row that does so: in a star the root's code is over before the words of all others have
# come, and with more PEs no sooner.
_STARS = (2, 16)
MOST_RANKS = 1200  # beyond it, on paths through grids, only distance and length count


def tree_bound_of(plan: Plan) -> int | None:
    """The bound in cycles of a collective that is alone; None where something else than trees and
    multicasts runs."""
    phases, target = plan.phases, plan.target
    reductions = [line_of(phase) for phase in phases if phase.order is not None]
    multicasts = [one for one in map(multicast_of, phases) if one is not None]
    if not reductions or len(reductions) + len(multicasts) < len(phases):
        return None
    if any(line.bypass for line in reductions):
        return None
    contract = plan.collective.contract
    sides, hops = tuple(_sides_of(phases)), tuple(map(_farthest, multicasts))
    few = of_few_elements(contract, _FEW)
    start_up = min(
        cycles_of_few(few, tuple(map(_star, ranks)), len(hops), target)
        - _model(
            [(of,) for of in ranks], [sum(ranks) - len(ranks)] * len(hops), words_of(few), target
        )
        for ranks in ((2, row)[-len(sides) :] for row in _STARS)
    )
    return _model(sides, hops, words_of(contract), target) + start_up


def _star(ranks: int) -> Children:
    return (tuple(range(1, ranks)), *((),) * (ranks - 1))


def _model(sides: Sequence[Sequence[int]], hops: Sequence[int], length: int, target: Target) -> int:
    """The least that reductions of lines with so many ranks on a side, or on each of two, and
    multicasts that go so many hops take, one behind the other."""
    reduced = sum(_meeting(ranks, length, target) for ranks in sides)
    return reduced + sum(length - 1 + target.visit + target.hop * far for far in hops)


def _sides_of(phases: Sequence[Phase]) -> Iterator[tuple[int, ...]]:
    """The ranks of lines, of both sides where two phases are those of a root within its line."""
    trees = [phase for phase in phases if phase.order is not None]
    while trees:
        both = len(trees) > 1 and _meets(*trees[:2])
        yield tuple(line_of(phase).ranks for phase in trees[: 1 + both])
        trees = trees[1 + both :]


def _meets(phase: Phase, following: Phase) -> bool:
    """Whether the following phase is the other side of the same root."""
    if following.order is phase.order:
        return False
    return following.axis == phase.axis and line_of(following).home == line_of(phase).home


def _meeting(ranks: Sequence[int], length: int, target: Target) -> int:
    """The root takes the sum of the other side when its own side is done."""
    own, *other = (least_cycles(side, length, target.visit, target.hop) for side in ranks)
    return max(own + length, *other) if other else own


def _farthest(way: Multicast) -> int:
    return max(way.x, way.width - 1 - way.x) + max(way.y, way.height - 1 - way.y)


def least_cycles(ranks: int, length: int, visit: int, hop: int = 1) -> int:
    """Cycles below which no tree reduces a line of `ranks` ranks to its end under the cost model.

    A rank `i` hops out and `d` visits deep sends its last element in cycle `length` at the
    earliest, and then there are i hop + d visit cycles to go. So, of a tree that needs `length` +
    h cycles, a rank has h - i hop - d visit cycles to spare.
    """
    if ranks == 1:
        return 0
    if ranks > MOST_RANKS:
        return length + hop * (ranks - 1) + visit
    enough = _reachable(1 << (ranks - 1).bit_length(), length, visit, hop)
    return length + int(np.searchsorted(enough, ranks))


@lru_cache(maxsize=64)
def _reachable(ranks: int, length: int, visit: int, hop: int) -> Ints:
    """Entry h: the most ranks that a tree needing `length` + h cycles can have, up to `ranks`.

    `most[x, h]` is the largest number of ranks below one that has h cycles to spare, itself
    included, if no link carries more than x vectors.
    """
    loads = min(LOADS, ranks - 1)
    spare = (visit + hop) * (ranks - 1)  # enough for a chain
    most: Ints = np.ones((loads + 1, spare + 1), dtype=np.int64)
    for left in range(visit + hop, spare + 1):
        allowed = 1 + (left - visit - hop) // length
        for load in range(1, loads + 1):
            if load > allowed:
                most[load:, left] = most[load - 1, left]
                break
            if load == LOADS:
                most[load, left] = (left - visit) // hop + 1
                break
            most[load, left] = _most(most, load, left, visit, hop)
        if most[loads, left] >= ranks:
            return np.array(most[loads, : left + 1])
    return np.array(most[loads])


def _most(most: Ints, load: int, left: int, visit: int, hop: int) -> int:
    """The last to be received is `near` places on: so many ranks are in front of it, under the
    link load that its vector leaves, and below it as many as it has to spare for."""
    nearer = min(int(most[load - 1, left]), (left - visit) // hop)
    below = most[load, left - visit - hop : left - visit - hop * nearer - 1 : -hop]
    if left - visit - hop * nearer == 0:
        below = most[load, left - visit - hop :: -hop][:nearer]
    return int(max(most[load - 1, left], (below + _COUNT[:nearer]).max()))


_COUNT: Ints = np.arange(1, 2 * MOST_RANKS)
