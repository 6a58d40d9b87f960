"""What a phase moves, said in one way for all kinds of phases: steps on lines that are alike.

A tree is steps of one transfer each, of whole vectors that are combined; a broadcast is one step,
on one line of all PEs; what is made of steps is those. So whoever carries a schedule out, or looks
at a part of it, need not ask what a phase is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.schedule.model import BroadcastPhase, Phase, ReducePhase, Schedule
from collc.spec.exchange import StepsPhase


@dataclass(frozen=True, eq=False)
class Moved:
    """The transfers of a phase, step by step, on each of its lines.

    `lines` are numbers of PEs, counted row by row, [lines, places]; `bounds` are the elements at
    which slices begin, and the end of the last one, [lines or 1, slices + 1]. `source` and
    `destination` are places of a line, `ends` tells how many transfers there are up to the end of
    each step.
    """

    lines: Ints
    bounds: Ints
    source: Ints
    destination: Ints
    slice: Ints
    into: Ints
    count: Ints
    combines: Bools
    ends: Ints

    @property
    def changes_places(self) -> bool:
        """Whether slices take the place of others."""
        return bool((self.into != self.slice).any())


@memoized
def moved(schedule: Schedule, phase: Phase) -> Moved:
    """What a phase of a schedule moves."""
    if isinstance(phase, BroadcastPhase):
        return _to_all(schedule, phase)
    first, last = phase.lines
    pes = _pes(schedule)
    lines = np.ascontiguousarray((pes if phase.axis == "x" else pes.T)[first : last + 1])
    if isinstance(phase, ReducePhase):
        return _of_tree(schedule, phase, lines)
    places = np.array(phase.places, np.int64)

    def column(name: str) -> Ints:
        return _joined([getattr(moves, name) for moves in phase.steps])

    return Moved(
        lines,
        _begins(phase)[:, None] + phase.slicing.bounds,
        places[column("source")],
        places[column("destination")],
        column("slice"),
        column("into"),
        column("count"),
        column("combines") > 0,
        np.cumsum([len(moves) for moves in phase.steps], dtype=np.int64),
    )


def most_slices(schedule: Schedule) -> int:
    """Into how many slices vectors are cut at most."""
    counts = (one.slicing.count for one in schedule.by_steps)
    return max(counts, default=1)


def on_first_line(phase: ReducePhase | StepsPhase) -> ReducePhase | StepsPhase:
    """The same on a grid that is the first of its lines."""
    if isinstance(phase, ReducePhase):
        return replace(phase, lines=(0, 0))
    return replace(phase, lines=(0, 0), blocks=None)


def left_by(phase: Phase, moves: Moved) -> Bools:
    """Which slices of which places of a line a phase leaves as it should: of a reduction what its
    root has, [places, slices]; other phases leave all."""
    left = np.ones((moves.lines.shape[1], moves.bounds.shape[1] - 1), np.bool_)
    if isinstance(phase, ReducePhase):
        left[:] = False
        left[phase.coordinate(0)] = True
    return left


def _to_all(schedule: Schedule, phase: BroadcastPhase) -> Moved:
    """One step from a PE to all others, on a line of all PEs."""
    pes = np.arange(phase.width * phase.height, dtype=np.int64)
    root = phase.y * phase.width + phase.x
    others = np.delete(pes, root)
    return _whole(schedule, pes[None], np.full_like(others, root), others, combines=False)


def _of_tree(schedule: Schedule, phase: ReducePhase, lines: Ints) -> Moved:
    """Transfers of whole vectors, one after the other."""
    ranks = np.array([(one.source, one.destination) for one in phase.transfers], np.int64)
    coordinates = np.array([phase.coordinate(rank) for rank in range(phase.ranks)], np.int64)
    source, destination = coordinates[ranks.reshape(-1, 2)].T
    return _whole(schedule, lines, source, destination, combines=True)


def _whole(
    schedule: Schedule, lines: Ints, source: Ints, destination: Ints, *, combines: bool
) -> Moved:
    """Transfers of whole vectors: each a step if they are combined, else all in one."""
    none, one = np.zeros(len(source), np.int64), np.ones(len(source), np.int64)
    bounds = np.array([[0, max(schedule.collective.contract.length, 1)]], np.int64)
    ends = np.cumsum(one) if combines else np.array([len(source)], np.int64)
    combined = np.full(len(source), combines)
    return Moved(lines, bounds, source, destination, none, none, one, combined, ends)


def _pes(schedule: Schedule) -> Ints:
    """The numbers of PEs as lines have them, [height, width], or [1, places] of a path."""
    grid, path = schedule.collective.grid, schedule.collective.path
    numbers = np.arange(grid.width * grid.height, dtype=np.int64).reshape(grid.height, grid.width)
    return numbers if path is None else numbers[path.y, path.x][None]


def _joined(columns: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *columns]).astype(np.int64)


def _begins(phase: StepsPhase) -> Ints:
    """The first element that each line works on, [lines], or one for all where there are no
    blocks."""
    if phase.blocks is None:
        return np.zeros(1, np.int64)
    first, last = phase.lines
    return np.array([phase.blocks.first_of_line(line) for line in range(first, last + 1)])
