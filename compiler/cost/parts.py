"""A phase of a program by itself: from when each PE begins it to when each PE's part is over, and
when its routers are torn down behind it.

Lines are evaluated by `collc.cost.line` and `collc.cost.exchange`, each different one once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from collc.checks.passages import passages
from collc.cost.exchange import run_exchange
from collc.cost.line import LineRun, run_line
from collc.cost.operations import SLOTS, Costs, Place
from collc.cost.predict import Mask, Times, lines_of
from collc.placement import roles_of_ranks
from collc.plan import BY_WAVELET, Advance, Phase, SendVector
from collc.program import ProgramPlan, Use
from collc.schedule import BroadcastPhase, ReducePhase
from collc.steps import StepsPhase
from collc.unrolled import NOWHERE, connections, roles_of_places

SENT = 2  # from issuing a control wavelet to what the function called behind it does first
CLOSES = 3  # a lane's teardown: it is issued, and goes first
ENDS = 2  # what ends the phase is called, and activates a task
LANE_FRAMES = 5  # functions that return behind that


@dataclass
class Ends:
    """By PE: when its part is over, and whether a task is told of it; by symbolic color, from when
    on its router is torn down."""

    over: Times
    by_task: Mask
    torn: dict[str, Times] = field(default_factory=dict)


def ends_of(plan: ProgramPlan, use: Use, costs: Costs, ready: Times, depth: int) -> Ends:
    """At `ready[x, y]` the code of a PE, so deep in calls, calls the phase's first function."""
    phase, pattern = plan.phase(use), plan.pattern(use)
    if isinstance(pattern, BroadcastPhase):
        return _broadcast(phase, pattern, costs, ready, depth)
    on_path = phase.path is not None
    begun = ready[phase.path.x, phase.path.y][:, None] if phase.path else ready
    idle = begun + (SLOTS + ENDS + depth + SLOTS + 1) * costs.scalar + _task(costs, plan)
    ends = Ends(idle, np.ones(begun.shape, dtype=np.bool_))
    ends.torn = {use.color: begun.copy() for role in phase.roles for use in role.colors}
    if isinstance(pattern, StepsPhase):
        _exchange(phase, pattern, costs, begun, depth, ends)
    else:
        _reduce(phase, pattern, costs, begun, depth, ends)
    return _folded(phase, ready, ends) if on_path else ends


def _task(costs: Costs, plan: ProgramPlan) -> int:
    """From activating the task that is told of an end to its first instruction."""
    return plan.target.task_start


def _folded(phase: Phase, ready: Times, ends: Ends) -> Ends:
    """What is said of the places of a path, said of its PEs."""
    assert phase.path is not None

    def folded(of: Times) -> Times:
        found = np.zeros(ready.shape, dtype=of.dtype)
        found[phase.path.x, phase.path.y] = of[:, 0]
        return found

    torn = {name: folded(times) for name, times in ends.torn.items()}
    return Ends(folded(ends.over), folded(ends.by_task), torn)


def _reduce(
    phase: Phase, pattern: ReducePhase, costs: Costs, begun: Times, depth: int, ends: Ends
) -> None:
    starts = lines_of(begun, pattern)
    ranks = pattern.ranks
    over, by_task = lines_of(ends.over, pattern), lines_of(ends.by_task, pattern)
    torn = {name: lines_of(times, pattern) for name, times in ends.torn.items()}
    different, which = np.unique(starts, axis=0, return_inverse=True)
    ways = list(passages(pattern, roles_of_ranks(phase, pattern)))
    for number, line in enumerate(different.tolist()):
        rows = which.reshape(-1) == number
        places = [Place(time, depth) for time in line[:ranks]]
        run = run_line(costs, phase, pattern, places, opened=line[:ranks])
        ended = [_rank_ends(run, rank) for rank in range(ranks)]
        over[rows] = [end for end, _ in ended]
        by_task[rows] = [told for _, told in ended]
        for way in ways:
            if way.step.advance is Advance.TEARDOWN:
                for router in way.last_at:
                    at = _control(run, way.source) + costs.ramp + 1 + way.source - router
                    torn[way.step.color][rows, router] = at


