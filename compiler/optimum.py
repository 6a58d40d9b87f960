"""The pre-order tree that reduces a line fastest under the cost model.

Let T(p) be the time, from a common start, in which rank 0 of the best tree of p ranks has combined
all vectors of B elements. The tree is `join(first, second)`: a first part of i ranks, and one whose
root sends its sum over i hops to rank 0, which takes it after all else. With v = 2 ramp + 1, the
price of a rank that passes a sum on:

    T(1) = 0
    T(p) = min over i of max(T(i) + B, T(p - i) + i + v)        (i < p - 1)
                         max(T(i) + B, B + p + 2 ramp)          (i = p - 1: a single rank sends)

The first entry of each maximum grows with i and the second falls, and where they cross only moves
up with p. So the crossing is followed instead of searched, and the times of all lines up to P
take O(P) steps for one B or, as arrays, for a whole sweep of B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
Children = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best trees of 1 to P ranks for several lengths.

    `times[p, k]` is T(p) in cycles for the k-th length; `first[p, k]` is how many ranks the first
    part has.
    """

    times: Times
    first: Times

    def tree(self, ranks: int, length_index: int) -> Children:
        """For each rank of a best tree, the ranks it receives from, in order of receipt."""
        children: list[list[int]] = [[] for _ in range(ranks)]
        parts = [(0, ranks)]
        while parts:
            root, size = parts.pop()
            while size > 1:
                first = int(self.first[size, length_index])
                children[root].append(root + first)
                parts.append((root + first, size - first))
                size = first
            children[root].reverse()
        return tuple(map(tuple, children))


def optimum(ranks: int, lengths: Times, ramp: int) -> Optimum:
    """The best trees of 1 to `ranks` ranks for every length in `lengths` (elements, at least 1).

    `ramp` is the cycles between a processor and its router. Of equally fast first parts the
    smaller one is taken, if it is next to the crossing.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    columns = np.arange(len(lengths))
    times = np.zeros((ranks + 1, len(lengths)), dtype=np.int64)
    first = np.zeros_like(times)
    crossing = np.ones_like(columns)

    def stored(size: Times) -> Times:
        return times[size, columns] + lengths

    def received(size: Times) -> Times:
        alone = ranks_now - size == 1
        passed_on = times[ranks_now - size, columns] + size + 2 * ramp + 1
        return np.where(alone, lengths + ranks_now + 2 * ramp, passed_on)

    for ranks_now in range(2, ranks + 1):
        while True:
            below = (crossing < ranks_now - 1) & (stored(crossing) < received(crossing))
            if not below.any():
                break
            crossing = crossing + below
        before = np.maximum(crossing - 1, 1)
        at_crossing = np.maximum(stored(crossing), received(crossing))
        at_before = np.maximum(stored(before), received(before))
        first[ranks_now] = np.where(at_before <= at_crossing, before, crossing)
        times[ranks_now] = np.minimum(at_before, at_crossing)
    return Optimum(times, first)
