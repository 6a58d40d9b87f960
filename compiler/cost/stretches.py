"""When the processors of PEs run code, or elements come to them, which go before code: arrays
[..., time, stretch], of whatever PEs.

The times of a stretch are when it was due, its first cycle, and the one behind its last. Where a PE
has fewer stretches than others, those left end where they begin.
"""

from collections.abc import Sequence

import numpy as np

from collc.base.columns import Bools, Ints

Stretches = Ints
TIMES = 3
DUE, BEGIN, END = range(TIMES)


def runs(code: Stretches) -> Bools:
    """Which of them there are, [..., stretch]."""
    found: Bools = code[..., BEGIN, :] < code[..., END, :]
    return found


def later(code: Stretches, cycles: Ints) -> Stretches:
    """The same, so many cycles later, [...]."""
    return np.where(runs(code)[..., None, :], code + cycles[..., None, None], 0)


def no_stretch(like: Ints) -> Stretches:
    """That there is none at any of the PEs that an array is of."""
    return np.zeros((*like.shape, TIMES, 0), dtype=np.int64)


def coming(*times: tuple[Ints, Ints]) -> Stretches:
    """Elements that come from one cycle on up to another, a stretch for each of these pairs."""
    return np.stack([np.stack((first, first, end), axis=-1) for first, end in times], axis=-1)


def coming_to_each(of: Sequence[Sequence[tuple[int, int]]]) -> Stretches:
    """The same of several PEs, whose stretches are given one by one, [PE, time, stretch]."""
    return together(
        [np.array([(a, a, b) for a, b in own], np.int64).reshape(-1, TIMES).T for own in of]
    )


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


def different(*lines: Ints) -> tuple[Ints, Ints]:
    """Lines that begin alike are evaluated once: a line of each kind, and of which kind each is, by
    what is said of them, [line, ...]; mostly all are alike."""
    both = np.concatenate([of.reshape(len(of), -1) for of in lines], axis=1)
    if (both == both[0]).all():
        return np.zeros(1, dtype=np.int64), np.zeros(len(both), dtype=np.int64)
    _, kinds, which = np.unique(both, axis=0, return_index=True, return_inverse=True)
    return kinds, which.reshape(-1)
