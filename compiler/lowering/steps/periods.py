"""The period of numbers, found in compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collc.compiled import compiled

Ints = npt.NDArray[np.int64]


@compiled
def first_period(index: Ints, values: Ints, periods: Ints) -> int:
    """The first of `periods`, which ascend, such that the numbers `values[i]` at `index[i]` are the
    same wherever the remainders by it are; the last one if there is none."""
    entries = np.zeros(periods[-1], np.int64)
    known = np.zeros(periods[-1], np.int64)  # with which period an entry was written
    for number in range(1, len(periods) + 1):
        period, fits = periods[number - 1], True
        for at in range(len(index)):
            entry = index[at] % period
            if known[entry] == number and entries[entry] != values[at]:
                fits = False
                break
            known[entry], entries[entry] = number, values[at]
        if fits:
            return int(period)
    return int(periods[-1])
