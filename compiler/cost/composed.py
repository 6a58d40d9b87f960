"""The cycles of trees along the axes of a grid, each axis looked at by one of its lines.

All lines of the first axis are alike, and those of the second begin with what is at the root of
the first; then comes a multicast, or nothing. So two lines and the farthest PE say what a plan
takes: the same number as `collc.cost.predict`, which follows all PEs and also says where cycles go.
A line that was evaluated before, at another time or by other names, is not evaluated again. In
reading order: `cycles_of`, the two axes, the lines that are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache

from collc.cost.line import run_line
from collc.cost.operations import SLOTS, Costs, Place, costs_of, costs_of_phase
from collc.cost.predict import predict
from collc.placement import passes_on, roles_of_ranks
from collc.plan import Phase, Plan, Role, SendVector, StoreVectors
from collc.schedule import BroadcastPhase, ReducePhase, Schedule


def cycles_of(schedule: Schedule, plan: Plan) -> int:
    """The cycles that `predict` says, found in less time where there are trees along axes."""
    costs = costs_of(plan)
    reductions = _along_axes(schedule)
    if not reductions or costs.negates:
        return predict(schedule, plan).cycles
    axes = _Axes(costs, schedule, plan, reductions[0])
    for index, pattern in enumerate(reductions):
        axes.reduce(index, pattern, last=index == len(schedule.phases) - 1)
    multicast = schedule.phases[-1]
    return axes.multicast(multicast) if isinstance(multicast, BroadcastPhase) else axes.done


def _along_axes(schedule: Schedule) -> tuple[ReducePhase, ...]:
    """The reductions, if they are of all lines of an axis and then of the line of their roots, and
    nothing but a multicast from the root follows; else none."""
    phases, grid = schedule.phases, schedule.collective.grid
    reductions = tuple(phase for phase in phases if isinstance(phase, ReducePhase))
    if not reductions or schedule.collective.path is not None:
        return ()
    first, last = reductions[0], reductions[-1]
    across = grid.height if first.axis == "x" else grid.width
    place = {first.axis: first.home, last.axis: last.home}
    for phase in reductions:
        due = (0, across - 1) if phase.axis == first.axis else (first.home, first.home)
        if phase.lines != due or phase.home != place[phase.axis]:
            return ()
    axes = [phase.axis for phase in reductions]
    turns = sum(one != other for one, other in zip(axes, axes[1:], strict=False))
    root = (place.get("x", 0), place.get("y", 0))
    following = phases[len(reductions) :]
    meant = all(isinstance(one, BroadcastPhase) and (one.x, one.y) == root for one in following)
    alone = first.axis != last.axis or across == 1
    fits = phases[: len(reductions)] == reductions and len(following) <= 1 and turns <= 1
    return reductions if meant and alone and fits else ()


class _Axes:
    """The PEs of one line: where their code is; of all others only which of them is last.

    `latest` is the time of that one and of the functions that it is in; `done` the cycle in which
    all are done that have no further part.
    """

    def __init__(self, costs: Costs, schedule: Schedule, plan: Plan, first: ReducePhase) -> None:
        self.costs, self.plan = costs, plan
        grid = schedule.collective.grid
        self.extents = {"x": grid.width, "y": grid.height}
        self.axis, self.home = first.axis, first.home
        self.line = [costs.first_call(plan)] * self.extents[self.axis]
        self.latest = self.done = 0

    def reduce(self, index: int, pattern: ReducePhase, *, last: bool) -> None:
        """Evaluate a side of a line; all other PEs run through it."""
        if pattern.axis != self.axis:
            self.latest = self._latest()
            self.line = [self.line[self.home]] * self.extents[pattern.axis]
            self.axis = pattern.axis
        self.home = pattern.home
        costs = costs_of_phase(self.costs, self.plan, index)
        places = [pattern.coordinate(rank) for rank in range(pattern.ranks)]
        ready = [self.line[place] for place in places]
        after, done = evaluated(costs, self.plan.phases[index], pattern, ready)
        passed = SLOTS * costs.scalar
        self.line = [Place(at.time + passed, at.depth + SLOTS) for at in self.line]
        for place, reached in zip(places, after, strict=True):
            self.line[place] = reached
        self.latest += 2 * passed
        self.done = max(self.done, *(done if last else done[1:]))

    def multicast(self, pattern: BroadcastPhase) -> int:
        """The cycle in which all are done to whom the root sends its vector."""
        costs = self.costs
        root = costs.called(self.line[self.home])
        first = costs.returned(root, costs.issued(root, "send"))
        across = max(pattern.x, pattern.width - 1 - pattern.x)
        farthest = across + max(pattern.y, pattern.height - 1 - pattern.y)
        arrives = first + costs.latency(0) + costs.hop * farthest
        copies = self._latest() + costs.issued(Place(0, 0), "copy") + 2 * SLOTS * costs.scalar
        end = max(arrives, copies) + costs.length - 1
        return end + 1 + costs.task + costs.scalar

    def _latest(self) -> int:
        """The same with the PEs of the line, but not its root."""
        others = (at for place, at in enumerate(self.line) if place != self.home)
        return max([self.latest, *(at.time + at.depth * self.costs.scalar for at in others)])


Evaluated = tuple[tuple[Place, ...], tuple[int, ...]]  # `LineRun.after` and `LineRun.done`


def evaluated(
    costs: Costs, phase: Phase, pattern: ReducePhase, ready: Sequence[Place]
) -> Evaluated:
    """Where the code of each rank goes on behind a phase, and when the rank is done if it ends."""
    began = min(place.time for place in ready)
    roles = [role for role in roles_of_ranks(phase, pattern) if role is not None]
    line = _Line(
        tuple(getattr(costs, part.name) for part in fields(costs) if part.name != "preparations"),
        pattern.children,
        _meaning(roles, pattern),
        tuple((place.time - began, place.depth) for place in ready),
        costs,
        phase,
        pattern,
    )
    after, done = _run(line)
    return tuple(Place(at.time + began, at.depth) for at in after), tuple(at + began for at in done)


@dataclass(frozen=True)
class _Line:
    """All that an evaluation depends on; what comes last is the same by the names that it has."""

    costs: tuple[object, ...]
    children: tuple[tuple[int, ...], ...]
    roles: tuple[object, ...]
    ready: tuple[tuple[int, int], ...]
    given: Costs = field(compare=False)
    phase: Phase = field(compare=False)
    pattern: ReducePhase = field(compare=False)


@lru_cache(maxsize=96)
def _run(line: _Line) -> Evaluated:
    """Evaluate a line that begins in cycle 0."""
    run = run_line(line.given, line.phase, line.pattern, [Place(*at) for at in line.ready])
    return tuple(run.after), tuple(run.done)


def _meaning(roles: Sequence[Role], pattern: ReducePhase) -> tuple[object, ...]:
    """What each rank does, its colors numbered as they occur."""
    different: dict[int, int] = {}
    colors: dict[str | None, int] = {None: -1}
    meanings: list[object] = []
    ranks = []
    for role in roles:
        if id(role) not in different:
            different[id(role)] = len(meanings)
            meanings.append(_of_role(role, pattern, colors))
        ranks.append(different[id(role)])
    return (*meanings, tuple(ranks))


def _of_role(role: Role, pattern: ReducePhase, colors: dict[str | None, int]) -> object:
    steps: list[object] = []
    for step in (step for step in role.steps if isinstance(step, StoreVectors | SendVector)):
        color = colors.setdefault(step.color, len(colors))
        if isinstance(step, StoreVectors):
            steps.append((color, step.vectors, step.rounds))
        else:
            from_color = colors.setdefault(step.combines_from, len(colors))
            steps.append((color, from_color, step.advance.name))
    closed = (use.color for use in role.colors if not passes_on(use.positions[0], pattern))
    return tuple(steps), tuple(sorted(colors.setdefault(color, len(colors)) for color in closed))
