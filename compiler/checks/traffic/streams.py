"""Streams come to their end, leave what the schedule says, and leave routers as they found them.

A line is run slice by slice (`collc.checks.stream_run`); operations of a PE run beside each other
and wait for nothing but their color, and for what the plan says they come behind. What a PE sends
is what it had at first, provided that nothing else is received over it.
"""

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from collc.base.diagnostics import Diagnostic
from collc.base.memoize import memoized
from collc.checks.by_phase import CUT, due_steps, in_phase, phases_of
from collc.checks.step_table_entries import shape_problem
from collc.checks.stream_run import Line, Place, Router, Work, combined, run
from collc.plan import (
    BY_WAVELET,
    MOST_ENDS,
    Advance,
    Direction,
    Filter,
    Lane,
    Phase,
    Plan,
    Role,
    Slices,
    Stream,
    ends_of,
    filters_of,
    lane_of,
    stream_of,
)
from collc.plan.form import Form, form_of
from collc.plan.placement import roles_of_places
from collc.plan.plan import AHEAD
from collc.schedule.barrier_tokens import schedule_of
from collc.schedule.own_slices import asks_own_slices, own_slices
from collc.spec.exchange import StepsPhase
from collc.spec.simd import PAIR

Roles = tuple[Role | None, ...]
REPORT = "the stream does not follow the schedule; please report this"


def streams(plan: Plan) -> Iterator[Diagnostic]:
    """C319: a lane that no text runs. C321: words that wait for ever, or that a PE gets without
    receiving them. C322: other slices than the schedule says. C323: slices that are received over
    what is sent."""
    for phase in phases_of(plan, *CUT):
        if form_of(phase) is not Form.STREAM or shape_problem(plan, phase):
            continue
        steps = due_steps(plan, phase)
        own_only = asks_own_slices(schedule_of(plan.collective), steps)
        for code, problem in _problems(phase, steps, own_only):
            yield in_phase(code, phase, problem, REPORT)


@memoized
def _problems(phase: Phase, pattern: StepsPhase, own_only: bool) -> tuple[tuple[str, str], ...]:
    """Codes and what is wrong."""
    roles = roles_of_places(phase)
    wrong = next(_shapes(roles, pattern), "")
    if wrong:
        return (("C319", wrong),)
    line = _line(phase, pattern, roles)
    wrong = run(line) or next(_left_over(line), "")
    if wrong:
        return (("C321", wrong),)
    wrong = next(_not_returned(roles, line), "")
    if wrong:
        return (("C319", wrong),)
    return tuple(_differing(pattern, roles, line, own_only=own_only))


def _not_returned(roles: Roles, line: Line) -> Iterator[str]:
    """Places that take their own words for returned, of which a filter keeps all back."""
    for place, role in enumerate(roles):
        for lane in role.lanes if role else ():
            stream = stream_of(lane)
            if stream and stream.returns and stream.sends_on not in line.places[place].returned:
                where = f"lane `{lane.name}` of place {place}"
                yield f"{where} waits for its own words, which it is kept from"


def _differing(
    pattern: StepsPhase, roles: Roles, line: Line, *, own_only: bool
) -> Iterator[tuple[str, str]]:
    """C322 and C323, each for the first place and slice."""
    due = _due(pattern)
    there = [slice_ for slice_, size in enumerate(line.sizes) if size]
    own = own_slices(pattern) if own_only else None
    for place, one in enumerate(line.places):
        for slice_ in there if own is None else [one for one in there if own[place, one]]:
            if one.held[slice_] != due[place][slice_]:
                what = f"place {place} ends with another slice {slice_} than the schedule says"
                yield "C322", what
                break
    for place, role in enumerate(roles):
        for lane in role.lanes if role else ():
            stream = stream_of(lane)
            sends = stream.sends if stream else None
            for slice_ in sends.at(place) if sends else ():
                if slice_ in line.places[place].written:
                    yield "C323", f"place {place} receives over slice {slice_}, which it sends"
                    return


def _beginning(pattern: StepsPhase) -> list[list[int]]:
    """What places hold at first: a number for each place and slice."""
    count = pattern.slicing.count
    return [[place * count + slice_ for slice_ in range(count)] for place in range(pattern.ranks)]


