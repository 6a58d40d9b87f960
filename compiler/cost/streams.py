"""Predicted cycles of a phase that streams: its routers and operations, run cycle by cycle.

`collc_evaluator.stream_ends` says when operations end; what is counted here is the code around
them, as `templates/stream_pe.csl.j2` has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import collc_evaluator
import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.cost.operations import Costs, costs_of, costs_of_phase
from collc.cost.stretches import different
from collc.plan import (
    BY_WAVELET,
    Advance,
    Direction,
    Filter,
    Phase,
    PhaseOf,
    Plan,
    Role,
    Slices,
    Stream,
    StreamOp,
    Then,
    ends_of,
    filters_of,
    goes_first,
    is_of,
    leaders_of,
    leads_across,
    stream_of,
    streams_of,
    thens_of,
)
from collc.plan.placement import roles_of_places
from collc.plan.routers import AHEAD
from collc.spec.exchange import StepsPhase


@dataclass(frozen=True)
class Router:
    """Sides as the evaluator numbers them: towards lower places, higher ones, the PE."""

    positions: list[tuple[int, int]]
    filter: tuple[int, int, int] | None
    ring: bool = False


@dataclass(frozen=True)
class Operation:
    """An operation of a PE, issued in cycle `begins`, or so many behind the end of the one that it
    comes `after`. It `resets` the
    switches on its way, or has so many `commands` for those in a ring. Of those of a PE that can
    go one with the lowest `rank` does, 0 to 2; code goes before the last one."""

    receives: int | None
    sends: int | None
    wavelets: int
    after: int | None
    begins: int
    advances: bool = False
    resets: bool = False
    commands: int = 0
    rank: int = 1


@dataclass(frozen=True)
class Place:
    """The routers of all colors, what the PE does, and the instructions behind the issue of what
    begins at once."""

    routers: list[Router]
    operations: list[Operation]
    code: int


@dataclass(frozen=True)
class StreamLine:
    """A line of a phase: roles of places, wavelets of slices, colors by lane."""

    phase: Phase
    roles: tuple[Role | None, ...]
    sizes: list[int]
    lower: Direction

    @property
    def colors(self) -> list[str]:
        """All colors of the phase."""
        return sorted({use.color for role in self.phase.roles for use in role.colors})

    def in_a_ring(self, role: Role | None, color: str | None) -> bool:
        """Whether positions of the router of a role are a ring on a color."""
        return any(use.ring for use in (role.colors if role else ()) if use.color == color)

    def wavelets(self, slices: Slices | None, place: int) -> int:
        """Of these slices."""
        of_place = range(0) if slices is None else slices.at(place)
        return sum(self.sizes[of_place.start : of_place.stop])


def run_streams(
    costs: Costs, phase: PhaseOf[StepsPhase], called: Ints, deep: Ints
) -> tuple[Ints, Ints]:
    """By line and place: when the code calls what follows, and the last busy cycle."""
    line = stream_line(costs, phase)
    first = called.min(axis=1, keepdims=True)
    kinds, which = different(called - first, deep)
    runs = [_run(costs, line, (called - first)[one], deep[one]) for one in kinds]
    free, end = (np.stack(part)[which] for part in zip(*runs, strict=True))
    return free + first, end + first


def streams_at_least(plan: Plan) -> int:
    """Cycles that a plan takes at least where routers alone hand words on: for what a PE sends and
    receives, and for the words of a color that pass a link. Nothing is known of other phases."""
    least, costs = 0, costs_of(plan)
    for index, phase in enumerate(plan.phases):
        if not (phase.streams and is_of(phase, StepsPhase)):
            continue
        if any(s.through for role in phase.roles for s in streams_of(role).values()):
            continue
        of_phase = costs_of_phase(costs, plan, index)
        least = max(least, _line_at_least(of_phase, stream_line(of_phase, phase)))
    return least


def _line_at_least(costs: Costs, line: StreamLine) -> int:
    """The same for one line. All words of a color pass one link, but for those that are still on
    their way there when nobody needs them any more: no more than all queues hold."""
    least = 0
    sent: Counter[str | None] = Counter()
    for place, role in enumerate(line.roles):
        streams = streams_of(role).values() if role else ()
        words = [(line.wavelets(s.sends, place), line.wavelets(s.receives, place)) for s in streams]
        least = max(least, sum(map(sum, words)))
        for stream, (sends, _) in zip(streams, words, strict=True):
            sent[stream.sends_on] += sends
    on_their_way = len(line.roles) * (costs.router_queue + costs.output_queue)
    return max(least, *(words - on_their_way for words in sent.values()), 0)


@memoized
def stream_line(costs: Costs, phase: PhaseOf[StepsPhase]) -> StreamLine:
    """What a line of the phase runs."""
    sizes = costs.wavelets(np.diff(phase.pattern.slicing.bounds))
    lower = AHEAD[phase.pattern.axis].opposite
    return StreamLine(phase, roles_of_places(phase), sizes.tolist(), lower)


def begun(costs: Costs, line: StreamLine) -> Ints:
    """By place: cycles of the code that begins the phase, up to its last issue."""
    return np.array([_beginning(costs, role) for role in line.roles], dtype=np.int64)


def _beginning(costs: Costs, role: Role | None) -> int:
    if role is None or not streams_of(role):
        return 0
    at_once = [op for op in thens_of(role) if begins_behind(role, op) is None]
    return sum(_code(costs, role, op) for op in (None, *at_once)) - 1


def _run(costs: Costs, line: StreamLine, called: Ints, deep: Ints) -> tuple[Ints, Ints]:
    """The same for one line."""
    starts = called + begun(costs, line)
    ends = _ends(costs, line, (starts + deep).tobytes())
    last = np.array([max(found, default=0) for found, _ in ends], dtype=np.int64)
    waits = np.array([bool(found) for found, _ in ends])
    goes_on = np.array(
        [
            _goes_on(costs, role, *found) + _applied(costs, line, place)
            for place, (role, found) in enumerate(zip(line.roles, ends, strict=True))
        ]
    )
    return np.where(waits, goes_on, starts), np.where(waits, last, starts)


def _goes_on(costs: Costs, role: Role | None, ends: Sequence[int], free: int) -> int:
    """When the task runs in which a PE goes on whose operations have ended and which may run tasks
    from a cycle on: of three ends or four the first ones are joined by tasks of their own."""
    thens = thens_of(role) if role else {}
    of = {then: end for then, end in zip(thens.values(), ends, strict=False)}
    blocked = costs.ready * costs.streams.ready_blocks
    length = costs.code.tell + blocked
    joined = -1
    for first, too in ((Then.PAIRS, Then.PAIRS_TOO), (Then.JOINS, Then.JOINS_TOO)):
        if too in of:
            due = max(of.get(first, joined), of[too]) + 1 + costs.task
            free = max(due, free) + length
            joined = free - 1
    waited = [of[then] for then in (Then.ENDS, Then.ENDS_TOO) if then in of]
    begins = max(1 + costs.task + max([joined, *waited], default=0), free)
    return begins + blocked * (len(waited) > 1)


@memoized
def _ends(costs: Costs, line: StreamLine, begins: bytes) -> list[tuple[list[int], int]]:
    """When the operations of each place end, whose code is over in cycles of 64 bits, and from when
    on the PE may run a task. A plan that has been chosen is predicted again."""
    places, orders = [], []
    for place, begin in enumerate(np.frombuffer(begins, dtype=np.int64).tolist()):
        role = line.roles[place]
        operations, order = _as_issued(costs, list(_operations(costs, line, place, begin)))
        code = costs.code.frame + costs.streams.ready_moved * _loads_moved(costs, role)
        routers = [_router(line, place, color) for color in line.colors]
        places.append(Place(routers, operations, code))
        orders.append(order)
    found = collc_evaluator.stream_ends(costs, places)
    return [
        ([ends[order.index(number)] for number in range(len(ends))], free)
        for order, (ends, free) in zip(orders, found, strict=True)
    ]


def _as_issued(costs: Costs, operations: list[Operation]) -> tuple[list[Operation], list[int]]:
    """The operations of a PE in the order in which those that begin at once are issued, and which
    one each was: a stream that is ready sends first."""
    order = list(range(len(operations)))
    if costs.ready:
        order.sort(key=lambda number: operations[number].sends is None)
    moved = [
        one if one.after is None else replace(one, after=order.index(one.after))
        for one in (operations[number] for number in order)
    ]
    return moved, order


def _applied(costs: Costs, line: StreamLine, place: int) -> int:
    """Cycles in which what is staged is combined."""
    role = line.roles[place]
    staged = staged_of(role)
    slices = staged_slices(staged, place)
    words = sum(line.sizes[slices.start : slices.stop]) * costs.per_wavelet
    applied = costs.streams.ready_applied if costs.ready else costs.streams.applied
    return applied_words(costs, staged, words) + applied if words else 0


def staged_of(role: Role | None) -> list[Stream]:
    """What a role stages, the lower slices first."""
    streams = map(stream_of, role.lanes) if role else ()
    return [stream for stream in streams if stream is not None and stream.staged]


def staged_slices(staged: Sequence[Stream], place: int) -> range:
    """The slices that a place stages, which one operation takes from there."""
    parts = [stream.receives.at(place) for stream in staged if stream.receives]
    return range(parts[0].start, parts[-1].stop) if parts else range(0)


def applied_words(costs: Costs, staged: Sequence[Stream], words: int) -> int:
    """Cycles in which so many words that are staged are combined, or copied."""
    rate = costs.apply_rate if any(one.combines for one in staged) else costs.move_rate
    return -(-words // rate)


def pieces_of(role: Role, op: StreamOp | None, *, ready: bool = False) -> dict[str, int]:
    """The pieces of code of an operation of a role, or of what is in front of them all."""
    streams = streams_of(role)
    if op is not None and (turn := _turn(streams, op)):
        return turn
    if ready and (op is None or begins_behind(role, op) is None):
        loads, begins = op is not None and op.name == "out", op is not None
        return {"ready": int(not begins), "ready_loads": int(loads), "ready_issues": int(begins)}
    if op is None:
        ends, backward = ends_of(role), any(stream.backward for stream in streams.values())
        return {"loaded": 1, "joins": max(0, ends - 1), "backward": int(backward)}
    stream = streams[op.lane]
    if op.name == "control":
        return {"control": 1}
    alone = {"loaded": int(begins_behind(role, op) is not None)}
    if op.name == "out":
        return alone | {"sends": 1, "through": int(stream.through)}
    combines = stream.combines and not stream.staged
    return alone | {"receives": 1, "combines": int(combines), "staged": int(stream.staged)}


def _turn(streams: Mapping[str, Stream], op: StreamOp) -> dict[str, int]:
    """The pieces of an operation of lanes that run in turn, with the ends that the task asks for
    before its own; none for the first one, which begins with the phase."""
    number, one = 1, streams[op.lane]
    followed = any(other.after == op.lane for other in streams.values())
    if op.name == "into" or one.receives is not None or not (one.after or followed):
        return {}
    while one.after:
        number, one = number + 1, streams[one.after]
    if op.name == "control":
        return {"turn_control": 1, "passed": number - 1}
    if number == 1:
        return {}
    if streams[streams[op.lane].after].advance in BY_WAVELET:
        return {"turn_follows": 1}
    return {"turn_sends": 1, "passed": number - 2}


def _code(costs: Costs, role: Role, op: StreamOp | None) -> int:
    """Cycles up to the issue of an operation, and its own."""
    pieces = pieces_of(role, op, ready=costs.ready)
    return sum(getattr(costs.streams, name) * n for name, n in pieces.items())


def begins_behind(role: Role, op: StreamOp) -> StreamOp | None:
    """The operation behind which one begins, None if it begins with the phase."""
    stream = streams_of(role)[op.lane]
    both = stream.through and stream.receives is not None
    if op.name == "control" or (op.name == "into" and both and not stream.kept_first):
        return StreamOp(op.lane, "out")
    if op.name == "out" and both and stream.kept_first:
        return StreamOp(op.lane, "into")
    if stream.after and (op.name == "into") is stream.kept_first:
        last = "out"
        if stream.kept_first:
            last = "into"
        elif streams_of(role)[stream.after].advance in BY_WAVELET:
            last = "control"
        return StreamOp(stream.after, last)
    return None


def _operations(costs: Costs, line: StreamLine, place: int, begins: int) -> Iterator[Operation]:
    """What a PE does at a place of its line, in the order of the text."""
    role = line.roles[place]
    if role is None:
        return
    streams = streams_of(role)
    colors: dict[str | None, int | None] = {name: i for i, name in enumerate(line.colors)}
    colors[None] = None
    number = {op: index for index, op in enumerate(thens_of(role))}
    at_once = [op for op in number if begins_behind(role, op) is None]
    grouped = costs.ready and any(leads_across(line.phase, op.lane) for op in number)
    received = 0 if grouped else 1  # as queues are initialised, microthreads go before code
    delay = _delay_of_code(costs, line, place) if costs.ready and leaders_of(line.phase) else 0
    for op in number:
        stream = streams[op.lane]
        index, into = colors[stream.sends_on], colors[stream.receives_on]
        behind = begins_behind(role, op)
        after = number[behind] if behind is not None else None
        starts = begins - costs.returns + (0 if goes_first(line.phase, op.lane) else delay)
        if after is not None and "turn_follows" in pieces_of(role, op, ready=costs.ready):
            starts = _code(costs, role, op) - costs.returns
        elif after is not None:
            starts = 1 + costs.task + _code(costs, role, op) - 1
        if op.name == "control":
            hands_over = stream.advance is Advance.HAND_OVER
            commands = (1 + line.in_a_ring(role, stream.sends_on)) * hands_over
            rank = _rank(costs, line.phase, op.lane)
            yield Operation(None, index, 1, after, starts, False, not hands_over, commands, rank)
        elif op.name == "out":
            through = into if stream.through else None
            advances = stream.advance is Advance.OWN_ROUTER
            words = line.wavelets(stream.sends, place)
            rank = received if stream.through else _rank(costs, line.phase, op.lane)
            starts -= _behind(costs, line.phase, at_once, op) if rank == 0 and op in at_once else 0
            yield Operation(through, index, words, after, starts, advances, rank=rank)
        else:
            words = line.wavelets(stream.receives, place)
            yield Operation(into, None, words, after, starts, rank=received)


def _loads_moved(costs: Costs, role: Role | None) -> bool:
    """Whether the registers of what is staged are loaded behind what a PE begins at once."""
    return costs.ready and bool(staged_of(role))


def _delay_of_code(costs: Costs, line: StreamLine, place: int) -> int:
    """Cycles for which what goes first holds up the code behind it, which loads registers: an
    operation that never lacks room has the slot in every cycle."""
    role = line.roles[place]
    streams = streams_of(role) if role else {}
    room = costs.router_queue + costs.output_queue
    first = [one for lane, one in streams.items() if goes_first(line.phase, lane)]
    return sum(min(line.wavelets(one.sends, place), room) for one in first)


def _behind(costs: Costs, phase: Phase, at_once: Sequence[StreamOp], op: StreamOp) -> int:
    """Cycles of the code behind the issue of an operation that goes first: others, and where lanes
    run in turn the registers of what is sent across."""
    loads = [one for one in at_once if one.name == "out" and leads_across(phase, one.lane)]
    issues = len(at_once) - 1 - at_once.index(op)
    return issues + bool(leaders_of(phase)) * len(loads) * costs.streams.ready_loads


def _rank(costs: Costs, phase: Phase, lane: str) -> int:
    """That of what is sent on a lane, where nothing is received on its way: behind code, unless its
    microthread has a priority (`priority` of the text's lanes)."""
    if not costs.ready:
        return 2
    return 0 if goes_first(phase, lane) else 1 if leads_across(phase, lane) else 2


def _router(line: StreamLine, place: int, color: str) -> Router:
    """How a router is set on a color."""
    role = line.roles[place]
    use = next((use for use in role.colors if use.color == color), None) if role else None
    if use is None:
        return Router([], None)
    sides = {line.lower: 0, line.lower.opposite: 1, Direction.RAMP: 2}
    positions = [
        (sides[route.receive], sum(1 << sides[side] for side in route.send))
        for route in use.positions
    ]
    counter = filters_of(role).get(color) if role else None
    sieve = _filter(line, place, counter) if counter else None
    return Router(positions, sieve, use.ring)


def _filter(line: StreamLine, place: int, counter: Filter) -> tuple[int, int, int]:
    """The period of a filter, its first count, and how many wavelets pass."""
    period, before, passes = (
        line.wavelets(part, place) for part in (counter.period, counter.before, counter.passes)
    )
    return period, (period - before) % period, passes