def _control(run: LineRun, rank: int) -> int:
    """When the control wavelet behind a rank's vector leaves."""
    costs = run.costs
    if costs.maps and run.roles[rank].steps[-1].combines_from is not None:  # type: ignore[union-attr]
        return run.end[rank] + 1
    return run.end[rank] - costs.frames * costs.scalar + 1


def _rank_ends(run: LineRun, rank: int) -> tuple[int, bool]:
    """When the part of a rank is over, and whether a task is told of it."""
    costs = run.costs
    last = run.roles[rank].steps[-1]
    if isinstance(last, SendVector) and last.advance in BY_WAVELET and not costs.maps:
        return _control(run, rank) - 1 + SENT * costs.scalar, False
    if costs.maps:
        return run.done[rank] - costs.dispatch, True
    return run.end[rank] + 1 + costs.task - costs.dispatch, True


def _exchange(
    phase: Phase, pattern: StepsPhase, costs: Costs, begun: Times, depth: int, ends: Ends
) -> None:
    starts = lines_of(begun, pattern)
    run = run_exchange(costs, phase, pattern, starts + costs.scalar, np.full_like(starts, depth))
    target, _ = connections(phase, pattern)
    assert phase.exchange is not None
    lanes = len(phase.exchange.lanes)
    closing = np.zeros(starts.shape[1], dtype=np.int64)
    torn = {name: lines_of(times, pattern) for name, times in ends.torn.items()}
    for place, role in enumerate(roles_of_places(phase, pattern)):
        for index, lane in enumerate(role.lanes if role else ()):
            if not lane.tears_down or lane.sends_on is None:
                continue
            closing[place] += CLOSES
            sent = run.time[:, place] + closing[place] + costs.ramp + 1
            to = int(target[place * lanes + index])
            there = place if to == NOWHERE else to // lanes
            for router in range(min(place, there), max(place, there) + 1):
                torn[lane.sends_on][:, router] = sent + abs(router - place)
    over = run.time + closing + (ENDS + LANE_FRAMES) * costs.scalar
    lines_of(ends.over, pattern)[:] = over + costs.task - costs.dispatch


def _broadcast(
    phase: Phase, pattern: BroadcastPhase, costs: Costs, ready: Times, depth: int
) -> Ends:
    """The vector goes along the root's row and then the columns, through routers that are open."""
    x, y = np.indices(ready.shape)
    distances = np.abs(x - pattern.x) + np.abs(y - pattern.y)
    at = (pattern.x, pattern.y)
    root = costs.called(Place(int(ready[at]), depth))
    first = costs.returned(root, costs.issued(root, "send"))
    way = ready.copy()
    way[at] = first + costs.ramp + 1
    for axis in (0, 1):
        way = _onward(way, at[axis], axis, costs.hop, only=at[1] if axis == 0 else None)
    prepared = costs.issued(Place(0, 0), "copy")
    copies = ready + prepared + (SLOTS + depth + SLOTS) * costs.scalar
    start = np.maximum(way + costs.ramp, copies)
    start[at] = first
    held = int((copies - costs.input_queue - distances).max()) + costs.length
    end = start + costs.length - 1
    if costs.length > costs.input_queue + costs.router_queue:
        end = np.maximum(end, held + distances)
    told = end + 1 + costs.task - costs.dispatch
    by_task: Mask = np.ones(ready.shape, dtype=np.bool_)
    after = costs.after(int(end[at]))
    issued = costs.issued(after, "control")
    names = {use.color for role in phase.roles for use in role.colors}
    if any(isinstance(s, SendVector) and s.advance in BY_WAVELET for r in phase.roles for s in r.steps):
        told[at], by_task[at] = issued + SENT, False
    torn = issued + 1 + costs.ramp + 1 + distances
    return Ends(told, by_task, dict.fromkeys(sorted(names), torn))


def _onward(way: Times, root: int, axis: int, hop: int, only: int | None) -> Times:
    """When the first element can leave routers along an axis, on both sides of the root: not before
    it has left the one before, nor before the router is open."""
    found = way.copy()
    lines = found if axis == 0 else found.T
    chosen = slice(None) if only is None else slice(only, only + 1)
    for side in (lines[root:, chosen], lines[root::-1, chosen]):
        steps = hop * np.arange(len(side))[:, None]
        side[:] = np.maximum.accumulate(side - steps, axis=0) + steps
    return found
