"""What the PEs have to hold behind a call: the proved schedule, carried out without any plan.

Vectors are cut into atoms, ranges of elements that no slice of any phase cuts. Before a call each
PE has another number for each atom; what combines two of them depends on both and on their order
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


def begin(schedule: Schedule, cuts: Ints, call: int) -> Words:
    """What PEs hold before a call, [PEs row by row, atoms]: all different, in other calls as well.
    `cuts` are the elements at which atoms begin, and the length."""
    grid = schedule.collective.grid
    pes, atoms = grid.width * grid.height, len(cuts) - 1
    numbers = np.arange(pes * atoms, dtype=np.uint64) + np.uint64(call << _BITS)
    return _mixed(numbers).reshape(pes, atoms)


_BITS = 40  # of the numbers that a call has for its PEs and atoms


def _mixed(numbers: Words) -> Words:
    """Other numbers for each that do not look related, no two of them equal: splitmix64 (Steele,
    Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). `numpy.random` would take a
    hundredth of a second to import."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    found: Words = mixed ^ (mixed >> np.uint64(31))
    return found


def atoms(schedule: Schedule, cuts: Ints) -> Ints:
    """The cuts, and those of the schedule; and more where slices change their places: those of one
    length that take each other's place are cut alike."""
    phases = [moved(schedule, phase) for phase in schedule.phases]
    for phase in phases:
        if not _among(phase.bounds, cuts):
            cuts = np.unique(np.concatenate([cuts, phase.bounds.reshape(-1)]))
    changing = [phase.bounds for phase in phases if phase.changes_places]
    while True:
        found = cuts
        for bounds in changing:
            for of_line in np.unique(bounds, axis=0):
                found = _alike(of_line, found)
        if len(found) == len(cuts):
            return cuts
        cuts = found


def _among(bounds: Ints, cuts: Ints) -> bool:
    """Whether all bounds are cuts."""
    return bool((cuts[np.minimum(np.searchsorted(cuts, bounds), len(cuts) - 1)] == bounds).all())


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
        if not _among(moves.bounds, cuts):
            raise ValueError(f"`{phase.name}` cuts vectors within an atom")
        first = np.searchsorted(cuts, moves.bounds)  # the first atom of each slice
        carry_out(held, np.diff(cuts), moves.lines, first, moves)
    return held
