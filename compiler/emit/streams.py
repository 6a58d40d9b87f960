"""A phase that streams as the templates see it: lanes, the fields of their roles, filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from collc.emit.blocks import first_of_block
from collc.emit.filters import spelled_at
from collc.emit.roles import Field, RoleModel
from collc.lowering.ids import Ids
from collc.lowering.memory import stage_of
from collc.lowering.resources import lanes_through, resets
from collc.plan import Advance, Lane, Phase, Stream, filters_of, stream_of
from collc.spec.simd import PAIR


@dataclass(frozen=True)
class StreamLaneModel:
    """A lane: `field` begins its parameters' names, `name` everything else; the positions of its
    queues, and of the first of its DSRs (sources, pairs). What any PE does on it: `receives`,
    `sends`, `advances`, `resets`, `combines`, `overwrites` or stages; the position of its task
    behind what goes through PEs, -1 if nothing does; whether it is `backward`."""

    name: str
    field: str
    input: str
    output: str
    source: int
    pair: int
    backward: bool
    receives: bool
    sends: bool
    advances: bool
    resets: bool
    returns: bool
    through_task: int
    overwrites: bool
    combines: bool
    applies_combined: bool
    staged: bool


@dataclass(frozen=True)
class StreamModel:
    """What the text of a stream needs: as many `slices` as ranks of a vector of `length` elements,
    cut `grain` by grain, or of a line's block of it (`in_blocks`); positions of its tasks, that for
    the control wavelet -1 if there is none; whether some PE waits for two operations (`joins`).
    Filters count `words`: wavelets of so many elements, 0 without filters. A `stage` has so many
    elements, 0 if nothing is staged; slices are where they are in the vector if it `stages_all`."""

    slices: int
    length: int
    grain: int
    in_blocks: bool
    lanes: tuple[StreamLaneModel, ...]
    task: int
    reset_task: int
    joins: bool
    word: int
    stage: int
    stages_all: bool


def stream_model(phase: Phase, ids: Ids, *, by_color: bool) -> StreamModel:
    """The model of a phase that streams; with `by_color` the queues are those of the colors."""
    exchange = phase.exchange
    assert exchange is not None, "a stream is an exchange"
    lanes = tuple(
        _lane_model(phase, index, ids, by_color=by_color) for index in range(len(exchange.lanes))
    )
    filters = any(filters_of(role) for role in phase.roles)
    return StreamModel(
        slices=exchange.slicing.count,
        length=exchange.slicing.length,
        grain=exchange.slicing.grain,
        in_blocks=exchange.blocks is not None,
        lanes=lanes,
        task=ids.take("tasks"),
        reset_task=ids.take("tasks") if resets(phase) else -1,
        joins=any(_ends(role.lanes) > 1 for role in phase.roles),
        word=(PAIR if phase.paired else 1) if filters else 0,
        stage=stage_of(phase),
        stages_all=stage_of(phase) == exchange.slicing.length,
    )


def _lane_model(phase: Phase, index: int, ids: Ids, *, by_color: bool) -> StreamLaneModel:
    assert phase.exchange is not None, "a stream is an exchange"
    field = phase.exchange.lanes[index]
    found = (stream_of(role.lanes[index]) for role in phase.roles)
    streams = [stream for stream in found if stream is not None]
    behind = {stream.advance for stream in streams if stream}
    return StreamLaneModel(
        name=f"{phase.name}_{field}",
        field=field,
        input=f"{phase.name}.{field}_queue_in" if by_color else str(ids.take("inputs")),
        output=f"{phase.name}.{field}_queue_out" if by_color else str(ids.take("outputs")),
        source=ids.take("sources", count=2),
        pair=ids.take("pairs", count=2),
        backward=any(stream.backward for stream in streams if stream),
        receives=any(stream.receives for stream in streams if stream),
        sends=any(stream.sends for stream in streams if stream),
        advances=Advance.OWN_ROUTER in behind,
        resets=Advance.RESET in behind,
        returns=any(stream.returns for stream in streams if stream),
        through_task=ids.take("tasks") if field in lanes_through(phase) else -1,
        overwrites=any(s.receives and not (s.combines or s.staged) for s in streams if s),
        combines=any(stream.combines and not stream.staged for stream in streams if stream),
        applies_combined=any(stream.combines and stream.staged for stream in streams if stream),
        staged=any(stream.staged for stream in streams if stream),
    )


def _ends(lanes: tuple[Lane, ...]) -> int:
    """How many operations a PE waits for."""
    return sum(stream.ends for stream in map(stream_of, lanes) if stream)


def stream_fields(phase: Phase, any_color: str, *, by_color: bool) -> tuple[Field, ...]:
    """The fields of the phase's struct; with `by_color` the queues are those of the colors."""
    assert phase.exchange is not None, "a stream is an exchange"
    fields = [Field("takes_part", "bool", "", "false")]
    if phase.exchange.blocks is not None:
        fields.append(Field("first", "u16", "element of its block", "0"))
    fields.append(Field("waits_for", "u16", "operations", "0"))
    fields.append(Field("resets", "bool", "switches behind its words", "false"))
    for lane in phase.exchange.lanes:
        fields += [
            Field(f"{lane}_receives", "bool", "", "false"),
            Field(f"{lane}_in", "color", "", any_color),
            Field(f"{lane}_into", "u16", "the first slice", "0"),
            Field(f"{lane}_into_count", "u16", "how many", "0"),
            Field(f"{lane}_sends", "bool", "", "false"),
            Field(f"{lane}_out", "color", "", any_color),
            Field(f"{lane}_from", "u16", "the first slice", "0"),
            Field(f"{lane}_from_count", "u16", "how many", "0"),
            Field(f"{lane}_advances", "bool", "its own switch behind its words", "false"),
            Field(f"{lane}_resets", "bool", "all switches behind its words", "false"),
            Field(f"{lane}_returns", "bool", "what it sends to it, too", "false"),
            Field(f"{lane}_through", "bool", "combined as it is sent", "false"),
            Field(f"{lane}_combines", "bool", "what it receives", "false"),
            Field(f"{lane}_stages", "bool", "what it receives", "false"),
            Field(f"{lane}_second", "bool", "of two operations that it waits for", "false"),
        ]
        if by_color:
            fields += [
                Field(f"{lane}_queue_in", "u16", "", "0"),
                Field(f"{lane}_queue_out", "u16", "", "0"),
            ]
    return tuple(fields)


