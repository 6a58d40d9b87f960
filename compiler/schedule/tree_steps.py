"""A tree as steps: chunk by chunk, ranks take their children's in order, then send their own.

So trees go along an order that is not contiguous, where vectors of several ranks cannot pass
routers on the colors of a tree (D66). Operands stand as in the tree: children combine one after the
other.
"""

from collections.abc import Iterator, Sequence
from math import isqrt

import numpy as np

from collc.spec.exchange import Moves

STEP = 150  # about what a step costs besides its elements, in cycles

Children = Sequence[Sequence[int]]


def chunks_of(children: Children, length: int) -> int:
    """Into how many chunks a vector is cut: the best number where every step costs the same."""
    deepest = max(_depths(children))
    return max(1, min(length, isqrt(max(deepest - 1, 0) * length // STEP)))


def steps_of_tree(children: Children, ranks: Sequence[int], chunks: int) -> tuple[Moves, ...]:
    """The steps of a tree whose rank r is rank `ranks[r]` of the line."""
    depths = np.array(_depths(children))
    on_line = np.array(ranks)
    groups = list(_by_turn(children))
    steps = []
    for step in range(int(depths.max()) + chunks - 1):
        for parents, sources in groups:
            chunk = step - (depths.max() - depths[sources])
            now = (chunk >= 0) & (chunk < chunks)
            if now.any():
                ends = on_line[sources[now]], on_line[parents[now]]
                steps.append(_moves(*ends, chunk[now]))
    return tuple(steps)


def _depths(children: Children) -> list[int]:
    """How far each rank is from the root; ranks stand behind their parents."""
    depths = [0] * len(children)
    for rank, below in enumerate(children):
        for child in below:
            depths[child] = depths[rank] + 1
    return depths


def _by_turn(children: Children) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Parents and children: the first of each, then the second of those that have one, ..."""
    for turn in range(max(map(len, children))):
        pairs = [(rank, below[turn]) for rank, below in enumerate(children) if len(below) > turn]
        parents, sources = np.array(pairs).T
        yield parents, sources


def _moves(source: np.ndarray, destination: np.ndarray, chunk: np.ndarray) -> Moves:
    whole = np.ones(len(source), np.int32)
    return Moves(
        source=source.astype(np.int32),
        destination=destination.astype(np.int32),
        slice=chunk.astype(np.int32),
        into=chunk.astype(np.int32),
        count=whole,
        combines=np.ones(len(source), np.bool_),
    )
