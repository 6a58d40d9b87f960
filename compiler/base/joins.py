"""Joining two arrays on equal keys: ranges that overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_WIDEST = 1 << 32  # more than a range reaches


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of numbers below 2**32, from `low` to before `high`, each with a key."""

    key: Ints
    low: Ints
    high: Ints

    def overlap(self, others: Ranges) -> Flags:
        """Whether each has numbers of one of the others that has its key."""
        begins, reached = others._in_order()
        if not len(begins):
            return np.zeros(len(self.key), dtype=np.bool_)
        before = np.searchsorted(begins, self.key * _WIDEST + self.high)
        found: Flags = (before > 0) & (reached[before - 1] > self.key * _WIDEST + self.low)
        return found

    def _in_order(self) -> tuple[Ints, Ints]:
        """Where ranges begin, ascending, and how far those up to each reach; keys count first."""
        begins = self.key * _WIDEST + self.low
        order = np.argsort(begins, kind="stable")
        reached = np.maximum.accumulate((self.key * _WIDEST + self.high)[order])
        return begins[order], reached
