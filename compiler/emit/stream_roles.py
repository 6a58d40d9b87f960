"""What PEs do in a phase that streams, as rows of its struct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collc.emit.filters import spelled_at
from collc.emit.roles import Field, RoleModel
from collc.plan import (
    Advance,
    Phase,
    Stream,
    StreamOp,
    ends_of,
    joins_of,
    streams_of,
    thens_of,
)
from collc.plan.form import form_of


def stream_fields(phase: Phase, any_color: str, *, by_color: bool) -> tuple[Field, ...]:
    """The fields of the phase's struct; with `by_color` the queues are those of the colors."""
    fields = [Field("takes_part", "bool", "", "false")]
    if phase.blocks is not None:
        fields.append(Field("first", "u16", "element of its block", "0"))
    fields.append(Field("waits_for", "u16", "operations", "0"))
    end = "at its end: 0 nothing, 1 activates the last task, 2 unblocks it, 3 starts the next"
    end += "; 4 and 5 are 1 and 2 for the task that joins two ends" * (joins_of(phase) > 0)
    end += ", 6 and 7 for the one that joins two others before" * (joins_of(phase) > 1)
    used = {op for role in phase.roles for op in thens_of(role)}
    waits = any(stream.after for role in phase.roles for stream in streams_of(role).values())
    some = set(_set_by_some(phase))
    for lane in phase.lanes:
        fields += [
            Field(f"{lane}_receives", "bool", "", "false"),
            Field(f"{lane}_in", "color", "", any_color),
            Field(f"{lane}_into", "u16", "the first slice", "0"),
            Field(f"{lane}_into_count", "u16", "how many", "0"),
            Field(f"{lane}_sends", "bool", "", "false"),
            Field(f"{lane}_out", "color", "", any_color),
            Field(f"{lane}_from", "u16", "the first slice", "0"),
            Field(f"{lane}_from_count", "u16", "how many", "0"),
        ]
        fields += (
            Field(f"{lane}_{name}", "bool", about, "false")
            for name, about in _OF_SOME
            if f"{lane}_{name}" in some
        )
        for name in ("out", "control", "into"):
            if StreamOp(lane, name) in used:
                fields.append(Field(f"{lane}_{name}_then", "u16", end, "0"))
                end = ""  # said once
        if waits:
            fields.append(Field(f"{lane}_after", "u16", "another lane, from 1 on", "0"))
        if by_color:
            fields += [
                Field(f"{lane}_queue_in", "u16", "", "0"),
                Field(f"{lane}_queue_out", "u16", "", "0"),
            ]
    return tuple(fields)


# What a PE does on a lane, in forms in which some PE does it.
_OF_SOME = (
    ("advances", "its own switch behind its words"),
    ("resets", "all switches behind its words"),
    ("hands_over", "the turn behind its words"),
    ("through", "combined as it is sent"),
    ("keeps_first", "what it receives, before that"),
    ("stages", "what it receives"),
)


def _set_by_some(phase: Phase) -> Iterator[str]:
    """The parameters that are true for some role."""
    for role in phase.roles:
        for name, stream in streams_of(role).items():
            values = _lane_values(name, stream, "0", None)
            yield from (field for field, value in values if value == "true")


def stream_role(
    index: int,
    phase: Phase,
    fields: tuple[Field, ...],
    queues: Mapping[str, int] | None,
    at: tuple[str, str],
) -> RoleModel:
    """A role as a row of the phase's struct, as `collc.emit.exchange.exchange_role` has it."""
    role = phase.roles[index]
    place, first = at
    values = {field.name: field.idle for field in fields}
    if form_of(phase).is_cut and phase.blocks:
        values |= {"first": first}
    for name, stream in streams_of(role).items():
        values |= dict(_lane_values(name, stream, place, queues))
        if stream.after and form_of(phase).is_cut:
            values[f"{name}_after"] = str(phase.lanes.index(stream.after) + 1)
    values |= {f"{op.lane}_{op.name}_then": str(then.value) for op, then in thens_of(role).items()}
    ends = ends_of(role)
    values |= {"takes_part": _bool(ends > 0), "waits_for": str(ends)}
    rows = tuple(f".{field.name} = {values[field.name]}," for field in fields)
    return RoleModel(index, role.about, rows)


def _lane_values(
    name: str, stream: Stream, place: str, queues: Mapping[str, int] | None
) -> Iterator[tuple[str, str]]:
    ways = (
        ("receives", "in", "into", stream.receives_on, stream.receives),
        ("sends", "out", "from", stream.sends_on, stream.sends),
    )
    for does, way, of, color, slices in ways:
        if color is None:
            continue
        yield f"{name}_{way}", color
        if queues is not None:
            yield f"{name}_queue_{way}", str(queues[color])
        if slices is not None:
            yield f"{name}_{does}", "true"
            yield f"{name}_{of}", spelled_at(slices.first, place)
            yield f"{name}_{of}_count", spelled_at(slices.count, place)
    yield f"{name}_advances", _bool(stream.advance is Advance.OWN_ROUTER)
    yield f"{name}_resets", _bool(stream.advance is Advance.RESET)
    yield f"{name}_hands_over", _bool(stream.advance is Advance.HAND_OVER)
    yield f"{name}_through", _bool(stream.through)
    yield f"{name}_keeps_first", _bool(stream.kept_first)
    yield f"{name}_stages", _bool(stream.staged)


def _bool(value: bool) -> str:
    return "true" if value else "false"
