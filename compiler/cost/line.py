"""Evaluation of a reduce along one line, by the first and the last element of every vector.

An element sent in cycle t is used by the PE `d` hops on in cycle t + ramp_up + d hop + ramp_down
(later by `send_start` where the sender receives nothing). A PE takes
the vectors of its children one after the other and sends while it takes the last. That is the
thesis' model; with no start-up costs and no routers' queues it is all there is (a chain of P ranks
over B elements: 6 (P - 1) + B cycles for a ramp of 2). What is added here:

- an operation starts only after its start-up (`collc.cost.operations`);
- a vector waits at a router that still has to take its next position;
- a sender is held up when what is before it does not move and the queues on the way are full;
- the part of a waiting vector that these queues hold has used links that other colors need, too
  (`collc.cost.contention`).

Ranks are evaluated from the far end on, since data flows towards rank 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from collc.base.values import dataclass
from collc.cost.backpressure import at_gate, by_receiver
from collc.cost.contention import Crowd
from collc.cost.noncontiguous import Distances, distances
from collc.cost.opening import finish_word, move_on
from collc.cost.operations import Costs, Place
from collc.plan import BY_WAVELET, Op, Phase, Role
from collc.plan.geometry import Line, line_of
from collc.plan.placement import passes_on, roles_of_ranks

# Instructions of rounds of call-backs that are unrolled (docs/machine.md, section 4.1): those of a
# round, and more that set the length; in a loop beyond that.
UNROLLED, ROUND, ROUND_OF_LENGTH = 150, 3, 5


@dataclass(frozen=True)
class Wait:
    """Why a rank could not take a vector earlier: it waited for `rank` to do `what`.

    `what` is "vector" (its first element), "router" (its router to let vectors pass),
    "previous" (the rank itself was taking the vector before) or "start" (it was starting up). For
    so many `cycles` the first element of `source` was there already.
    """

    rank: int
    what: str
    cycles: int = 0
    source: int | None = None


@dataclass
class LineRun:
    """The evaluation as it proceeds; all times are cycles since the common start.

    `first[r]` and `last[r]` are the cycles in which r would send its first and its last element if
    nothing held it up, `end[r]` the last cycle in which r is busy; `opens[r][color]` the first
    cycle in which router r lets a vector pass (0: not known yet); `gate[r]` the last router that
    the vector of r waits at; `waits[r]` what held up each vector that r takes. `frame[r]` is where
    the code of r sends, `free[r]` when it has left the PE, and `taken[r]` when the receiver of its
    vector takes the last element; `after[r]` where it calls what follows, or of a root that sends
    to all where it does, `done[r]` when it is done if nothing follows. Two tasks of r may be
    between operations, one behind storing and one behind sending: `late[r]` are the cycles by which
    they begin late, `due[r]` when they are due, -1 if there are none. `far` is how far ranks are
    apart. `passing` is what an operation that stores several vectors takes more. `comes[r]` are
    stretches in which elements that come go before code, from when to when. `held[r]` is of how
    many vectors that is made which r has, and `wins[r]` how often a pair of r is the result where
    it is combined: as often as one of so many equals.
    """

    costs: Costs
    line: Line
    roles: tuple[Role, ...]
    ready: Sequence[Place]
    crowd: Crowd
    first: list[int]
    last: list[int]
    end: list[int]
    opens: list[dict[str, int]]
    gate: list[int]
    waits: list[list[Wait]]
    frame: list[Place]
    free: list[int]
    taken: list[int]
    after: list[Place]
    done: list[int]
    late: Sequence[tuple[int, int]]
    due: list[tuple[int, int]]
    far: Distances
    passing: int
    comes: list[list[tuple[int, int]]]
    held: list[int]
    wins: list[float]

    def sent(self, rank: int) -> int:
        """When a rank's first element leaves its pipeline, which takes longer to fill where nothing
        is received."""
        return self.first[rank] + self.start(rank)

    def start(self, rank: int) -> int:
        """By how much longer that takes."""
        receives = _sending(self, rank).combines_from is not None
        return 0 if receives else self.costs.send_start

    def combining(self, source: int, words: int) -> int:
        """Cycles in which so many words of a rank are combined with the receiver's."""
        costs = self.costs
        more = int(words * costs.taken * self.wins[source] / costs.words) if costs.taken else 0
        return costs.combining(words) + more

    def hops(self, source: int, rank: int) -> int:
        """How far a rank is from the one that receives its vector."""
        if self.line.bypass:
            return self.line.hops(source, rank)
        return self.apart(source, rank)

    def apart(self, rank: int, nearer: int) -> int:
        """How far a rank is from one nearer to the root."""
        return self.far.at[rank] - self.far.at[nearer]


