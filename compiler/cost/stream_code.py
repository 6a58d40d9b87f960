"""The code around the operations of a stream, in pieces (`collc.target.constants.StreamCode`), as
`templates/stream_pe.csl.j2` has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from collc.cost.operations import Costs
from collc.plan import (
    BY_WAVELET,
    Number,
    Role,
    Slices,
    Stream,
    StreamOp,
    ends_of,
    stream_of,
    streams_of,
)


def staged_of(role: Role | None) -> list[Stream]:
    """What a role stages, the lower slices first."""
    streams = map(stream_of, role.lanes) if role else ()
    return [stream for stream in streams if stream is not None and stream.staged]


def staged_slices(staged: Sequence[Stream], place: int) -> Slices | None:
    """The slices that a place stages, which one operation takes from there; none if there are
    none."""
    parts = [stream.receives for stream in staged if stream.receives]
    if not parts:
        return None
    first, end = parts[0].at(place).start, parts[-1].at(place).stop
    return replace(parts[0], first=Number(first), count=Number(end - first))


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


def code_of(costs: Costs, role: Role, op: StreamOp | None) -> int:
    """Cycles of the code up to the issue of an operation, and its own; of what is in front of all
    operations, if there is none."""
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
