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
from collc.pairs import pairs


def staged(traffic: Traffic, ranks: int, by_call_back: bool) -> tuple[Bools, Ints]:
    """Which transfers are staged at their destination, and in which area."""
    receiving = traffic.step * ranks + traffic.target
    sending = traffic.step * ranks + traffic.source
    end = traffic.into + traffic.count
    of, other = pairs(receiving, sending)
    sent_too = (traffic.first[other] < end[of]) & (
        traffic.into[of] < traffic.first[other] + traffic.count[other]
    )
    of_two, other_two = pairs(receiving, receiving)
    meets = (traffic.into[other_two] < end[of_two]) & (traffic.into[of_two] < end[other_two])
    meets &= of_two != other_two
    crowded: Bools = np.zeros(len(traffic), dtype=np.bool_)
    crowded[of_two[meets]] = True
    areas: Ints = np.zeros(len(traffic), dtype=np.int64)
    earlier = crowded[of_two] & crowded[other_two] & (other_two < of_two)
    np.add.at(areas, of_two[earlier], 1)
    result: Bools = (traffic.combines & by_call_back) | crowded
    result[of[sent_too]] = True
    return result, areas
