"""Ways of elements over PEs that let them pass, followed in compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collc.compiled import compiled

Ints = npt.NDArray[np.int64]

NOWHERE = -1


@compiled
def follow(
    senders: Ints, target: Ints, out_left: Ints, pass_left: Ints, into_left: Ints
) -> tuple[Ints, Ints]:
    """For each sender the lane that takes what it sends, and how much may move; that is taken off
    what the PEs between still let pass. `target` says where lanes send to."""
    receivers, amounts = np.empty_like(senders), np.empty_like(senders)
    for number in range(len(senders)):
        first = target[senders[number]]
        at, amount, hops = first, out_left[senders[number]], 0
        while at != NOWHERE and pass_left[at] > 0 and hops < len(target):
            amount = min(amount, pass_left[at])
            at = target[at]
            hops += 1
        ends = at != NOWHERE and pass_left[at] == 0
        amount = min(amount, into_left[at]) if ends else 0
        receivers[number], amounts[number] = at, amount
        for _ in range(hops):
            pass_left[first] -= amount
            first = target[first]
    return receivers, amounts
