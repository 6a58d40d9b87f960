"""What the PEs have to hold behind a call: the proved schedule, carried out without any plan.

Vectors are cut into atoms, ranges of elements that no slice of any phase cuts. Before a call each
PE has a random number for each atom; what combines two of them depends on both and on their order
(`collc_evaluator`). So numbers are equal, but by an accident of 1 in 2^64, only where the same
contributions have been combined in the same order and the same groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from collc_evaluator import carry_out

from collc.base.columns import Bools, Ints, Words
from collc.base.values import dataclass
from collc.schedule import BroadcastPhase, ReducePhase, Schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.schedule.promised import promised
from collc.spec.exchange import StepsPhase

_SEED = 2026


def begin(schedule: Schedule, cuts: Ints, call: int) -> Words:
    """What PEs hold before a call, [PEs row by row, atoms]: all different, in other calls as well.
    `cuts` are the elements at which atoms begin, and the length."""
    grid = schedule.collective.grid
    rng = np.random.default_rng((_SEED, call))
    shape = (grid.width * grid.height, len(cuts) - 1)
    return rng.integers(1, 1 << 63, size=shape, dtype=np.uint64)


def atoms(schedule: Schedule, cuts: Ints) -> Ints:
    """The cuts, and more where slices change their places: those of one length that take each
    other's place are cut alike."""
    moved = [one for one in schedule.phases if isinstance(one, StepsPhase) and _changes_places(one)]
    while True:
        found = cuts
        for phase in moved:
            for first in np.unique(_begins(phase)).tolist():
                found = _alike(first + phase.slicing.bounds, found)
        if len(found) == len(cuts):
            return cuts
        cuts = found


def _changes_places(phase: StepsPhase) -> bool:
    return any(bool((moves.into != moves.slice).any()) for moves in phase.steps)


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
    pes = _pes(schedule)
    for phase in schedule.phases:
        if isinstance(phase, BroadcastPhase):
            held[:] = held[phase.y * phase.width + phase.x].copy()
            continue
        first, last = phase.lines
        lines = (pes if phase.axis == "x" else pes.T)[first : last + 1]
        if isinstance(phase, ReducePhase):
            steps, bounds = _steps_of_tree(phase), np.array([[0, len(cuts) - 1]])
        else:
            steps, bounds = _steps_of(phase), _first_atoms(phase, cuts)
        carry_out(held, np.diff(cuts), np.ascontiguousarray(lines), bounds, steps)
    return held


def _pes(schedule: Schedule) -> Ints:
    """The numbers of PEs as lines have them, [height, width], or [1, places] of a path."""
    grid, path = schedule.collective.grid, schedule.collective.path
    numbers = np.arange(grid.width * grid.height, dtype=np.int64).reshape(grid.height, grid.width)
    return numbers if path is None else numbers[path.y, path.x][None]


@dataclass(frozen=True, eq=False)
class _Steps:
    """Transfers as `collc_evaluator` takes them: between coordinates of a line."""

    source: Ints
    destination: Ints
    slice: Ints
    into: Ints
    count: Ints
    combines: Bools
    ends: Ints


def _steps_of_tree(phase: ReducePhase) -> _Steps:
    """Transfers of whole vectors, one after the other."""
    ranks = np.array([(one.source, one.destination) for one in phase.transfers], np.int64)
    coordinates = np.array([phase.coordinate(rank) for rank in range(phase.ranks)], np.int64)
    source, destination = coordinates[ranks.reshape(-1, 2)].T
    none, one = np.zeros(len(ranks), np.int64), np.ones(len(ranks), np.int64)
    return _Steps(source, destination, none, none, one, one > 0, np.cumsum(one))


def _steps_of(phase: StepsPhase) -> _Steps:
    """The steps of a phase, one after the other."""
    places = np.array(phase.places, np.int64)

    def column(name: str) -> Ints:
        return _joined([getattr(moves, name) for moves in phase.steps])

    return _Steps(
        places[column("source")],
        places[column("destination")],
        column("slice"),
        column("into"),
        column("count"),
        column("combines") > 0,
        np.cumsum([len(moves) for moves in phase.steps], dtype=np.int64),
    )


def _joined(columns: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *columns]).astype(np.int64)


def _first_atoms(phase: StepsPhase, cuts: Ints) -> Ints:
    """The first atom of each slice, and the one behind the last, [lines or 1, slices + 1]: with
    blocks each line has its own."""
    elements = _begins(phase)[:, None] + phase.slicing.bounds
    atoms = np.searchsorted(cuts, elements)
    if (cuts[np.minimum(atoms, len(cuts) - 1)] != elements).any():
        raise ValueError(f"`{phase.name}` cuts vectors within an atom")
    return atoms


def _begins(phase: StepsPhase) -> Ints:
    """The first element that each line works on, [lines], or one for all where there are no
    blocks."""
    if phase.blocks is None:
        return np.zeros(1, np.int64)
    first, last = phase.lines
    return np.array([phase.blocks.first_of_line(line) for line in range(first, last + 1)])
