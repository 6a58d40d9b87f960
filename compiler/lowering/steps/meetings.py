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

    `receiving` and `sending` are numbers of the step and the place; `into` and `out` have [0, n]
    the first slice and [1, n] the one behind the last. `order` has [0, n] and [1, n] the transfers
    in ascending order of these numbers and then of the first slice, [2, n] of the receiving one and
    as they are listed.
    """
    by_target, by_source, listed, total = order[0], order[1], order[2], len(receiving)
    sent_too, crowded = np.zeros(total, np.bool_), np.zeros(total, np.bool_)
    areas, reached = np.zeros(total, np.int64), np.zeros(total, np.int64)
    low = high = first = behind = 0
    while low < total:
        here = receiving[by_target[low]]
        while high < total and receiving[by_target[high]] == here:
            high += 1
        while first < total and sending[by_source[first]] < here:
            first += 1
        behind = max(behind, first)
        while behind < total and sending[by_source[behind]] == here:
            behind += 1
        _mark_crowded(by_target[low:high], into, crowded)
        _mark_sent(by_target[low:high], into, by_source[first:behind], out, reached, sent_too)
        number = 0
        for some in listed[low:high]:
            areas[some] = number if crowded[some] else 0
            number += crowded[some]
        low = high
    return sent_too, crowded, areas


@compiled
def _mark_crowded(here: Ints, into: Ints, crowded: Bools) -> None:
    """Mark those of transfers in ascending order of their first slices that overlap another."""
    reached = 0
    for at in range(len(here)):
        one = here[at]
        follows = at + 1 < len(here) and into[0, here[at + 1]] < into[1, one]
        crowded[one] = follows or into[0, one] < reached
        reached = max(reached, into[1, one])


@compiled
def _mark_sent(  # noqa: PLR0913, PLR0917 - two lists of ranges, and what is marked
    here: Ints, into: Ints, sent: Ints, out: Ints, reached: Ints, sent_too: Bools
) -> None:
    """Mark those of `here` whose slices overlap any that are sent; both ascend by first slices."""
    farthest = 0
    for at in range(len(sent)):
        farthest = max(farthest, out[1, sent[at]])
        reached[at] = farthest
    for one in here:
        begin, end = 0, len(sent)  # of those that are sent, the ones that begin before its end
        while begin < end:
            middle = (begin + end) // 2
            if out[0, sent[middle]] < into[1, one]:
                begin = middle + 1
            else:
                end = middle
        sent_too[one] = begin > 0 and reached[begin - 1] > into[0, one]