def run_line(
    costs: Costs,
    phase: Phase,
    ready: Sequence[Place],
    opened: Sequence[int] = (),
    late: Sequence[tuple[int, int]] = (),
) -> LineRun:
    """Evaluate a phase; at `ready[r]` the code of rank r calls it. Where routers let nothing pass
    before that, `opened[r]` is when they do. `late` as in `LineRun`."""
    line = line_of(phase)
    roles = tuple(role for role in roles_of_ranks(phase) if role is not None)
    assert len(roles) == line.ranks, "every rank has a role"
    opens = [_closed(role, line) for role in roles]
    for router, role in zip(opens, roles, strict=True) if opened else ():
        router.update((use.color, 0) for use in role.colors if use.color not in router)
    for router, cycle in zip(opens, opened, strict=False):
        router.update((color, cycle) for color in router if not router[color])
    run = LineRun(
        costs,
        line,
        roles,
        ready,
        Crowd(costs, line.children, opens),
        first=[0] * line.ranks,
        last=[0] * line.ranks,
        end=[0] * line.ranks,
        opens=opens,
        gate=[0] * line.ranks,
        waits=[[] for _ in roles],
        frame=list(ready),
        free=[0] * line.ranks,
        taken=[0] * line.ranks,
        after=list(ready),
        done=[0] * line.ranks,
        late=late or [(0, 0)] * line.ranks,
        due=[(-1, -1)] * line.ranks,
        far=distances(phase, costs.length // costs.latency(1)),
        passing=0 if costs.one_word else costs.code.store_passes * phase.passes,
        comes=[[] for _ in roles],
        held=[1] * line.ranks,
        wins=[0.0] * line.ranks,
    )
    for rank in reversed(range(line.ranks)):
        _run_rank(run, rank)
    return run


def _closed(role: Role, line: Line) -> dict[str, int]:
    """The colors on which a router has to move on before vectors can pass."""
    return {use.color: 0 for use in role.colors if not passes_on(use.positions[0], line.order)}


def _run_rank(run: LineRun, rank: int) -> None:
    """The operations of a rank, one after the other."""
    place = run.ready[rank]
    children = iter(run.line.children[rank])
    sends = False
    for op, turns in run.roles[rank].repeated:
        if op.stores:
            sources = [next(children) for _ in range(op.vectors * turns)]
            place = _store(run, rank, (op.vectors, turns), sources, place)
            if len(run.roles[rank].ops) > 1 and not run.costs.maps:
                again = run.late[rank][0] * (turns > 1)
                run.due[rank] = (place.time - run.costs.task - again, -1)
                place = replace(place, time=place.time + run.late[rank][0] - again)
        elif op.sends:
            sends = True
            if rank:
                _send(run, rank, op, next(children, None), place)
            else:
                _send_to_all(run, next(children, None), place)
    if not sends:
        _end_at_root(run, rank, place)


def _end_at_root(run: LineRun, rank: int, place: Place) -> None:
    """The root passes the slot for sending; if nothing follows, its operation has said so, unless a
    task behind it counts rounds."""
    costs = run.costs
    run.after[rank] = place
    counts = any(op.stores and turns > 1 for op, turns in run.roles[rank].repeated)
    told_by_code = costs.maps or counts
    free = run.free[rank]
    run.done[rank] = costs.done_by_code(place) if told_by_code else costs.done(run.end[rank], free)


def _store(
    run: LineRun, rank: int, rounds: tuple[int, int], sources: list[int], place: Place
) -> Place:
    """Take vectors into memory, so many in each of so many rounds; gives where the code goes on."""
    costs = run.costs
    loads_own = len(run.roles[rank].ops) > 1
    per_round, turns = rounds
    for number in range(turns):
        again = number and not costs.maps  # the task behind one operation issues the next
        issued = place.time if again else costs.issued(place, "store") + run.passing
        free = issued if costs.maps else costs.returned(place, issued)
        if loads_own and not number and not costs.maps and not costs.one_word:
            free += costs.code.own_vector_read
        end = issued - 1 if costs.maps else issued + costs.receives - 1
        for index, source in enumerate(sources[number * per_round : (number + 1) * per_round]):
            start, last = _take(run, rank, source, end, "previous" if index else "start")
            _settle(run, source, rank, start, last)
            end = last + costs.last_answer
            if not index and not costs.maps:
                free = costs.held(issued, free, start, last)
        run.end[rank], run.free[rank] = end, free
        behind = Place(end, place.depth) if costs.maps else costs.after(end, free)
        if turns > 1:
            behind = replace(behind, time=behind.time + run.late[rank][0] * (not costs.maps))
            behind = _next_round(costs, behind, number, turns)
        place = behind
    return place


def _next_round(costs: Costs, place: Place, number: int, rounds: int) -> Place:
    """Where the code goes on from there, the loop over rounds run through."""
    if costs.maps:
        size = ROUND_OF_LENGTH if costs.map_length else ROUND
        jumps = costs.code.map_round * (rounds * size > UNROLLED)
        return Place(place.time + costs.map_length + jumps, place.depth)
    if number == rounds - 1:
        return Place(place.time + costs.code.next_round + costs.code.last_round, place.depth)
    return Place(place.time + costs.code.next_round, place.depth)


def _send(run: LineRun, rank: int, op: Op, source: int | None, place: Place) -> None:
    """Send the own vector, taking the last child's on the way."""
    costs = run.costs
    run.frame[rank] = place
    stored = len(run.roles[rank].ops) > 1
    if source is None:
        issued = costs.issued(place, "send")
        run.first[rank] = costs.sent(place, leaf=True)
        run.last[rank] = run.first[rank] + costs.length - 1
    else:
        issued = costs.issued(place, "add_after_store" if stored else "add")
        before = issued + (0 if costs.maps else costs.receives) - 1
        start, last = _take(run, rank, source, before, "start")
        run.first[rank], run.last[rank] = start + costs.answer, last + costs.last_answer
    run.free[rank] = costs.returned(place, issued)
    if source is not None and not costs.maps:
        run.free[rank] = costs.held(issued, run.free[rank], start, last)
    if source is None or costs.combine == costs.words:  # slower vectors leave room for others
        contended = run.crowd.delay(rank, op.sends_on or "", run.sent(rank))
        run.last[rank] = max(run.last[rank], run.first[rank] + costs.length - 1 + contended)
    shared = run.first[rank] + run.far.load[rank] * (costs.length - 1)
    run.last[rank] = max(run.last[rank], shared)
    run.crowd.join(rank, op.sends_on or "", run.sent(rank))


def _send_to_all(run: LineRun, source: int | None, place: Place) -> None:
    """The root of a one-word collective sends the sum, perhaps as it takes the last word; a
    multicast follows that."""
    costs, stored = run.costs, len(run.roles[0].ops) > 1
    if source is None:
        run.first[0] = costs.sent(place)
    else:
        issued = costs.issued(place, "add_after_store" if stored else "add")
        start, last = _take(run, 0, source, issued + costs.receives - 1, "start")
        _settle(run, source, 0, start, last)
        run.first[0] = last + costs.last_answer
    run.end[0] = run.first[0]
    run.after[0] = Place(run.sent(0), 0)


def _take(run: LineRun, rank: int, source: int, before: int, reason: str) -> tuple[int, int]:
    """When, after cycle `before`, `rank` uses the first and the last element of `source`."""
    costs = run.costs
    latency = costs.latency(run.hops(source, rank))
    arrival = run.sent(source) + latency
    opened, router = _opened(run, rank, source)
    start = max(arrival, opened, before + 1)
    if start == arrival:
        wait = Wait(source, "vector")
    elif start == opened:
        wait = Wait(router, "router", start - arrival, source)
    else:
        wait = Wait(rank, reason, start - arrival, source)
    run.waits[rank].append(wait)
    run.gate[source] = router if opened > arrival else 0
    both = run.held[rank] + run.held[source]
    run.held[rank], run.wins[source] = both, run.held[source] / both
    end = max(
        start + run.combining(source, costs.length - 1),
        run.last[source] + run.start(source) + latency,
    )
    if not costs.maps:
        _comes(run.comes[rank], max(start, end + 1 - costs.length), end + 1)
    return start, end


def _comes(stretches: list[tuple[int, int]], first: int, beyond: int) -> None:
    """Elements come from a cycle on, perhaps right behind others."""
    if stretches and stretches[-1][1] >= first:
        first, _ = stretches.pop()
    stretches.append((first, beyond))


def _opened(run: LineRun, rank: int, source: int) -> tuple[int, int]:
    """When the last router on the way has opened, seen from the receiver, and which one that is.

    Only routers behind the previous child need a look: a vector that passed before has found the
    others open.
    """
    color, costs = _sending(run, source).sends_on or "", run.costs
    before = [child for child in run.line.children[rank] if child < source]
    nearest = max(before, default=rank + 1)
    times = (
        (
            run.opens[router].get(color, 0)
            + costs.hop * run.apart(router, rank)
            + costs.ramp_down
            + 1,
            router,
        )
        for router in range(nearest, source)
        if color in run.opens[router]
    )
    return max(times, default=(0, rank))


def _sending(run: LineRun, rank: int) -> Op:
    """How a rank that is not the root sends."""
    return run.roles[rank].ops[-1]


def _settle(run: LineRun, source: int, rank: int, start: int, end: int) -> None:
    """Know when `source` has sent all, now that `rank` takes its vector from cycle `start` to
    `end`, and with it when those end that it passes on while they arrive, and so on outwards."""
    costs = run.costs
    at = source
    while True:
        op = _sending(run, at)
        held = max(by_receiver(run, at, rank, start, end), at_gate(run, at))
        run.taken[at] = end
        sent = max(run.last[at], held)
        _finish(run, at, rank, sent, op)
        if not op.combines_from:
            return
        rank, at = at, run.line.children[at][-1]
        # the rank takes its last child's elements as it sends its own: late if it is held up
        end = sent - costs.last_answer
        start = max(run.first[rank] - costs.answer, end - run.combining(at, costs.length - 1))


def _finish(run: LineRun, source: int, rank: int, end: int, op: Op) -> None:
    """The vector of `source` has left in cycle `end`; routers move on behind it."""
    costs = run.costs
    if costs.one_word:
        finish_word(run, source, rank, end, op)
        return
    by_code = costs.maps and op.combines_from is not None
    free = run.free[source]
    place = Place(end, run.frame[source].depth) if by_code else costs.after(end, free)
    run.done[source] = costs.done_by_code(place) if by_code else costs.done(end, free)
    if op.advance in BY_WAVELET:
        if not by_code:  # else the code that combines sends it itself
            run.due[source] = (run.due[source][0], place.time - costs.task)
        place = replace(place, time=place.time + run.late[source][1])
        end = costs.returned(place, costs.issued(place, "control"))
        place = costs.after(end, end)
        run.done[source] = costs.done(end, end)
    move_on(run, source, rank, end, op)
    run.end[source] = end
    run.after[source] = place
