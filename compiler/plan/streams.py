"""Streams: slices that routers put in order by themselves, so that a PE has a few long operations.

Of an exchange that streams, a lane is a color that flows along the line one way, or two that take
turns from hop to hop. Its operations go over the vector in the order of the words on it. What a PE
sends, and what it receives, is one operation each; `lane_of` makes a lane of what a PE does there,
`stream_of` finds that in a lane again.
"""

import numpy as np

from collc.base.memoize import PHASES, ROLES, by_identity
from collc.base.values import dataclass
from collc.plan.plan import (
    ONE,
    VECTOR,
    ZERO,
    Action,
    Advance,
    Buffer,
    Entry,
    Filter,
    Lane,
    Memory,
    Once,
    Op,
    Phase,
    Role,
    Slices,
)
from collc.plan.step_tables import places_of

STAGE = Memory(Buffer.STAGE)


@dataclass(frozen=True)
class Stream:
    """What a PE does on a lane: the slices that it `sends`, what follows them, the slices that it
    `receives`, as far as a `filter` lets it.

    What a PE sends goes `through` it if each element is combined with one that arrives, as it
    leaves; what it receives comes behind that, or, `kept_first`, before. What is received
    `combines` with the PE's own, or overwrites it; if it is `staged`, when all has ended.

    If it `returns`, the PE's router hands what it sends to the PE, too, on the same color: when
    that has been received it has been sent.

    With `after`, the name of another lane, a chain whose own slice is kept first receives after
    that lane has received, and any other stream sends after that lane has sent."""

    receives_on: str | None
    sends_on: str | None
    sends: Slices | None
    receives: Slices | None
    advance: Advance = Advance.NOTHING
    filter: Filter | None = None
    through: bool = False
    combines: bool = False
    staged: bool = False
    kept_first: bool = False
    after: str = ""
    returns: bool = False

    @property
    def backward(self) -> bool:
        """Whether words go from the last element to the first."""
        return any(slices.backward for slices in (self.sends, self.receives) if slices)


def sieves_of(role: Role) -> dict[str, Filter]:
    """The filters of a role by color, those of its routers and those in memory."""
    return {op.receives_on: op.filter for op in role.ops if op.receives_on and op.filter}


def filters_of(role: Role) -> dict[str, Filter]:
    """Those of its routers."""
    return {color: one for color, one in sieves_of(role).items() if not one.in_memory}


@by_identity(PHASES)
def asides_of(phase: Phase) -> dict[str, range]:
    """By lane which part of the stage has all that comes, to be filtered in memory: counted in
    slices, which have one length then."""
    sizes: dict[str, int] = {}
    for index, role in enumerate(phase.roles):
        aside = [(lane.name, op) for lane in role.lanes for op in lane.ops]
        for name, op in aside:
            if op.filter is None or not op.filter.in_memory:
                continue
            for place in places_of(phase, index).tolist():
                count = op.slices.count.at(place) * op.filter.period.number_at(place)
                sizes[name] = max(sizes.get(name, 0), count)
    found: dict[str, range] = {}
    first = 0
    for name in (name for name in phase.lanes if name in sizes):
        found[name] = range(first, first + sizes[name])
        first += sizes[name]
    return found


def stage_of(phase: Phase) -> int:
    """Elements that PEs stage: whole areas, where loops stage slices at their places; else a slice,
    if nothing but one that is combined is ever staged, or the vector; with filters in memory all
    that comes."""
    slicing = phase.slicing
    if not phase.areas or phase.has_loops:
        return phase.areas * slicing.length
    if asides := asides_of(phase):
        return max(part.stop for part in asides.values()) * slicing.size(0)
    taken = {op.action for role in phase.roles for op in role.ops if op.receive == STAGE}
    return slicing.length if Action.COPY in taken else int(np.diff(slicing.bounds).max())


def lane_of(name: str, stream: Stream) -> Lane:
    """The operations of a stream: those that begin at once, what is received behind words that go
    through, and what is taken from the stage when all lanes have ended."""
    to = STAGE if stream.staged else VECTOR
    combining = Action.COMBINE if stream.combines else Action.COPY
    out = into = apply = None
    sends_after, receives_after = ("", stream.after) if stream.kept_first else (stream.after, "")
    if stream.sends is not None:
        taken = stream.receives_on or "" if stream.through else VECTOR
        does = Action.COMBINE if stream.through else Action.COPY
        to_fabric = stream.sends_on or ""
        advance, returns = stream.advance, stream.returns
        out = Op(taken, does, to_fabric, stream.sends, advance, returns, after=sends_after)
    if stream.receives is not None:
        does = Action.COPY if stream.staged else combining
        of = stream.receives_on or ""
        into = Op(of, does, to, stream.receives, filter=stream.filter, after=receives_after)
        apply = Op(STAGE, combining, VECTOR, stream.receives) if stream.staged else None
    if not stream.through:
        groups = [[out, into], [], [apply]]
    elif stream.kept_first:
        groups = [[into], [out], [apply]]
    else:
        groups = [[out], [into], [apply]]
    entries = [tuple(op for op in group if op is not None) for group in groups]
    last = Entry(entries[2], ONE) if entries[2] else None
    first = [ops for ops in entries[:2] if ops]
    ended = [Entry(ops, ONE if ops is first[-1] else ZERO) for ops in first]
    loops = Once(tuple([*ended, last] if last else ended))
    return Lane(name, (loops,) if ended else ())


@by_identity(ROLES)
def stream_of(lane: Lane) -> Stream | None:
    """What a lane of an exchange that streams does; None if nothing."""
    out = next((op for op in lane.ops if isinstance(op.send, str)), None)
    into = next((op for op in lane.ops if op is not out and isinstance(op.receive, str)), None)
    if out is None and into is None:
        return None
    apply = next((op for op in lane.ops if op.receive == STAGE), None)
    staged = into is not None and into.send == STAGE
    kept = apply if staged else into
    through = out is not None and isinstance(out.receive, str)
    return Stream(
        into.receives_on if into else out.receives_on if out else None,
        out.sends_on if out else None,
        out.slices if out else None,
        into.slices if into else None,
        out.advance if out else Advance.NOTHING,
        into.filter if into else None,
        through=through,
        combines=kept is not None and kept.action is Action.COMBINE,
        staged=staged,
        kept_first=_keeps_first(lane, out, into),
        after=next((op.after for op in lane.ops if op.after), ""),
        returns=out is not None and out.returns,
    )


def _keeps_first(lane: Lane, out: Op | None, into: Op | None) -> bool:
    """Whether what a chain receives comes before what goes through, or behind another lane."""
    if into is None:
        return False
    through = out is not None and isinstance(out.receive, str)
    return bool(into.after) or (through and lane.ops.index(into) < lane.ops.index(out))