def _due(pattern: StepsPhase) -> list[list[int]]:
    """What places hold in the end by the schedule."""
    held, places = _beginning(pattern), pattern.places
    for moves in pattern.steps:
        columns = (moves.source, moves.destination, moves.slice, moves.into, moves.count)
        rows = zip(*(column.tolist() for column in (*columns, moves.combines)), strict=True)
        arriving = []
        for source, destination, slice_, into, count, combines in rows:
            values = held[places[source]][slice_ : slice_ + count]
            arriving.append((places[destination], into, values, combines))
        for place, into, values, combines in arriving:
            own = held[place]
            for at, value in enumerate(values, into):
                own[at] = combined(own[at], value) if combines else value
    return held


def _line(phase: Phase, pattern: StepsPhase, roles: Roles) -> Line:
    """A line by what is planned for it."""
    sizes = (np.diff(pattern.slicing.bounds) // (PAIR if phase.paired else 1)).tolist()
    first = _beginning(pattern)
    places = []
    for place, role in enumerate(roles):
        routers = (
            {use.color: Router(use, filters_of(role).get(use.color)) for use in role.colors}
            if role
            else {}
        )
        streams = [(lane, stream_of(lane)) for lane in role.lanes] if role else []
        lanes = [_work(lane.name, stream, place, sizes) for lane, stream in streams if stream]
        places.append(Place(routers, lanes, first[place]))
    return Line(places, sizes, AHEAD[pattern.axis])


def _work(name: str, stream: Stream, place: int, sizes: list[int]) -> Work:
    """What a lane does at a place, slices without elements left out."""
    order = -1 if stream.backward else 1
    sends, receives = (
        deque(s for s in list(part.at(place))[::order] if sizes[s]) if part else deque()
        for part in (stream.sends, stream.receives)
    )
    both = (deque[int](), sends) if stream.through else (sends, deque[int]())
    return Work(name, stream, *both, receives)


def _shapes(roles: Roles, pattern: StepsPhase) -> Iterator[str]:
    """Lanes that the text cannot run."""
    ways: dict[str, bool] = {}
    for place, role in enumerate(roles):
        if role is None:
            continue
        ends = ends_of(role)
        if ends > MOST_ENDS:
            yield f"place {place} waits for {ends} operations, the text for {MOST_ENDS}"
        if not _end_alike(role):
            yield f"place {place} sends control wavelets behind some of what runs in turn, not all"
        if not _adjoin(role, place):
            yield f"place {place} stages slices that do not adjoin, the text copies them as one"
        for lane in role.lanes:
            stream = stream_of(lane)
            if stream and ways.setdefault(lane.name, stream.backward) is not stream.backward:
                yield f"lane `{lane.name}` goes the other way at place {place}"
            problem = _lane_problem(lane, role, place, pattern)
            if problem:
                yield f"lane `{lane.name}` of place {place} {problem}"


def _end_alike(role: Role) -> bool:
    """Whether of lanes that run in turn all send a control wavelet behind their words, or none: the
    text counts the ends of all."""
    streams = {lane.name: stream for lane in role.lanes if (stream := stream_of(lane))}
    rows = [one for one in streams.values() if one.after and one.receives is None]
    return all(
        (one.advance in BY_WAVELET) is (streams[one.after].advance in BY_WAVELET)
        for one in rows
        if one.after in streams
    )


def _adjoin(role: Role, place: int) -> bool:
    """Whether what is staged to be copied is a row of slices, those of the first lane first."""
    streams = (stream_of(lane) for lane in role.lanes)
    staged = [
        s.receives.at(place) for s in streams if s and s.staged and not s.combines if s.receives
    ]
    return all(one.start <= two.start <= one.stop <= two.stop for one, two in pairwise(staged))


def _lane_problem(lane: Lane, role: Role, place: int, pattern: StepsPhase) -> str:
    stream, slices = stream_of(lane), pattern.slicing.count
    if stream is None:
        return "has operations of another kind" if lane.loops else ""
    parts = [part for part in (stream.sends, stream.receives) if part]
    colors = {color for color in (stream.sends_on, stream.receives_on) if color}
    needed = int(stream.sends is not None) + int(stream.receives is not None or stream.through)
    ends = [stream.sends_on] * (stream.sends is not None)
    ends += [stream.receives_on] * (stream.receives is not None or stream.through)
    rules = (
        (lane_of(lane.name, stream) == lane, "has other operations than a stream"),
        (needed == len([color for color in ends if color]), "sends or receives without a color"),
        (all(_are_there(part, place, slices) for part in parts), "has slices that are not there"),
        (_counts_slices(stream.filter, place, slices), "has a filter of slices that are not there"),
        (
            len({part.backward for part in parts}) == 1,
            "goes over the vector one way as it sends, the other way as it receives",
        ),
        (
            colors <= {use.color for use in role.colors},
            "uses a color that its router does not have",
        ),
        (
            not (stream.staged and stream.combines and stream.backward),
            "stages what it combines from the last element to the first",
        ),
        (
            pattern.blocks is None or not stream.staged or stream.combines,
            "stages what it copies of a block, where the stage has the places of a vector",
        ),
        (
            not stream.returns or _comes_back(stream, role, place),
            "takes its own words for returned, which its router does not hand back",
        ),
        (stream.advance in _ADVANCES, "moves switches as streams do not"),
        (
            stream.advance is not Advance.HAND_OVER
            or (stream.receives_on == stream.sends_on) is _in_a_ring(stream, role),
            "hands over a turn that its router does not have, or keeps one",
        ),
        (
            not stream.after or _follows(lane, stream, role),
            "waits for another lane that does nothing of the kind",
        ),
    )
    return next((problem for holds, problem in rules if not holds), "")


def _follows(lane: Lane, stream: Stream, role: Role) -> bool:
    """Whether there is what a lane begins after: that another one receives, or sends."""
    others = (stream_of(other) for other in role.lanes if other.name == stream.after != lane.name)
    part = "receives" if stream.kept_first else "sends"
    return getattr(stream, part) is not None and any(
        other is not None and getattr(other, part) is not None for other in others
    )


_ADVANCES = {Advance.NOTHING, Advance.OWN_ROUTER, Advance.HAND_OVER, Advance.RESET}


def _in_a_ring(stream: Stream, role: Role) -> bool:
    """Whether positions of the PE's own router are a ring on the color that it sends on."""
    return any(use.ring for use in role.colors if use.color == stream.sends_on)


def _are_there(part: Slices, place: int, slices: int) -> bool:
    found = part.at(place)
    return 0 <= found.start < found.stop <= slices


def _counts_slices(counter: Filter | None, place: int, slices: int) -> bool:
    """Whether the numbers of a filter are of slices that are there; there may be none before."""
    if counter is None:
        return True
    parts = (counter.period, counter.before, counter.passes)
    return all(0 <= part.at(place).start <= part.at(place).stop <= slices for part in parts)


def _comes_back(stream: Stream, role: Role, place: int) -> bool:
    """Whether receiving ends behind the last own word: those words come down the ramp again and
    are received, or, where a filter keeps some back, others are received that come behind them."""
    uses = [use for use in role.colors if use.color == stream.sends_on]
    if not uses or stream.receives is None or stream.sends_on != stream.receives_on:
        return False
    own = [route for route in uses[0].positions if route.receive is Direction.RAMP]
    moves = len(uses[0].positions) > 1 and not uses[0].ring
    behind = stream.filter is None or (moves and len(stream.receives.at(place)) > 1)
    return bool(own) and Direction.RAMP in own[0].send and behind


def _left_over(line: Line) -> Iterator[str]:
    """What has not come to its end, or does not begin the next call as this one."""
    for place, one in enumerate(line.places):
        if any(work.receives or work.through for work in one.lanes):
            yield f"place {place} waits for ever to receive"
        for router in one.routers.values():
            if router.position:
                yield f"nothing sets the router of place {place} back"
            if router.filter is not None:
                period = line.counts(router.filter, place)[0]
                if period < 1 or router.passed % period:
                    yield f"the filter of place {place} begins the next call in another state"
    yield from _overtaken(line)


def _overtaken(line: Line) -> Iterator[str]:
    """Words of the next call that may come before others of this one: where several PEs send on a
    way, each but the one that sets the switches back has to find its own one closed."""
    for color in sorted({color for one in line.places for color in one.routers}):
        senders = [i for i, one in enumerate(line.places) if _sends_on(one, color)]
        on_color = (one.routers[color] for one in line.places if color in one.routers)
        switched = any(len(router.use.positions) > 1 for router in on_color)
        for place in senders:
            router = line.places[place].routers[color]
            work = next((w for w in line.places[place].lanes if w.does.sends_on == color), None)
            resets = work is not None and work.does.advance in _ORDERS
            last = router.use.positions[0 if router.use.ring else -1]
            is_open = last.receive is Direction.RAMP
            if is_open and switched and not resets:
                yield f"words of the next call of place {place} may overtake those of others"


_ORDERS = (Advance.HAND_OVER, Advance.RESET)  # what others' words wait for comes behind their own


def _sends_on(one: Place, color: str) -> bool:
    routers = [router for name, router in one.routers.items() if name == color]
    return any(r.receive is Direction.RAMP for router in routers for r in router.use.positions)
