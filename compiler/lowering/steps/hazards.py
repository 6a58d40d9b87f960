"""What cannot be received into the vector itself: it goes into a stage first.

Everything a PE sends in a step is what it held when the step began, and combinations into one slice
happen in the order of their listing. Lanes run beside each other, so a transfer is staged, and
applied when all lanes have ended the step,

- if the PE sends slices of its destination in the same step,
- if another transfer of the step goes to the same slices,
- if it combines by a call-back, which would hold up the other lanes.

The stage has the layout of the vector; transfers of a step into the same slices get areas of their
own.
"""

from __future__ import annotations

import numpy as np

from collc.lowering.steps.traffic import Bools, Ints, Traffic

WIDEST = 1 << 32  # more than there are slices


def staged(traffic: Traffic, ranks: int, by_call_back: bool) -> tuple[Bools, Ints]:
    """Which transfers are staged at their destination, and in which area: the number of those to
    the same slices that are listed before in the step."""
    receiving = traffic.step * ranks + traffic.target
    sending = traffic.step * ranks + traffic.source
    into = _Ranges(receiving, traffic.into, traffic.count)
    out = _Ranges(sending, traffic.first, traffic.count)
    crowded = into.overlap_each_other()
    listed = np.argsort(receiving, kind="stable")
    before: Ints = np.cumsum(crowded[listed]) - crowded[listed]
    begins = np.searchsorted(receiving[listed], receiving[listed])  # the first to the same place
    areas = np.zeros_like(receiving)
    areas[listed] = np.where(crowded[listed], before - before[begins], 0)
    result: Bools = (traffic.combines & by_call_back) | crowded | into.overlap(out)
    return result, areas


class _Ranges:
    """Ranges of slices, each at a place in a step, as numbers that tell all places apart."""

    def __init__(self, at: Ints, first: Ints, count: Ints) -> None:
        self.low = at * WIDEST + first
        self.high = self.low + count
        self.order = np.argsort(self.low, kind="stable")
        # by number of ranges in order, how far the farthest of them reaches
        self.reach = np.maximum.accumulate(self.high[self.order])

    def overlap(self, others: _Ranges) -> Bools:
        """Whether each has slices of one of the others."""
        before = np.searchsorted(others.low[others.order], self.high)
        found: Bools = (before > 0) & (others.reach[before - 1] > self.low)
        return found

    def overlap_each_other(self) -> Bools:
        """Whether each has slices of another one."""
        low, high = self.low[self.order], self.high[self.order]
        meets = low[1:] < high[:-1]
        reached = self.reach[:-1] > low[1:]
        found = np.zeros(len(low), dtype=np.bool_)
        found[self.order[:-1]] = meets
        found[self.order[1:]] |= reached
        return found
