"""All pre-order trees of a size, and how long one takes under the cost model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

Children = tuple[tuple[int, ...], ...]


def all_trees(ranks: int) -> Iterator[Children]:
    """Every tree whose numbering in pre-order is 0..ranks - 1."""
    if ranks == 1:
        yield ((),)
    for first in range(1, ranks):
        for upper in _trees(first):
            for lower in _trees(ranks - first):
                moved = tuple(tuple(child + first for child in children) for children in lower)
                yield ((*upper[0], first), *upper[1:], *moved)


@cache
def _trees(ranks: int) -> tuple[Children, ...]:
    return tuple(all_trees(ranks))


def model_cycles(children: Children, length: int, ramp: int) -> int:
    """Cycles until rank 0 has taken the last element.

    A rank takes its children's vectors one after the other and sends its sum while it takes the
    last; vectors are streams without gaps, so it is enough to follow each one's first element.
    """
    first_sent = [1] * len(children)
    last_taken = [0] * len(children)
    for rank in reversed(range(len(children))):
        for child in children[rank]:
            arrival = first_sent[child] + 2 * ramp + (child - rank) + 1
            start = max(arrival, last_taken[rank] + 1)
            first_sent[rank], last_taken[rank] = start, start + length - 1
    return last_taken[0]
