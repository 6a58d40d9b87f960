"""Exact evaluation of a reduce along one line, under the thesis' model plus start-up costs.

Vectors are contiguous streams, so it is enough to follow the first element of each. An element sent
in cycle t is used by the PE `d` hops on in cycle t + 2 ramp + d hop + 1. A PE takes the vectors of
its children one after the other and sends while it takes the last. What the thesis leaves out and
this adds: an operation starts only after its start-up; a vector waits at a router that still has
to take its next position; a sender is held up when its receiver is not ready and the queues on
the way are full. With all of these zero the result is the thesis' (a chain of P ranks over B
elements: 6 (P - 1) + B cycles for a ramp of 2).

Ranks are evaluated from the far end on, since data flows towards rank 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collc.cost.operations import Costs
from collc.placement import passes_on, roles_of_ranks
from collc.plan import Advance, Phase, Role, SendVector, StoreVectors
from collc.schedule import ReducePhase


@dataclass(frozen=True)
class Wait:
    """Why a rank could not take a vector earlier: it waited for `rank` to do `what`.

    `what` is "vector" (its first element), "router" (its router to let vectors pass),
    "previous" (the rank itself was taking the vector before) or "start" (it was starting up).
    """

    rank: int
    what: str


@dataclass
class LineRun:
    """The evaluation as it proceeds; all times are cycles since the common start.

    `first[r]` the cycle in which r sends its first element; `end[r]` the last cycle in which r is
    busy; `opens[r][color]` the first cycle in which router r lets a vector pass; `waits[r]` what
    held up each vector that r takes.
    """

    costs: Costs
    pattern: ReducePhase
    roles: tuple[Role, ...]
    ready: Sequence[int]
    first: list[int]
    end: list[int]
    opens: list[dict[str, int]]
    waits: list[list[Wait]]


def run_line(costs: Costs, phase: Phase, pattern: ReducePhase, ready: Sequence[int]) -> LineRun:
    """Evaluate a phase; `ready[r]` is when rank r comes to the first instruction of the phase."""
    roles = tuple(role for role in roles_of_ranks(phase, pattern) if role is not None)
    assert len(roles) == pattern.ranks, "every rank has a role"
    run = LineRun(
        costs,
        pattern,
        roles,
        ready,
        first=[0] * pattern.ranks,
        end=[0] * pattern.ranks,
        opens=[_closed(role, pattern) for role in roles],
        waits=[[] for _ in roles],
    )
    for rank in reversed(range(pattern.ranks)):
        _run_rank(run, rank)
    return run


def _closed(role: Role, pattern: ReducePhase) -> dict[str, int]:
    """The colors on which a router has to move on before vectors can pass."""
    return {use.color: 0 for use in role.colors if not passes_on(use.positions[0], pattern)}


def _run_rank(run: LineRun, rank: int) -> None:
    """The steps of a rank, one after the other."""
    free = run.ready[rank]
    children = iter(run.pattern.children[rank])
    for step in run.roles[rank].steps:
        if isinstance(step, StoreVectors):
            free = _store(run, rank, step, [next(children) for _ in range(step.vectors)], free)
        elif isinstance(step, SendVector):
            _send(run, rank, step, next(children, None), free)


def _store(run: LineRun, rank: int, step: StoreVectors, sources: list[int], free: int) -> int:
    """Take vectors into memory; gives the cycle in which the next task begins."""
    costs = run.costs
    per_round = step.vectors // step.rounds
    before = 0
    for index, source in enumerate(sources):
        starts = index % per_round == 0
        if starts:
            before = free + costs.store
        start = _take(run, rank, source, before, "start" if starts else "previous")
        before = start + costs.combine * costs.length - 1
        free = before + costs.task
        _settle(run, source, rank, start)
    run.end[rank] = before
    return free


def _send(run: LineRun, rank: int, step: SendVector, source: int | None, free: int) -> None:
    """Send the own vector, taking the last child's on the way."""
    stored = any(isinstance(other, StoreVectors) for other in run.roles[rank].steps)
    before = free + (run.costs.send_after_store if stored else run.costs.send)
    if source is None:
        run.first[rank] = before + 1
        return
    start = _take(run, rank, source, before, "start")
    run.first[rank] = start + run.costs.combine - 1


def _take(run: LineRun, rank: int, source: int, before: int, reason: str) -> int:
    """The cycle in which `rank` uses the first element of `source`, after cycle `before`."""
    costs = run.costs
    arrival = run.first[source] + costs.latency(source - rank)
    opened, router = _opened(run, rank, source)
    start = max(arrival, opened, before + 1)
    if start == arrival:
        wait = Wait(source, "vector")
    elif start == opened:
        wait = Wait(router, "router")
    else:
        wait = Wait(rank, reason)
    run.waits[rank].append(wait)
    return start


def _opened(run: LineRun, rank: int, source: int) -> tuple[int, int]:
    """When the last router on the way has opened, seen from the receiver, and which one that is.

    Only routers behind the previous child need a look: a vector that passed before has found the
    others open.
    """
    color = _send_step(run, source).color
    costs = run.costs
    before = [child for child in run.pattern.children[rank] if child < source]
    nearest = max(before, default=rank + 1)
    times = (
        (run.opens[router].get(color, 0) + costs.hop * (router - rank) + costs.ramp + 1, router)
        for router in range(nearest, source)
    )
    return max(times, default=(0, rank))


def _send_step(run: LineRun, rank: int) -> SendVector:
    """How a rank that is not the root sends."""
    step = run.roles[rank].steps[-1]
    assert isinstance(step, SendVector)
    return step


def _settle(run: LineRun, source: int, rank: int, start: int) -> None:
    """Know when `source` has sent all, now that `rank` has taken its vector from cycle `start` on,
    and with it when those end that it passes on while they arrive, and so on outwards."""
    costs = run.costs
    at: int | None = source
    while at is not None:
        step = _send_step(run, at)
        rate = costs.combine if step.adds_from else 1
        own_end = run.first[at] + rate * (costs.length - 1)
        held = costs.length - 1 - costs.buffered(at - rank)
        held_end = start + costs.combine * held if held >= 0 else 0
        end = max(own_end, held_end)
        _finish(run, at, rank, end, step.advance)
        rank, at = at, run.pattern.children[at][-1] if step.adds_from else None
        # the rank takes its last child's elements as it sends its own: late if it is held up
        start = end - costs.combine * (costs.length - 1)


def _finish(run: LineRun, source: int, rank: int, end: int, advance: Advance) -> None:
    """The vector of `source` has left in cycle `end`; routers move on behind it."""
    costs = run.costs
    color = _send_step(run, source).color
    if advance is Advance.CONTROL:
        end += costs.task + costs.control + 1
        arrival = end + costs.ramp + costs.hop * (source - rank) + 1
        _open(run, rank, color, arrival)
    if advance is not Advance.NOTHING:
        _open(run, source, color, end + costs.ramp + 1)
    run.end[source] = end


def _open(run: LineRun, router: int, color: str, cycle: int) -> None:
    """A router that was closed for a color lets vectors pass from `cycle` on."""
    if color in run.opens[router]:
        run.opens[router][color] = cycle


def critical_waits(run: LineRun) -> tuple[Wait, ...]:
    """From the first cause to the end at rank 0: what each thing waited for."""
    chain: list[Wait] = []
    rank, index = 0, len(run.waits[0]) - 1
    while index >= 0:
        wait = run.waits[rank][index]
        chain.append(wait)
        if wait.what in ("previous", "start"):
            index -= 1
        else:
            rank, index = wait.rank, len(run.waits[wait.rank]) - 1
    return tuple(reversed(chain))
