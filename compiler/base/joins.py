"""Joining arrays on equal keys: ranges that overlap."""

from __future__ import annotations

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.values import dataclass

_WIDEST = 1 << 32  # more than a range reaches


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of numbers below 2**32, from `low` to before `high`, each with a key."""

    key: Ints
    low: Ints
    high: Ints

    def overlap(self, others: Ranges) -> Bools:
        """Whether each has numbers of one of the others that has its key."""
        _, begins, ends = others._in_order()
        reached = np.maximum.accumulate(ends)
        if not len(begins):
            return np.zeros(len(self.key), dtype=np.bool_)
        before = np.searchsorted(begins, self.key * _WIDEST + self.high)
        found: Bools = (before > 0) & (reached[before - 1] > self.key * _WIDEST + self.low)
        return found

    def overlap_each_other(self) -> Bools:
        """Whether each has numbers of another one that has its key."""
        order, begins, ends = self._in_order()
        found = np.zeros(len(order), dtype=np.bool_)
        found[order[:-1]] = begins[1:] < ends[:-1]
        found[order[1:]] |= np.maximum.accumulate(ends)[:-1] > begins[1:]
        return found

    def _in_order(self) -> tuple[Ints, Ints, Ints]:
        """Their order by beginnings, where they begin and end in it; keys count first."""
        begins = self.key * _WIDEST + self.low
        order = np.argsort(begins, kind="stable")
        return order, begins[order], (self.key * _WIDEST + self.high)[order]
