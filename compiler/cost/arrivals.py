"""When elements come to a PE, which go before its code: stretches of cycles, in order.

They are arrays [stretch, 0 from when, 1 up to when, x, y]; -1 for none.
"""

import numpy as np

from collc.cost.predict import Times, lines_of
from collc.cost.processor import Stall
from collc.plan.unrolled import Ints
from collc.schedule import ReducePhase


def never(shape: tuple[int, ...], stretches: int = 0) -> Times:
    """So many of none."""
    return np.full((stretches, 2, *shape), -1, dtype=np.int64)


def with_lines(
    comes: Times,
    pattern: ReducePhase,
    lines: Ints,
    of_ranks: list[list[tuple[int, int]]],
    at: list[int],
) -> Times:
    """Stretches with those of ranks, which are `at` places of some lines."""
    more = max(map(len, of_ranks)) - len(comes)
    if more > 0:
        comes = np.concatenate((comes, never(comes.shape[2:], more)))
    for place, stretches in zip(at, of_ranks, strict=True):
        for number, stretch in enumerate(stretches):
            for side, cycle in enumerate(stretch):
                lines_of(comes[number, side], pattern)[lines, place] = cycle
    return comes


def of_multicast(
    stall: Stall, start: Times, end: Times, copies: Times, root: tuple[int, int]
) -> Times:
    """When a multicast's elements come, as in `Ends`: before the root stops, and behind."""
    behind, stops = stall.behind[root], stall.cycles[root]
    early = np.maximum(start - stops, copies)
    found = np.stack(
        (
            np.stack((early, np.minimum(early + behind, start + behind))),
            np.stack((start + behind, end + 1)),
        )
    )
    if not stops:
        found = np.stack((start, end + 1))[None]
    found[..., root[0], root[1]] = -1
    return found
