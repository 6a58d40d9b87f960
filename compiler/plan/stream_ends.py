"""What happens as the operations of a stream end: what the PE waits for, what begins behind one."""

from collections.abc import Iterator, Mapping
from enum import Enum

from collc.base.memoize import PHASES, ROLES, by_identity
from collc.base.values import dataclass
from collc.plan.form import Form, form_of
from collc.plan.plan import BY_WAVELET, Phase, Role
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
    PAIRS = 6  # of four ends the first and the second do so to a task that activates that one
    PAIRS_TOO = 7


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
    waits for are joined, two by a task, three by two, four by three; those of what it receives,
    which end last, by the last ones."""
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
    ends = [op for op, then in thens.items() if then is Then.ENDS]
    across = {one.backward for one in streams.values() if one.receives is None}

    def late(op: StreamOp) -> tuple[bool, bool]:
        """What is received ends last, and of that what comes from where nobody else is served."""
        return op.name == "into", streams[op.lane].backward not in across

    waited = sorted(ends, key=late) if len(ends) > len(_JOINED[2]) else ends
    return thens | dict(zip(waited, _JOINED[min(len(waited), MOST_ENDS)], strict=False))


MOST_ENDS = 4  # that a PE waits for
_JOINED = (
    (),
    (Then.ENDS,),
    (Then.ENDS, Then.ENDS_TOO),
    (Then.JOINS, Then.JOINS_TOO, Then.ENDS_TOO),
    (Then.PAIRS, Then.PAIRS_TOO, Then.JOINS_TOO, Then.ENDS_TOO),
)
_WAITED = {then for joined in _JOINED for then in joined}


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


@by_identity(PHASES)
def leaders_of(phase: Phase) -> Mapping[str, str]:
    """Lanes whose every operation sends after that of one other lane, which nothing else comes
    after, by the first lane of such a row: they run in turn, so registers, a microthread, and where
    it is bound to no color an output queue of the first serve all."""
    if form_of(phase) is not Form.STREAM:
        return {}
    before: dict[str, str] = {}
    for name in phase.lanes:
        streams = [streams_of(role)[name] for role in phase.roles if name in streams_of(role)]
        after = {"" if one.receives or one.kept_first else one.after for one in streams}
        if len(after) == 1 and "" not in after:
            before[name] = after.pop()
    leaders: dict[str, str] = {}
    for name, one in before.items():
        if sum(other == one for other in before.values()) == 1:
            leaders[name] = leaders.get(one, one)
    return leaders


@dataclass(frozen=True)
class Sides:
    """Whether some PE receives on a lane of an exchange, and whether some PE sends; whether lanes
    run in turn with this one as their first, so that it `follows` that."""

    receives: bool
    sends: bool
    follows: bool = False

    @property
    def count(self) -> int:
        """How many of the two have registers of their own."""
        return self.receives + (self.sends and not self.follows)

    def outputs(self, *, bound: bool) -> int:
        """How many output queues, which may be `bound` to colors."""
        return int(self.sends and (bound or not self.follows))


@by_identity(PHASES)
def sides_of(phase: Phase) -> tuple[Sides, ...]:
    """Of the lanes of an exchange, each in turn; those of step tables have both."""
    lanes = phase.lanes if form_of(phase).is_cut else ()
    if form_of(phase) is not Form.STREAM:
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
        receives, sends = any(op.receives_on for op in ops), any(op.sends_on for op in ops)
        found.append(Sides(receives, sends, name in leaders_of(phase)))
    return tuple(found)


@by_identity(PHASES)
def joins_of(phase: Phase) -> int:
    """Tasks that join ends of a stream, beside the last one: of three ends or four."""
    if form_of(phase) is not Form.STREAM:
        return 0
    return max(0, max((ends_of(role) for role in phase.roles), default=0) - 2)


@by_identity(PHASES)
def ops_with_tasks(phase: Phase) -> tuple[StreamOp, ...]:
    """The operations of a phase behind which some PE begins others, each in a task; of lanes that
    run in turn the first one, whose task is that of all."""
    if form_of(phase) is not Form.STREAM:
        return ()
    thens = [thens_of(role) for role in phase.roles]
    ops = [StreamOp(lane, name) for lane in phase.lanes for name in _NAMES]
    found = (op for op in ops if any(one.get(op) is Then.GOES_ON for one in thens))
    return tuple(dict.fromkeys(task_of(phase, op) for op in found))


def task_of(phase: Phase, op: StreamOp) -> StreamOp:
    """The operation whose task runs behind one."""
    leaders = leaders_of(phase)
    leader = leaders.get(op.lane, op.lane)
    return StreamOp(leader, "out") if leader in leaders.values() else op