def stream_role(
    index: int,
    phase: Phase,
    fields: tuple[Field, ...],
    queues: Mapping[str, int] | None,
    at: tuple[str, str],
) -> RoleModel:
    """A role as a row of the phase's struct, as `collc.emit.exchange.exchange_role` has it."""
    role = phase.roles[index]
    place, line = at
    values = {field.name: field.idle for field in fields}
    if phase.exchange and phase.exchange.blocks:
        values |= {"first": first_of_block(phase.exchange.blocks, line)}
    ends = 0
    for lane in role.lanes:
        stream = stream_of(lane)
        if stream is None:
            continue
        values |= dict(_lane_values(lane.name, stream, place, queues))
        values[f"{lane.name}_second"] = _bool(ends > 0)
        ends += stream.ends
    values |= {"takes_part": _bool(ends > 0), "waits_for": str(ends)}
    values["resets"] = _bool(any(values[f"{lane.name}_resets"] == "true" for lane in role.lanes))
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
        if color is None or slices is None:
            continue
        yield f"{name}_{does}", "true"
        yield f"{name}_{way}", color
        yield f"{name}_{of}", spelled_at(slices.first, place)
        yield f"{name}_{of}_count", spelled_at(slices.count, place)
        if queues is not None:
            yield f"{name}_queue_{way}", str(queues[color])
    yield f"{name}_advances", _bool(stream.advance is Advance.OWN_ROUTER)
    yield f"{name}_resets", _bool(stream.advance is Advance.RESET)
    yield f"{name}_returns", _bool(stream.returns)
    yield f"{name}_through", _bool(stream.through)
    yield f"{name}_combines", _bool(stream.combines)
    yield f"{name}_stages", _bool(stream.staged)


def _bool(value: bool) -> str:
    return "true" if value else "false"
