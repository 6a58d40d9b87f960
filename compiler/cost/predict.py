"""Predicted cycles of a plan: every phase evaluated, from the common start to the last PE's end.

`ready[x, y]` is the cycle in which a PE comes to the first instruction of its next phase; each
phase maps it to the next. Lines that are ready alike are evaluated once. In reading order: the
result, `predict`, reduce phases, broadcasts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collc.cost.bound import bound_of
from collc.cost.line import LineRun, Wait, critical_waits, run_line
from collc.cost.operations import Costs, costs_of
from collc.plan import Phase, Plan
from collc.schedule import BroadcastPhase, ReducePhase, Schedule

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CriticalPath:
    """What a phase waited for, first cause first; the last entry is what rank 0 waited for."""

    phase: str
    waits: tuple[Wait, ...]


@dataclass(frozen=True)
class Prediction:
    """Cycles from the common start to the last PE's completion, and where they go.

    `bound` is what no program for the contract can go below (`collc.cost.bound`). `breakdown`
    gives each phase the cycles by which it moves the end, in order, and the rest to "start" and
    "completion"; it adds up to `cycles`.
    """

    cycles: int
    bound: int
    breakdown: dict[str, int]
    critical_path: tuple[CriticalPath, ...]


@dataclass
class _Progress:
    """Between phases: when PEs are ready, the last busy cycle so far, and what has been found."""

    costs: Costs
    ready: Times
    end: int
    breakdown: dict[str, int]
    paths: list[CriticalPath]


def predict(schedule: Schedule, plan: Plan) -> Prediction:
    """Evaluate the plan phase by phase."""
    costs = costs_of(plan)
    grid = schedule.collective.grid
    last = _last_reduce(schedule)
    start = costs.negate if last else 0
    ready = np.full((grid.width, grid.height), start, dtype=np.int64)
    progress = _Progress(costs, ready, start, {"start": start}, [])
    for pattern, phase in zip(schedule.phases, plan.phases, strict=True):
        if isinstance(pattern, ReducePhase):
            _reduce(progress, phase, pattern)
        else:
            _broadcast(progress, pattern)
        if pattern is last:
            _negate_back(progress, pattern)
        progress.breakdown[phase.name] = progress.end - sum(progress.breakdown.values())
    progress.breakdown["completion"] = costs.task + costs.scalar
    return Prediction(
        cycles=sum(progress.breakdown.values()),
        bound=bound_of(schedule, plan.target),
        breakdown=progress.breakdown,
        critical_path=tuple(progress.paths),
    )


def _last_reduce(schedule: Schedule) -> ReducePhase | None:
    phases = [phase for phase in schedule.phases if isinstance(phase, ReducePhase)]
    return phases[-1] if phases else None


def _reduce(progress: _Progress, phase: Phase, pattern: ReducePhase) -> None:
    """Evaluate each different line of a phase once."""
    lines = _lines(progress.ready, pattern)
    different, which = np.unique(lines, axis=0, return_inverse=True)
    runs = [run_line(progress.costs, phase, pattern, line.tolist()) for line in different]
    ends = np.array([run.end for run in runs], dtype=np.int64)
    lines[:] = ends[which.reshape(-1)] + progress.costs.task
    progress.end = max(progress.end, int(ends.max()))
    slowest: LineRun = max(runs, key=lambda run: run.end[0])
    progress.paths.append(CriticalPath(phase.name, critical_waits(slowest)))


def _lines(ready: Times, pattern: ReducePhase) -> Times:
    """The lines of a pattern as rows, by rank: a view, so that writing to it writes to `ready`."""
    by_line = ready.T if pattern.axis == "x" else ready
    chosen = by_line[pattern.lines[0] : pattern.lines[1] + 1]
    return chosen if pattern.coordinate(0) == 0 else chosen[:, ::-1]


def _negate_back(progress: _Progress, pattern: ReducePhase) -> None:
    """The PEs with the result make one more pass over it."""
    if not progress.costs.negate:
        return
    roots = _lines(progress.ready, pattern)[:, 0]
    roots += progress.costs.negate
    progress.end = max(progress.end, int(roots.max()))


def _broadcast(progress: _Progress, pattern: BroadcastPhase) -> None:
    """The vector reaches every PE along the root's row and then its column.

    Every other PE has sent its own vector before the root has the sum, so none holds others up.
    """
    costs = progress.costs
    first = int(progress.ready[pattern.x, pattern.y]) + costs.send + 1
    columns = np.abs(np.arange(pattern.width) - pattern.x)[:, None]
    rows = np.abs(np.arange(pattern.height) - pattern.y)[None, :]
    arrival = first + costs.latency(0) + costs.hop * (columns + rows)
    start = np.maximum(arrival, progress.ready + costs.copy + 1)
    start[pattern.x, pattern.y] = first
    end = start + costs.length - 1
    progress.end = max(progress.end, int(end.max()))
    progress.ready = end + costs.task
    farthest = np.unravel_index(int(end.argmax()), end.shape)
    distance = int(columns[farthest[0], 0] + rows[0, farthest[1]])
    progress.paths.append(CriticalPath(pattern.name, (Wait(distance, "distance"),)))
