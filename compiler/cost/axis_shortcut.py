"""The cycles of trees along the axes of a grid, each axis looked at by one of its lines.

All lines of the first axis are alike, and those of the second begin with what is at the root of
the first; then comes a multicast, or nothing. So two lines and the farthest PE say what a plan
takes: the same number as `collc.cost.predict`, which follows all PEs and also says where cycles go.
A line that was evaluated before, at another time or by other names, is not evaluated again. In
reading order: `cycles_of`, the two axes, the lines that are known.
"""

from __future__ import annotations

from dataclasses import field, fields
from functools import lru_cache
from itertools import pairwise

import numpy as np
from collc_evaluator import StuckError

from collc.base.columns import Ints
from collc.base.memoize import by_identity, memoized
from collc.base.values import dataclass
from collc.cost.line import run_line
from collc.cost.operations import Costs, Place, costs_of, costs_of_phase
from collc.cost.predict import predict
from collc.plan import Phase, Plan, Role
from collc.plan.form import Form, form_of
from collc.plan.geometry import Line, line_of, multicast_of
from collc.plan.placement import passes_on, roles_of_ranks

NEVER = 1 << 62  # more cycles than any plan takes
EARLIEST = 16  # cycles: no PE sends that much before it is ready, and line evaluation begins in 0
CANDIDATE = 20_000_000  # looks at a PE that a plan gets before it is chosen (D122): about a second


def cycles_of(plan: Plan, looks: int | None = None) -> int:
    """The cycles that `predict` says, found in less time where there are trees along axes."""
    costs = costs_of(plan)
    reductions = _along_axes(plan)
    if not reductions or costs.negates or costs.copies:
        return predict(plan, looks).cycles
    axes = _Axes(costs, plan, reductions[0])
    last = len(plan.phases) - 1
    for index, line in enumerate(reductions):
        axes.reduce(index, line, last=index == last)
    told = form_of(plan.phases[last]) is Form.MULTICAST
    return axes.multicast(last) if told else axes.done


@memoized
def cycles_or_never(plan: Plan) -> int:
    """The same of a candidate that no check has let pass: one that gets stuck takes for ever."""
    try:
        return cycles_of(plan, CANDIDATE)
    except StuckError:
        return NEVER


def _along_axes(plan: Plan) -> tuple[Line, ...]:
    """The reductions, if they are of all lines of an axis and then of the line of their roots, and
    nothing but a multicast from the root follows; else none."""
    phases, grid = plan.phases, plan.collective.grid
    trees = tuple(phase for phase in phases if form_of(phase) is Form.TREE)
    reductions = tuple(map(line_of, trees))
    skips = any(line.bypass for line in reductions)
    if not reductions or skips or plan.collective.path is not None:
        return ()
    first, last = reductions[0], reductions[-1]
    across = grid.lines(first.axis)
    place = {first.axis: first.home, last.axis: last.home}
    for line in reductions:
        due = (0, across - 1) if line.axis == first.axis else (first.home, first.home)
        if line.lines != due or line.home != place[line.axis]:
            return ()
    axes = [line.axis for line in reductions]
    turns = sum(one != other for one, other in pairwise(axes))
    root = (place.get("x", 0), place.get("y", 0))
    following = phases[len(reductions) :]
    meant = all(
        form_of(one) is Form.MULTICAST and multicast_of(one).at == root for one in following
    )
    alone = first.axis != last.axis or across == 1
    fits = phases[: len(trees)] == trees and len(following) <= 1 and turns <= 1
    return reductions if meant and alone and fits else ()


