"""What the PEs have to hold behind a call: the proved schedule, carried out without any plan.

Vectors are cut into atoms, ranges of elements that no slice of any phase cuts. Before a call each
PE has a random number for each atom; what combines two of them depends on both and on their order
(`collc_evaluator`). So numbers are equal, but by an accident of 1 in 2^64, only where the same
contributions have been combined in the same order and the same groups.
"""

from __future__ import annotations

import numpy as np
from collc_evaluator import carry_out

from collc.base.columns import Bools, Ints, Words
from collc.schedule import Schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.schedule.moves import moved
from collc.schedule.promised import promised

_SEED = 2026


def begin(schedule: Schedule, cuts: Ints, call: int) -> Words:
    """What PEs hold before a call, [PEs row by row, atoms]: all different, in other calls as well.
    `cuts` are the elements at which atoms begin, and the length."""
    grid = schedule.collective.grid
    rng = np.random.default_rng((_SEED, call))
    shape = (grid.width * grid.height, len(cuts) - 1)
    return rng.integers(1, 1 << 63, size=shape, dtype=np.uint64)


def atoms(schedule: Schedule, cuts: Ints) -> Ints:
    """The cuts, and those of the schedule; and more where slices change their places: those of one
    length that take each other's place are cut alike."""
    phases = [moved(schedule, phase) for phase in schedule.phases]
    cuts = np.unique(np.concatenate([cuts, *(phase.bounds.reshape(-1) for phase in phases)]))
    changing = [phase.bounds for phase in phases if phase.changes_places]
    while True:
        found = cuts
        for bounds in changing:
            for of_line in np.unique(bounds, axis=0):
                found = _alike(of_line, found)
        if len(found) == len(cuts):
            return cuts
        cuts = found


def _alike(bounds: Ints, cuts: Ints) -> Ints:
    """The cuts with those within a slice in all slices of its length."""
    inside = np.setdiff1d(cuts[(cuts > bounds[0]) & (cuts < bounds[-1])], bounds)
    sizes, there = np.diff(bounds), np.searchsorted(bounds, inside, side="right") - 1
    found = [cuts]
    for size in np.unique(sizes[there]):
        within = np.unique((inside - bounds[there])[sizes[there] == size])
        found.append((bounds[:-1][sizes == size][:, None] + within).reshape(-1))
    return np.unique(np.concatenate(found))


def due(schedule: Schedule, cuts: Ints, call: int) -> tuple[Words, Bools]:
    """What they hold after it by a proved schedule, and which of that the contract promises; both
    [PEs, atoms]. What is not promised may be anything: a plan need not leave what the schedule
    does."""
    held = carried(schedule, cuts, begin(schedule, cuts, call))
    return held, promised(with_tokens(schedule), cuts).reshape(held.shape)


def carried(schedule: Schedule, cuts: Ints, held: Words) -> Words:
    """What becomes of what PEs hold, [PEs, atoms]. ValueError where a phase cuts an atom, or puts
    it where atoms are others."""
    schedule, held = with_tokens(schedule), held.copy()
    for phase in schedule.phases:
        moves = moved(schedule, phase)
        first = np.searchsorted(cuts, moves.bounds)  # the first atom of each slice
        if (cuts[np.minimum(first, len(cuts) - 1)] != moves.bounds).any():
            raise ValueError(f"`{phase.name}` cuts vectors within an atom")
        carry_out(held, np.diff(cuts), moves.lines, first, moves)
    return held
