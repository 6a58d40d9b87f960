"""Transfers of a step that meet in one PE's vector, found in compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collc.compiled import compiled

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@compiled
def meetings(
    order: Ints, receiving: Ints, sending: Ints, into: Ints, out: Ints
) -> tuple[Bools, Bools, Ints]:
    """Of each transfer: whether its destination sends some of the same slices in that step, whether
    another one goes to some of them, and, if so, how many such transfers to that destination are
    listed before it.

    `receiving` and `sending` are numbers of the step and the place, `order` has [0, n] and [1, n]
    the transfers in ascending order of these; `into` and `out` have [0, n] the first slice and
    [1, n] the one behind the last.
    """
    by_target, by_source, total = order[0], order[1], len(receiving)
    sent_too, crowded = np.zeros(total, np.bool_), np.zeros(total, np.bool_)
    areas = np.zeros(total, np.int64)
    low = high = sender = 0
    while low < total:
        here = receiving[by_target[low]]
        while high < total and receiving[by_target[high]] == here:
            high += 1
        while sender < total and sending[by_source[sender]] < here:
            sender += 1
        for some in by_target[low:high]:
            at = sender
            while at < total and sending[by_source[at]] == here and not sent_too[some]:
                sent_too[some] = _overlap(into, some, out, by_source[at])
                at += 1
            for other in by_target[low:high]:
                crowded[some] |= other != some and _overlap(into, some, into, other)
        for some in by_target[low:high]:
            for other in by_target[low:high]:
                areas[some] += other < some and crowded[some] and crowded[other]
        low = high
    return sent_too, crowded, areas


@compiled
def _overlap(some: Ints, one: int, others: Ints, other: int) -> bool:
    return bool(some[0, one] < others[1, other] and others[0, other] < some[1, one])
