"""Lanes of streams do what the text can run: operations of a PE beside each other, one each way.

What comes of them, the machine shows (`collc.checks.follow`).
"""

from collections.abc import Iterator
from itertools import pairwise

from collc.base.diagnostics import Diagnostic
from collc.base.memoize import memoized
from collc.checks.by_phase import in_phase
from collc.checks.step_table_entries import shape_problem
from collc.plan import (
    BY_WAVELET,
    Advance,
    Direction,
    Filter,
    Lane,
    Phase,
    Plan,
    Role,
    Slices,
    Stream,
    lane_of,
    stream_of,
)
from collc.plan.placement import roles_of_places

Roles = tuple[Role | None, ...]
REPORT = "the stream does not follow the schedule; please report this"


def stream_shapes(plan: Plan) -> Iterator[Diagnostic]:
    """C319: a lane that no text runs."""
    for phase in plan.phases:
        if phase.whole or phase.has_loops or shape_problem(plan, phase):
            continue
        problem = _problem(phase)
        if problem:
            yield in_phase("C319", phase, problem, REPORT)


@memoized
def _problem(phase: Phase) -> str:
    return next(_shapes(phase, roles_of_places(phase)), "")


def _shapes(phase: Phase, roles: Roles) -> Iterator[str]:
    """Lanes that the text cannot run."""
    ways: dict[str, bool] = {}
    for place, role in enumerate(roles):
        if role is None:
            continue
        if not _end_alike(role):
            yield f"place {place} sends control wavelets behind some of what runs in turn, not all"
        if not _adjoin(role, place):
            yield f"place {place} stages slices that do not adjoin, the text copies them as one"
        for lane in role.lanes:
            stream = stream_of(lane)
            if stream and ways.setdefault(lane.name, stream.backward) is not stream.backward:
                yield f"lane `{lane.name}` goes the other way at place {place}"
            problem = _lane_problem(lane, role, place, phase)
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


def _lane_problem(lane: Lane, role: Role, place: int, phase: Phase) -> str:
    stream, slices = stream_of(lane), phase.slicing.count
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
            phase.blocks is None or not stream.staged or stream.combines,
            "stages what it copies of a block, where the stage has the places of a vector",
        ),
        (
            not stream.returns or _comes_back(stream, role, place),
            "takes its own words for returned, which its router does not hand back",
        ),
        (
            stream.filter is None or not stream.filter.in_memory or _takes_all(stream),
            "puts aside what others are sent, but not all of it from the beginning",
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


def _takes_all(stream: Stream) -> bool:
    """Whether what comes before a filter in memory is taken from the beginning of the phase on.
    Words for others wait for that: for the PE's part in earlier phases, which never waits for words
    of later ones. The stage is cut where slices have blocks."""
    slices = stream.receives
    staged = stream.staged and not stream.combines and not stream.through and not stream.after
    return staged and slices is not None and slices.blocks > 1


_ADVANCES = set(Advance) - {Advance.CONTROL}


def _in_a_ring(stream: Stream, role: Role) -> bool:
    """Whether positions of the PE's own router are a ring on the color that it sends on."""
    return any(use.ring for use in role.colors if use.color == stream.sends_on)


def _are_there(part: Slices, place: int, slices: int) -> bool:
    return all(0 <= one.start < one.stop <= slices for one in part.in_all_blocks(place))


def _counts_slices(counter: Filter | None, place: int, slices: int) -> bool:
    """Whether the numbers of a filter are of slices that are there; there may be none before."""
    if counter is None:
        return True
    parts = (counter.period, counter.before, counter.passes)
    found = (one for part in parts for one in part.in_all_blocks(place))
    return all(0 <= one.start <= one.stop <= slices for one in found)


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
