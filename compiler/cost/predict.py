"""Predicted cycles of a plan: every phase evaluated, from the common start to the last PE's end.

A PE's code is at a place (a cycle, and how deep in calls) when it calls a phase; each phase maps
that to where it calls the next. Lines that begin alike are evaluated once. In reading order: the
result, `predict`, reduce phases, broadcasts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from collc.base.columns import Bools, Ints
from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.cost.bound import bound_of
from collc.cost.critical_waits import critical_waits
from collc.cost.exchange import run_exchange
from collc.cost.line import LineRun, Wait, run_line
from collc.cost.operations import Costs, Place, costs_of, costs_of_phase
from collc.cost.stretches import different
from collc.cost.tree_bound import tree_bound_of
from collc.plan import Phase, Plan
from collc.plan.form import Form, form_of
from collc.plan.geometry import Line, home_of, line_of, multicast_of

Times = Ints


@dataclass(frozen=True)
class CriticalPath:
    """What a phase waited for, first cause first; the last entry is what rank 0 waited for. `at` is
    the step of the program that says so."""

    phase: str
    waits: tuple[Wait, ...]
    at: Span


@dataclass(frozen=True)
class Prediction:
    """Cycles from the common start to the last PE's completion, and where they go.

    `bound` is what no program for the contract can go below (`collc.cost.bound`), `tree_bound`
    what no tree can where trees are used (`collc.cost.tree_bound`). `breakdown` gives each phase
    the cycles by which it moves the end, in order, and the rest to "start" and "completion"; it
    adds up to `cycles`. A `note` says what the prediction leaves out, if anything.
    """

    cycles: int
    bound: int
    breakdown: dict[str, int]
    critical_path: tuple[CriticalPath, ...]
    tree_bound: int | None = None
    note: str = ""

    @property
    def gap(self) -> float | None:
        """How many times the bound; None for a single PE, which has nothing to do."""
        return self.cycles / self.bound if self.bound else None

    @property
    def tree_gap(self) -> float | None:
        """How many times the bound of all trees, where there is one."""
        return self.cycles / self.tree_bound if self.tree_bound else None


@dataclass
class _Progress:
    """Between phases, for each PE: where its code calls the next one, and when it is done if it
    has no part in that. `end` is the last busy cycle so far. Arrays go over the grid that lines
    are of, of which `x` and `y` are the columns and rows of the real one.
    """

    costs: Costs
    x: Times
    y: Times
    time: Times
    depth: Times
    done: Times
    end: int
    breakdown: dict[str, int]
    paths: list[CriticalPath]


def predict(plan: Plan, looks: int | None = None) -> Prediction:
    """Evaluate the plan phase by phase; `looks` as in `collc.cost.exchange`."""
    costs, last = costs_of(plan), _last_reduce(plan)
    progress = _started(plan, costs)
    for index, phase in enumerate(plan.phases):
        progress.costs = costs_of_phase(costs, plan, index)
        goes_on = _takes_part(plan, index + 1)
        if form_of(phase) is Form.TREE:
            _reduce(progress, phase, goes_on)
        elif form_of(phase).is_cut:
            _exchange(progress, phase, goes_on, looks)
        elif form_of(phase) is Form.MULTICAST:
            _broadcast(progress, phase)
        if phase is last and costs.negates:
            _negate_back(progress, line_of(phase), goes_on)
        progress.breakdown[phase.name] = progress.end - sum(progress.breakdown.values())
    progress.breakdown["completion"] = int(progress.done.max()) - progress.end
    return Prediction(
        cycles=sum(progress.breakdown.values()),
        bound=bound_of(plan.collective, home_of(plan), plan.target),
        breakdown=progress.breakdown,
        critical_path=tuple(progress.paths),
        tree_bound=tree_bound_of(plan, costs, costs.first_call(plan)),
    )


def _started(plan: Plan, costs: Costs) -> _Progress:
    """All PEs about to call their first phase."""
    grid, path = plan.collective.lined, plan.collective.path
    x, y = (path.x[:, None], path.y[:, None]) if path else np.indices((grid.width, grid.height))
    place = costs.first_call(plan)
    time = np.full((grid.width, grid.height), place.time, dtype=np.int64)
    depth = np.full_like(time, place.depth)
    done = np.full_like(time, costs.done_by_code(place))
    return _Progress(costs, x, y, time, depth, done, place.time, {"start": place.time}, [])


def _last_reduce(plan: Plan) -> Phase | None:
    phases = [phase for phase in plan.phases if form_of(phase) is Form.TREE]
    return phases[-1] if phases else None


def _takes_part(plan: Plan, index: int) -> Bools:
    """The PEs that have a part in the phase with this index or in a later one."""
    grid = plan.collective.lined
    parts: Bools = np.zeros((grid.width, grid.height), dtype=np.bool_)
    for phase in plan.phases[index:]:
        if form_of(phase) is Form.MULTICAST:
            parts[:] = True
        else:
            lines_of(parts, line_of(phase))[:] = True
    return parts


def _reduce(progress: _Progress, phase: Phase, goes_on: Bools) -> None:
    """Evaluate each different line of a phase once; PEs on none run through it."""
    costs, line = progress.costs, line_of(phase)
    time, depth, done, continued = (
        lines_of(of, line) for of in (progress.time, progress.depth, progress.done, goes_on)
    )
    places = list(line.place_of)
    ready = time[:, places], depth[:, places]
    kinds, which = different(*ready)
    runs = [
        run_line(costs, phase, list(map(Place, *(of[line].tolist() for of in ready))))
        for line in kinds
    ]
    own = ranks_with_vectors(line)
    at = [places[rank] for rank in own]
    after = [[run.after[rank] for rank in own] for run in runs]
    time[:, at] = np.array([[place.time for place in one] for one in after])[which]
    depth[:, at] = np.array([[place.depth for place in one] for one in after])[which]
    ended = np.array([[run.done[rank] for rank in own] for run in runs])[which]
    done[:, at] = np.where(continued[:, at], 0, ended)
    progress.end = max(progress.end, *(max(run.end) for run in runs))
    slowest: LineRun = max(runs, key=lambda run: run.end[0])
    progress.paths.append(CriticalPath(phase.name, critical_waits(slowest), phase.span))


def ranks_with_vectors(line: Line) -> list[int]:
    """The ranks of a line, each at a PE of its own."""
    return [rank for rank in range(line.ranks) if rank != line.idle]


def _exchange(progress: _Progress, phase: Phase, goes_on: Bools, looks: int | None) -> None:
    """Evaluate a phase made of steps; PEs on none of its lines run through it."""
    costs = progress.costs
    time, depth, done, continued = (
        lines_of(of, line_of(phase))
        for of in (progress.time, progress.depth, progress.done, goes_on)
    )
    run = run_exchange(costs, phase, time, depth, looks)
    time[:], depth[:] = run.time, costs.returns
    done[:] = np.where(continued, 0, run.time + costs.done_by_code(Place(0, 0)))
    progress.end = max(progress.end, int(run.end.max()))


def lines_of(values: npt.NDArray[Any], line: Line) -> npt.NDArray[Any]:
    """The lines of a phase as rows, by rank: a view, so that writing to it writes to `values`."""
    by_line = values.swapaxes(0, 1) if line.axis == "x" else values
    low, high = line.stretch
    chosen = by_line[line.lines[0] : line.lines[1] + 1, low : high + 1]
    return chosen if line.forward else chosen[:, ::-1]


def _negate_back(progress: _Progress, line: Line, goes_on: Bools) -> None:
    """All PEs run through one more function, in which those with the result pass over it."""
    costs = progress.costs
    time, done, depth = (
        lines_of(of, line)[:, line.bypass] for of in (progress.time, progress.done, progress.depth)
    )
    for row, (at, deep) in enumerate(zip(time.tolist(), depth.tolist(), strict=True)):
        place = costs.negated(Place(at, deep))
        time[row] = place.time
        done[row] = costs.done_by_code(place)
    progress.end = max(progress.end, int(time.max()) - 1)
    done[lines_of(goes_on, line)[:, line.bypass]] = 0


def _broadcast(progress: _Progress, phase: Phase) -> None:
    """The vector reaches every PE along the root's row and then its column; if that is a
    one-word collective's, the root as well.

    Every other PE has sent its own vector before the root has the sum, so none holds others up.
    """
    costs, way = progress.costs, multicast_of(phase)
    distances = np.abs(progress.x - way.x) + np.abs(progress.y - way.y)
    at = np.unravel_index(int(distances.argmin()), distances.shape)
    root = Place(int(progress.time[at]), int(progress.depth[at]))
    sent = costs.sent_to_all(root)
    copies = progress.time + costs.issued(Place(0, 0), "copy") + progress.depth
    start = np.maximum(sent + costs.latency(0) + costs.hop * distances, copies)
    start[at] = sent + costs.latency(0) if costs.one_word else sent - costs.send_start
    end = start + costs.length - 1
    progress.end = max(progress.end, int(end.max()))
    progress.time = end + 1 + costs.task
    progress.depth = np.full_like(end, costs.returns)
    progress.done = progress.time + costs.code.done
    farthest = np.unravel_index(int(end.argmax()), end.shape)
    distance = int(distances[farthest])
    progress.paths.append(CriticalPath(phase.name, (Wait(distance, "distance"),), phase.span))
