"""When the processors of PEs run code: arrays [..., time, stretch], of whatever PEs.

The times of a stretch are when it was due, the cycle of its first instruction, and the one behind
its last. Where a PE has fewer stretches than others, those left end where they begin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from collc.plan.unrolled import Ints

Stretches = Ints
TIMES = 3
DUE, BEGIN, END = range(TIMES)


def runs(code: Stretches) -> npt.NDArray[np.bool_]:
    """Which of them there are, [..., stretch]."""
    found: npt.NDArray[np.bool_] = code[..., BEGIN, :] < code[..., END, :]
    return found


def later(code: Stretches, cycles: Ints) -> Stretches:
    """The same, so many cycles later, [...]."""
    return np.where(runs(code)[..., None, :], code + cycles[..., None, None], 0)


def together(of: Sequence[Stretches]) -> Stretches:
    """Those of several places that differ in how many there are, [which, ...]."""
    most = max(code.shape[-1] for code in of)
    found = np.zeros((len(of), *of[0].shape[:-1], most), dtype=np.int64)
    for code, own in zip(of, found, strict=True):
        own[..., : code.shape[-1]] = code
    return found


def last(code: Stretches) -> Ints:
    """When the last one begins, -1 where there is none."""
    begins = np.where(runs(code), code[..., BEGIN, :], -1)
    found: Ints = begins.max(axis=-1, initial=-1)
    return found
