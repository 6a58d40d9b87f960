"""Joining two arrays on equal keys."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def pairs(keys: Ints, others: Ints) -> tuple[Ints, Ints]:
    """All index pairs (i, j) with keys[i] == others[j]."""
    order = np.argsort(others, kind="stable")
    ordered = others[order]
    low = np.searchsorted(ordered, keys, "left")
    counts = np.searchsorted(ordered, keys, "right") - low
    first = np.repeat(np.arange(len(keys)), counts)
    within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    return first.astype(np.int64), order[np.repeat(low, counts) + within].astype(np.int64)
