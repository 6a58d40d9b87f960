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

from collc.lowering.steps.meetings import meetings
from collc.lowering.steps.traffic import Bools, Ints, Traffic


def staged(traffic: Traffic, ranks: int, by_call_back: bool) -> tuple[Bools, Ints]:
    """Which transfers are staged at their destination, and in which area."""
    receiving = traffic.step * ranks + traffic.target
    sending = traffic.step * ranks + traffic.source
    sent_too, crowded, areas = meetings(
        np.stack(
            (
                np.lexsort((traffic.into, receiving)),
                np.lexsort((traffic.first, sending)),
                np.argsort(receiving, kind="stable"),
            )
        ),
        receiving,
        sending,
        np.stack((traffic.into, traffic.into + traffic.count)),
        np.stack((traffic.first, traffic.first + traffic.count)),
    )
    result: Bools = (traffic.combines & by_call_back) | crowded | sent_too
    return result, areas
