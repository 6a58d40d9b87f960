"""What happens as the operations of a stream end: what the PE waits for, what begins behind one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from collc.base.memoize import ROLES, by_identity
from collc.plan.model import Phase
from collc.plan.ops import Role
from collc.plan.routers import BY_WAVELET
from collc.plan.streams import Stream, stream_of

_NAMES = ("out", "control", "into")


class Then(Enum):
    """What the end of an operation does."""

    NOTHING = 0  # the end of another one says that it has ended
    ENDS = 1  # activates the task in which the PE goes on
    ENDS_TOO = 2  # unblocks it
    GOES_ON = 3  # begins what comes behind it
    JOINS = 4  # of three ends the first and the second do so to a task that activates the last one
    JOINS_TOO = 5


@dataclass(frozen=True)
class StreamOp:
    """An operation of a PE: what it sends on a lane (`out`), the control wavelet behind that
    (`control`), or what it receives (`into`)."""

    lane: str
    name: str


@by_identity(ROLES)
def streams_of(role: Role) -> Mapping[str, Stream]:
    """What the PEs of a role do, by lane."""
    found = ((lane.name, stream_of(lane)) for lane in role.lanes)
    return {name: stream for name, stream in found if stream is not None}


@by_identity(ROLES)
def thens_of(role: Role) -> Mapping[StreamOp, Then]:
    """What the ends of the operations of a role do, in the order of the text. Those that the PE
    waits for are joined, two by a task, three by two."""
    streams = streams_of(role)
    followed = {
        StreamOp(stream.after, "into" if stream.kept_first else "out")
        for stream in streams.values()
        if stream.after
    }
    thens = {
        op: then
        for name, stream in streams.items()
        for op, then in _thens_of_lane(name, stream, followed)
    }
    waited = [op for op, then in thens.items() if then is Then.ENDS]
    joined = _JOINED[: len(waited)] if len(waited) < MOST_ENDS else _ALL_JOINED
    return thens | dict(zip(waited, joined, strict=False))


MOST_ENDS = 3  # that a PE waits for
_JOINED = (Then.ENDS, Then.ENDS_TOO)
_ALL_JOINED = (Then.JOINS, Then.JOINS_TOO, Then.ENDS_TOO)
_WAITED = {*_JOINED, *_ALL_JOINED}


def _thens_of_lane(
    name: str, stream: Stream, followed: set[StreamOp]
) -> Iterator[tuple[StreamOp, Then]]:
    out, control, into = (StreamOp(name, op) for op in _NAMES)
    both = stream.through and stream.receives is not None
    if stream.sends is not None:
        last = Then.GOES_ON if out in followed else Then.ENDS
        if stream.advance in BY_WAVELET:
            yield out, Then.GOES_ON
            yield control, last
        elif both and not stream.kept_first:
            yield out, Then.GOES_ON
        else:
            yield out, Then.NOTHING if stream.returns and out not in followed else last
    if stream.receives is not None:
        goes_on = into in followed or (both and stream.kept_first)
        yield into, Then.GOES_ON if goes_on else Then.ENDS


def ends_of(role: Role) -> int:
    """How many ends the PEs of a role wait for."""
    return sum(then in _WAITED for then in thens_of(role).values())


@dataclass(frozen=True)
class Sides:
    """Whether some PE receives on a lane of an exchange, and whether some PE sends."""

    receives: bool
    sends: bool

    @property
    def count(self) -> int:
        """How many of the two."""
        return self.receives + self.sends


def sides_of(phase: Phase) -> tuple[Sides, ...]:
    """Of the lanes of an exchange, each in turn; those of step tables have both."""
    lanes = phase.exchange.lanes if phase.exchange else ()
    if not phase.streams:
        return (Sides(receives=True, sends=True),) * len(lanes)
    found = []
    for name in lanes:
        ops = [
            op
            for role in phase.roles
            for lane in role.lanes
            if lane.name == name
            for op in lane.ops
        ]
        found.append(Sides(any(op.receives_on for op in ops), any(op.sends_on for op in ops)))
    return tuple(found)


def joins_three(phase: Phase) -> bool:
    """Whether some PE of a stream waits for three ends."""
    return phase.streams and any(ends_of(role) == MOST_ENDS for role in phase.roles)


def ops_with_tasks(phase: Phase) -> tuple[StreamOp, ...]:
    """The operations of a phase behind which some PE begins others, each in a task."""
    if not phase.streams or phase.exchange is None:
        return ()
    thens = [thens_of(role) for role in phase.roles]
    ops = [StreamOp(lane, name) for lane in phase.exchange.lanes for name in _NAMES]
    return tuple(op for op in ops if any(one.get(op) is Then.GOES_ON for one in thens))
