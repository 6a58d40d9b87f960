"""Predicted cycles of a phase that streams: its routers and operations, run cycle by cycle.

`collc_evaluator.stream_ends` says when operations end; the code around them is counted piece by
piece (`collc.cost.stream_code`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import collc_evaluator
import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.cost.operations import Costs, costs_of, costs_of_phase
from collc.cost.stream_code import (
    applied_words,
    begins_behind,
    code_of,
    pieces_of,
    staged_of,
    staged_slices,
)
from collc.cost.stretches import different
from collc.plan import (
    Advance,
    Direction,
    Filter,
    Phase,
    Plan,
    Role,
    Slices,
    StreamOp,
    Then,
    filters_of,
    goes_first,
    leaders_of,
    leads_across,
    streams_of,
    thens_of,
)
from collc.plan.form import Form, form_of
from collc.plan.placement import roles_of_places
from collc.plan.plan import AHEAD


@dataclass(frozen=True)
class Router:
    """How a router is set on a color, position by position: the side that it takes it from, and a
    bit for each side that it sends it to, as the evaluator numbers them (0 towards lower places, 1
    towards higher ones, 2 the PE); of a filter the period, its first count, and how many pass. In a
    `ring` the first position follows the last."""

    positions: list[tuple[int, int]]
    filter: tuple[int, int, int] | None
    ring: bool = False


@dataclass(frozen=True)
class Operation:
    """An operation of a PE: the numbers of the colors that it receives and sends on, and its
    wavelets. It is issued in cycle `begins`, or so many behind the end of the one that it comes
    `after`, which has that number at its place. Behind its last wavelet it `advances` its own
    router, `resets` the switches on its way, or has so many `commands` for those in a ring. Of the
    operations of a PE that can go one with the lowest `rank` does, 0 to 2; code goes before 2."""

    receives: int | None
    sends: int | None
    wavelets: int
    after: int | None = None
    begins: int = 0
    advances: bool = False
    resets: bool = False
    commands: int = 0
    rank: int = 1


@dataclass(frozen=True)
class Place:
    """The routers of all colors, what the PE does, and as `code` the instructions behind the issue
    of what begins at once."""

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
        blocks = () if slices is None else slices.in_all_blocks(place)
        return sum(sum(self.sizes[block.start : block.stop]) for block in blocks)


def run_streams(costs: Costs, phase: Phase, called: Ints, deep: Ints) -> tuple[Ints, Ints]:
    """When the code calls what follows, and the last busy cycle, both [line, place]; so are the
    cycle in which the phase is `called`, and how many calls, in cycles, it is `deep` there. Raises
    `StuckError` if operations wait for ever."""
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
        if not (form_of(phase) is Form.STREAM and form_of(phase).is_cut):
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
def stream_line(costs: Costs, phase: Phase) -> StreamLine:
    """What a line of the phase runs."""
    sizes = costs.wavelets(np.diff(phase.slicing.bounds))
    lower = AHEAD[phase.axis].opposite
    return StreamLine(phase, roles_of_places(phase), sizes.tolist(), lower)


def begun(costs: Costs, line: StreamLine) -> Ints:
    """By place: cycles of the code that begins the phase, up to its last issue."""
    return np.array([_beginning(costs, role) for role in line.roles], dtype=np.int64)


def _beginning(costs: Costs, role: Role | None) -> int:
    if role is None or not streams_of(role):
        return 0
    at_once = [op for op in thens_of(role) if begins_behind(role, op) is None]
    return sum(code_of(costs, role, op) for op in (None, *at_once)) - 1


def _run(costs: Costs, line: StreamLine, called: Ints, deep: Ints) -> tuple[Ints, Ints]:
    """What `run_streams` finds for one line, [place]."""
    starts = called + begun(costs, line)
    ends = _ends(costs, line, begins=(starts + deep).tobytes())
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
    """The cycle in which the task begins that goes on behind the `ends` of a PE's operations, if
    the PE may run tasks from cycle `free` on: of three ends or four the first ones are joined by
    tasks of their own."""
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
def _ends(costs: Costs, line: StreamLine, *, begins: bytes) -> list[tuple[list[int], int]]:
    """By place, when its operations end, in the order of the text, and from when on its PE may run
    a task; `begins` has cycles of 64 bits as `_operations` takes them. Memoized, as the plan that
    is chosen in the end has been predicted before."""
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
    words = line.wavelets(slices, place) * costs.per_wavelet
    applied = costs.streams.ready_applied if costs.ready else costs.streams.applied
    return applied_words(costs, staged, words) + applied if words else 0


def _operations(costs: Costs, line: StreamLine, place: int, begins: int) -> Iterator[Operation]:
    """What a PE does at a place of its line, in the order of the text; `begins` is the cycle from
    which on operations issued at the end of the code that begins the phase may have slots."""
    role = line.roles[place]
    if role is None:
        return
    number = {op: index for index, op in enumerate(thens_of(role))}
    for op in number:
        behind = begins_behind(role, op)
        after = None if behind is None else number[behind]
        found = _operation(costs, line, place, op)
        issued = _issued(costs, line, place, op, begins)
        if op.name == "out" and found.rank == 0 and behind is None:
            at_once = [one for one in number if begins_behind(role, one) is None]
            issued -= _behind(costs, line.phase, at_once, op)
        yield replace(found, after=after, begins=issued)


def _operation(costs: Costs, line: StreamLine, place: int, op: StreamOp) -> Operation:
    """One of them, whenever it begins."""
    role = line.roles[place]
    assert role is not None, "only places that have a role have operations"
    stream = streams_of(role)[op.lane]
    colors: dict[str | None, int | None] = {name: i for i, name in enumerate(line.colors)}
    colors[None] = None
    sends, receives = colors[stream.sends_on], colors[stream.receives_on]
    if op.name == "control":
        hands_over, rank = stream.advance is Advance.HAND_OVER, _rank(costs, line.phase, op.lane)
        commands = (1 + line.in_a_ring(role, stream.sends_on)) * hands_over
        return Operation(None, sends, 1, resets=not hands_over, commands=commands, rank=rank)
    if op.name == "out" and not stream.through:
        receives, rank = None, _rank(costs, line.phase, op.lane)
    else:
        rank = _rank_of_receiving(costs, line.phase, role)
    if op.name == "out":
        words, advances = line.wavelets(stream.sends, place), stream.advance is Advance.OWN_ROUTER
        return Operation(receives, sends, words, advances=advances, rank=rank)
    words = line.wavelets(stream.receives, place)
    if stream.filter is not None and stream.filter.in_memory and stream.receives is not None:
        of_period = line.wavelets(stream.filter.period, place)
        words = stream.receives.count.at(place) * of_period
    return Operation(receives, None, words, rank=rank)


def _issued(costs: Costs, line: StreamLine, place: int, op: StreamOp, begins: int) -> int:
    """When an operation is issued, as the evaluator counts it; one that goes first may be sooner
    (`_behind`)."""
    role = line.roles[place]
    assert role is not None, "only places that have a role have operations"
    if begins_behind(role, op) is None:
        delay = 0 if goes_first(line.phase, op.lane) else _delay_of_code(costs, line, place)
        return begins - costs.returns + delay
    code = code_of(costs, role, op)
    if "turn_follows" in pieces_of(role, op, ready=costs.ready):
        return code - costs.returns
    return costs.task + code


def _loads_moved(costs: Costs, role: Role | None) -> bool:
    """Whether the registers of what is staged are loaded behind what a PE begins at once."""
    return costs.ready and bool(staged_of(role))


def _delay_of_code(costs: Costs, line: StreamLine, place: int) -> int:
    """Cycles for which what goes first holds up the code behind it, which loads registers: an
    operation that never lacks room has the slot in every cycle. None where no lanes run in turn, or
    the stream is not ready."""
    role = line.roles[place]
    if role is None or not (costs.ready and leaders_of(line.phase)):
        return 0
    streams = streams_of(role)
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


def _rank_of_receiving(costs: Costs, phase: Phase, role: Role) -> int:
    """That of what receives: as queues are initialised, microthreads go before code; before what is
    sent across, too, where the role has any."""
    across = any(leads_across(phase, op.lane) for op in thens_of(role))
    return 0 if costs.ready and across else 1


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
