"""The pre-order tree that reduces a line fastest under the cost model.

Let T(p) be the time, from a common start, in which rank 0 of the best tree of p ranks has combined
all vectors of B elements, and S(p) the same for a rank that sends the sum on while it takes the
last vector. The tree is `join(first, second)`: a first part of i ranks, and one whose root sends
its sum over i hops to rank 0, which takes it after all else. With v = 2 ramp + 1, the price of a
rank that passes a sum on, and `turn`, what it costs a rank to begin sending after it has stored:

    T(1) = 0
    T(p) = min over i of max(T(i) + B, arrival)
    S(p) = min over i of max(T(i) + B + (turn if i > 1), arrival)
    arrival = S(p - i) + i + v, or B + p + 2 ramp where i = p - 1: a single rank sends

The first entry of each maximum grows with i and the arrival falls, and where they cross only moves
up with p. So the crossings are followed instead of searched, and the times of all lines up to P
take O(P) steps for one B or, as arrays, for a whole sweep of B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Time = Callable[[Integers], Integers]  # of the number of ranks in the first part
Children = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best trees of 1 to P ranks for several lengths.

    `times[p, k]` is T(p) in cycles for the k-th length; `first[p, k]` and `first_sending[p, k]` are
    how many ranks the first part has, for a root and for a rank that sends.
    """

    times: Integers
    first: Integers
    first_sending: Integers

    def tree(self, ranks: int, length_index: int) -> Children:
        """For each rank of a best tree, the ranks it receives from, in order of receipt."""
        children: list[list[int]] = [[] for _ in range(ranks)]
        parts = [(0, ranks, self.first)]
        while parts:
            root, size, first = parts.pop()
            while size > 1:
                behind = int(first[size, length_index])
                children[root].append(root + behind)
                parts.append((root + behind, size - behind, self.first_sending))
                size, first = behind, self.first
            children[root].reverse()
        return tuple(map(tuple, children))


def optimum(ranks: int, lengths: Integers, ramp: int, turn: int = 0) -> Optimum:
    """The best trees of 1 to `ranks` ranks for every length in `lengths` (elements, at least 1).

    `ramp` is the cycles between a processor and its router. Of equally fast first parts the
    smaller one is taken, if it is next to the crossing.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    shape = (ranks + 1, len(lengths))
    stored, sending = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    first, first_sending = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    columns = np.arange(len(lengths))
    root_crossing, sender_crossing = np.ones_like(columns), np.ones_like(columns)

    for size in range(2, ranks + 1):

        def arrival(part: Integers, size: int = size) -> Integers:
            alone = size - part == 1
            passed_on = sending[size - part, columns] + part + 2 * ramp + 1
            return np.where(alone, lengths + size + 2 * ramp, passed_on)

        def busy(part: Integers) -> Integers:
            return stored[part, columns] + lengths

        def busy_and_turned(part: Integers) -> Integers:
            return busy(part) + np.where(part > 1, turn, 0)

        root_crossing = _moved_up(root_crossing, size, busy, arrival)
        sender_crossing = _moved_up(sender_crossing, size, busy_and_turned, arrival)
        first[size], stored[size] = _better(root_crossing, busy, arrival)
        first_sending[size], sending[size] = _better(sender_crossing, busy_and_turned, arrival)
    return Optimum(stored, first, first_sending)


def _moved_up(crossing: Integers, size: int, busy: Time, arrival: Time) -> Integers:
    """The smallest first part, from the last crossing on, whose root is busy until the arrival."""
    while True:
        below = (crossing < size - 1) & (busy(crossing) < arrival(crossing))
        if not below.any():
            return crossing
        crossing = crossing + below


def _better(crossing: Integers, busy: Time, arrival: Time) -> tuple[Integers, Integers]:
    """Of the first parts on both sides of the crossing the faster one, and its time."""
    before = np.maximum(crossing - 1, 1)
    at_crossing = np.maximum(busy(crossing), arrival(crossing))
    at_before = np.maximum(busy(before), arrival(before))
    part = np.where(at_before <= at_crossing, before, crossing)
    return part, np.minimum(at_before, at_crossing)