class _Axes:
    """The PEs of one line: where their code is; of all others only which of them is last.

    `time` and `depth` are those of `Place` along the line, `latest` is the time of the last of the
    others and of the functions that it is in; `done` the cycle in which all are done that have no
    further part.
    """

    def __init__(self, costs: Costs, plan: Plan, first: Line) -> None:
        self.costs, self.plan = costs, plan
        grid = plan.collective.grid
        self.extents = {"x": grid.width, "y": grid.height}
        self.latest = self.done = 0
        self._begin(first.axis, costs.first_call(plan))

    def _begin(self, axis: str, place: Place) -> None:
        self.axis, self.home = axis, 0
        self.time = np.full(self.extents[axis], place.time, dtype=np.int64)
        self.depth = np.full_like(self.time, place.depth)

    def reduce(self, index: int, line: Line, *, last: bool) -> None:
        """Evaluate a side of a line; all other PEs run through it."""
        if line.axis != self.axis:
            self.latest = self._latest()
            self._begin(line.axis, self._at_home())
        self.home = line.home
        costs, phase = costs_of_phase(self.costs, self.plan, index), self.plan.phases[index]
        low, high = line.stretch
        step = 1 if line.forward else -1
        time, depth = (of[low : high + 1][::step] for of in (self.time, self.depth))
        began = int(time.min()) - EARLIEST
        ready = (time - began).tobytes(), depth.tobytes()
        costs = costs.since(began)
        run = _run(_Line(_key(costs), _meaning(phase), ready, costs))
        time[:], depth[:] = run.time + began, run.depth
        self.done = max(self.done, began + int(run.done[0 if last else 1 :].max()))

    def multicast(self, index: int) -> int:
        """The cycle in which all are done to whom the root sends its vector."""
        costs, way = (
            costs_of_phase(self.costs, self.plan, index),
            multicast_of(self.plan.phases[index]),
        )
        sent = costs.sent_to_all(self._at_home())
        across = max(way.x, way.width - 1 - way.x)
        farthest = across + max(way.y, way.height - 1 - way.y)
        arrives = sent + costs.latency(0) + costs.hop * farthest
        copies = self._latest() + costs.issued(Place(0, 0), "copy")
        end = max(arrives, copies) + costs.length - 1
        return costs.done(end)

    def _at_home(self) -> Place:
        return Place(int(self.time[self.home]), int(self.depth[self.home]))

    def _latest(self) -> int:
        """The same with the PEs of the line, but not its root."""
        reached = np.delete(self.time + self.depth, self.home)
        return max(self.latest, int(reached.max(initial=0)))


@dataclass(frozen=True)
class _Evaluated:
    """`after` and `done` of a `LineRun`, by rank."""

    time: Ints
    depth: Ints
    done: Ints


@dataclass(frozen=True)
class _Meaning:
    """The tree, what there is to do, and which of it each rank does, its colors numbered as they
    occur."""

    children: tuple[tuple[int, ...], ...]
    roles: tuple[object, ...]
    role_of_rank: bytes
    of: Phase = field(compare=False)


@dataclass(frozen=True)
class _Line:
    """All that an evaluation depends on: `costs` as plain values, and when each rank is ready."""

    costs: tuple[object, ...]
    meaning: _Meaning
    ready: tuple[bytes, bytes]
    given: Costs = field(compare=False)


def _key(costs: Costs) -> tuple[object, ...]:
    """The costs without what follows from the others."""
    return tuple(getattr(costs, one.name) for one in fields(costs) if one.name != "prepared")


@lru_cache(maxsize=128)
def _run(line: _Line) -> _Evaluated:
    """Evaluate a line that begins in cycle 0."""
    time, depth = (np.frombuffer(ready, dtype=np.int64).tolist() for ready in line.ready)
    run = run_line(line.given, line.meaning.of, list(map(Place, time, depth)))
    after = ([at.time for at in run.after], [at.depth for at in run.after], run.done)
    return _Evaluated(*map(np.array, after))


@by_identity(128)
def _meaning(phase: Phase) -> _Meaning:
    different: dict[int, int] = {}
    colors: dict[str | None, int] = {None: -1}
    roles: list[object] = []
    ranks = []
    for role in roles_of_ranks(phase):
        assert role is not None, "every rank has a role"
        if id(role) not in different:
            different[id(role)] = len(roles)
            roles.append(_of_role(role, line_of(phase), colors))
        ranks.append(different[id(role)])
    return _Meaning(line_of(phase).children, tuple(roles), np.array(ranks).tobytes(), phase)


def _of_role(role: Role, line: Line, colors: dict[str | None, int]) -> object:
    steps: list[object] = []
    for op, turns in role.repeated:
        from_color = colors.setdefault(op.receives_on, len(colors))
        if op.stores:
            steps.append((from_color, op.vectors, turns))
        elif op.sends:
            color = colors.setdefault(op.sends_on, len(colors))
            steps.append((color, from_color, op.advance.name))
    closed = (use.color for use in role.colors if not passes_on(use.positions[0], line.order))
    return tuple(steps), tuple(sorted(colors.setdefault(color, len(colors)) for color in closed))
