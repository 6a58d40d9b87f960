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

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.joins import Ranges
from collc.lowering.steps.traffic import Traffic


def staged(traffic: Traffic, ranks: int, by_call_back: bool) -> tuple[Bools, Ints]:
    """Which transfers are staged at their destination, and in which area: the number of those to
    the same slices that are listed before in the step."""
    receiving = traffic.step * ranks + traffic.target
    sending = traffic.step * ranks + traffic.source
    into = Ranges(receiving, traffic.into, traffic.into + traffic.count)
    out = Ranges(sending, traffic.first, traffic.first + traffic.count)
    overlapping = into.overlap_each_other()
    areas = np.zeros_like(receiving)
    if overlapping.any():
        listed = np.argsort(receiving, kind="stable")
        before: Ints = np.cumsum(overlapping[listed]) - overlapping[listed]
        # the first to the same place
        begins = np.searchsorted(receiving[listed], receiving[listed])
        areas[listed] = np.where(overlapping[listed], before - before[begins], 0)
    result: Bools = (traffic.combines & by_call_back) | overlapping | into.overlap(out)
    return result, areas
