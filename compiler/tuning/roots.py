"""Where along a line a sum should meet from which it is told to all: the roots that are tried."""

from functools import lru_cache

import numpy as np

from collc.language.optimal_tree import optimum
from collc.spec import Collective
from collc.spec.simd import wavelets
from collc.target import Target

FEW_RANKS = 64  # of a line on which more roots are tried


def commutes(collective: Collective) -> bool:
    """Whether ranks may be combined in any order."""
    operation = collective.contract.operation
    return operation is None or operation.commutative


def roots(collective: Collective, ranks: int, target: Target) -> tuple[int, ...]:
    """Rank 0, the middle and the root that the model says is best; rank 0 alone where ranks are
    combined in their order."""
    if not commutes(collective):
        return (0,)
    length = wavelets(collective.contract, target, combines=True) or 1  # the token of a barrier
    best = best_root(ranks, length, target)
    return tuple(dict.fromkeys((0, best, ranks // 2)))


def roots_of_line(collective: Collective, ranks: int, target: Target) -> tuple[int, ...]:
    """Those, and on short lines the ends of the first third and quarter: there a start-up that the
    model does not know decides."""
    few = (ranks // 3, ranks // 4) if commutes(collective) and ranks <= FEW_RANKS else ()
    return tuple(dict.fromkeys((*roots(collective, ranks, target), *few)))


@lru_cache(maxsize=256)
def best_root(ranks: int, length: int, target: Target) -> int:
    """Where an allreduce along a line should meet: the best trees of the model on both sides, and
    the longer way back."""
    through = target.visit
    times = optimum(ranks, np.array([length]), target.ramp).times[:, 0]
    root = np.arange((ranks + 1) // 2)
    behind = ranks - 1 - root
    own = times[root + 1] + np.where(root > 0, length, 0)
    meets = np.maximum(own, times[behind] + through + 1)
    meets[0] = times[ranks]
    return int((meets + behind).argmin())
