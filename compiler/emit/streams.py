"""A phase that streams as the templates see it: lanes, the fields of their roles, filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from collc.emit.filters import spelled_at
from collc.emit.roles import Field, RoleModel
from collc.lowering.ids import Ids
from collc.lowering.memory import stage_of
from collc.plan import (
    Advance,
    Phase,
    Stream,
    StreamOp,
    Then,
    ends_of,
    filters_of,
    joins_three,
    ops_with_tasks,
    sides_of,
    stream_of,
    streams_of,
    thens_of,
)
from collc.spec.simd import PAIR

_BEHIND = {"out": "sent", "control": "controlled", "into": "received"}


@dataclass(frozen=True)
class StreamOpModel:
    """An operation of a lane: the field that says what its end does, and of what occurs the value
    of that, and the option of the operation (`activate`, `unblock` or none) with its task. Behind
    it runs the function `behind` in the task with the position `task`, -1 if nothing follows."""

    then: str
    ends: tuple[tuple[int, str, str], ...]
    behind: str
    task: int


@dataclass(frozen=True)
class FollowerModel:
    """A lane whose operation begins behind one of another lane: the condition for that on the PE's
    parameters, the function that loads its registers, and the one that begins it."""

    condition: str
    loads: str
    begins: str


@dataclass(frozen=True)
class StreamLaneModel:
    """A lane: `field` begins its parameters' names, `name` everything else; the positions of its
    queues, and of the first of its DSRs (sources, pairs). What any PE does on it: `receives` and
    `keeps` what it receives, `sends`, `advances`, `resets`, `hands_over`, sends what goes `through`
    it, `combines` or stages, keeps its slice first; whether it begins after another
    lane, and what begins after it; whether it is `backward`. Its operations are `out`, `control`
    and `into`."""

    phase: str
    name: str
    field: str
    input: str
    output: str
    source: int
    pair: int
    backward: bool
    receives: bool
    keeps: bool
    sends: bool
    advances: bool
    resets: bool
    hands_over: bool
    through: bool
    combines: bool
    applies_combined: bool
    staged: bool
    keeps_first: bool
    waits_to_send: bool
    waits_to_receive: bool
    behind_out: tuple[FollowerModel, ...]
    behind_into: tuple[FollowerModel, ...]
    out: StreamOpModel
    control: StreamOpModel
    into: StreamOpModel

    @property
    def ops(self) -> tuple[StreamOpModel, ...]:
        """Its operations."""
        return self.out, self.control, self.into

    @property
    def sends_later(self) -> str:
        """The condition that a PE does not begin to send at first, as far as it adds to another."""
        at = f"{self.phase}.{self.field}"
        behind = [f"!({at}_through and {at}_receives)"] * self.keeps_first
        return _and([*behind, *[f"({at}_after == 0)"] * self.waits_to_send])

    @property
    def receives_later(self) -> str:
        """The same for receiving."""
        at = f"{self.phase}.{self.field}"
        first = [f"(!{at}_through or {at}_keeps_first)"] if self.keeps_first else [f"!{at}_through"]
        return _and([*first * self.through, *[f"({at}_after == 0)"] * self.waits_to_receive])

    @property
    def controls(self) -> bool:
        """Whether a control wavelet is sent on it."""
        return self.resets or self.hands_over


def _and(conditions: list[str]) -> str:
    return "".join(f" and {condition}" for condition in conditions)


@dataclass(frozen=True)
class StreamModel:
    """What the text of a stream needs: as many `slices` as ranks of a vector of `length` words (an
    element, or each of a pair's two), cut `grain` by grain, or of a line's block of it
    (`in_blocks`); the position of its task, and of the one that joins two of three ends, else -1;
    whether some PE waits for several operations (`joins`). Filters count wavelets of `word` words,
    0 without filters. A `stage` has so many words, 0 if nothing is staged; slices are where they
    are in the vector if it `stages_all`."""

    slices: int
    length: int
    grain: int
    in_blocks: bool
    lanes: tuple[StreamLaneModel, ...]
    task: int
    join_task: int
    joins: bool
    word: int
    stage: int
    stages_all: bool

    @property
    def staged(self) -> tuple[StreamLaneModel, ...]:
        """The lanes on which something is staged, that of lower slices first."""
        return tuple(lane for lane in self.lanes if lane.staged)

    @property
    def stages(self) -> str:
        """The condition that a PE stages something."""
        return " or ".join(f"{lane.phase}.{lane.field}_stages" for lane in self.staged)

    @property
    def backward(self) -> str:
        """The condition that words of a PE go from the last element to the first; empty if none
        do."""
        at = [f"{lane.phase}.{lane.field}" for lane in self.lanes if lane.backward]
        return " or ".join(f"{one}_{does}" for one in at for does in ("sends", "receives"))


def stream_model(phase: Phase, ids: Ids, *, words: int, by_color: bool) -> StreamModel:
    """The model of a phase that streams; with `by_color` the queues are those of the colors."""
    exchange = phase.exchange
    assert exchange is not None, "a stream is an exchange"
    task = ids.take("tasks")
    join_task = ids.take("tasks") if joins_three(phase) else -1
    with_tasks = ops_with_tasks(phase)
    tasks = {op: ids.take("tasks") for op in with_tasks}
    lanes = tuple(
        _lane_model(phase, index, ids, tasks, by_color=by_color)
        for index in range(len(exchange.lanes))
    )
    filters = any(filters_of(role) for role in phase.roles)
    return StreamModel(
        slices=exchange.slicing.count,
        length=exchange.slicing.length * words,
        grain=exchange.slicing.grain * words,
        in_blocks=exchange.blocks is not None,
        lanes=lanes,
        task=task,
        join_task=join_task,
        joins=any(ends_of(role) > 1 for role in phase.roles),
        word=(PAIR if phase.paired else 1) if filters else 0,
        stage=stage_of(phase) * words,
        stages_all=any(lane.staged and not lane.applies_combined for lane in lanes),
    )


def _lane_model(
    phase: Phase, index: int, ids: Ids, tasks: Mapping[StreamOp, int], *, by_color: bool
) -> StreamLaneModel:
    assert phase.exchange is not None, "a stream is an exchange"
    field = phase.exchange.lanes[index]
    found = (stream_of(role.lanes[index]) for role in phase.roles)
    streams = [stream for stream in found if stream is not None]
    behind = {stream.advance for stream in streams}
    thens = [thens_of(role) for role in phase.roles]

    sides = sides_of(phase)[index]

    def queue(way: str, *, there: bool) -> str:
        if not there:
            return ""
        return f"{phase.name}.{field}_queue_{way}" if by_color else str(ids.take(f"{way}puts"))

    def op(name: str) -> StreamOpModel:
        of, behind = StreamOp(field, name), f"{phase.name}_{field}_{_BEHIND[name]}"
        options = {
            Then.NOTHING: ("", ""),
            Then.ENDS: ("activate", f"{phase.name}_task"),
            Then.ENDS_TOO: ("unblock", f"{phase.name}_task"),
            Then.GOES_ON: ("activate", f"{behind}_task"),
            Then.JOINS: ("activate", f"{phase.name}_join_task"),
            Then.JOINS_TOO: ("unblock", f"{phase.name}_join_task"),
        }
        occurring = {one[of] for one in thens if of in one}
        ends = tuple((then.value, *options[then]) for then in Then if then in occurring)
        then_field = f"{phase.name}.{field}_{name}_then"
        return StreamOpModel(then_field, ends, behind, tasks.get(of, -1))

    return StreamLaneModel(
        phase=phase.name,
        name=f"{phase.name}_{field}",
        field=field,
        input=queue("in", there=sides.receives),
        output=queue("out", there=sides.sends),
        source=ids.take("sources", count=sides.count),
        pair=ids.take("pairs", count=sides.count),
        backward=any(stream.backward for stream in streams),
        receives=any(s.receives or s.through for s in streams),
        keeps=any(stream.receives for stream in streams),
        sends=any(stream.sends for stream in streams),
        advances=Advance.OWN_ROUTER in behind,
        resets=Advance.RESET in behind,
        hands_over=Advance.HAND_OVER in behind,
        through=any(stream.through for stream in streams),
        combines=any(s.receives and s.combines and not s.staged for s in streams),
        applies_combined=any(stream.combines and stream.staged for stream in streams),
        staged=any(stream.staged for stream in streams),
        keeps_first=any(s.kept_first and s.through for s in streams),
        waits_to_send=any(s.after and not s.kept_first for s in streams),
        waits_to_receive=any(s.after and s.kept_first for s in streams),
        behind_out=tuple(_followers(phase, index, receives=False)),
        behind_into=tuple(_followers(phase, index, receives=True)),
        out=op("out"),
        control=op("control"),
        into=op("into"),
    )


def _followers(phase: Phase, index: int, *, receives: bool) -> Iterator[FollowerModel]:
    """The lanes that begin, on some PE, after this one has sent, or has received."""
    assert phase.exchange is not None, "a stream is an exchange"
    field = phase.exchange.lanes[index]
    for other, name in enumerate(phase.exchange.lanes):
        streams = (stream_of(role.lanes[other]) for role in phase.roles)
        if any(s and s.after == field and s.kept_first is receives for s in streams):
            does = "receive" if receives else "send"
            condition = f"{phase.name}.{name}_after == {index + 1}"
            lane = f"{phase.name}_{name}"
            yield FollowerModel(condition, f"{lane}_load_to_{does}", f"{lane}_{does}")


def stream_fields(phase: Phase, any_color: str, *, by_color: bool) -> tuple[Field, ...]:
    """The fields of the phase's struct; with `by_color` the queues are those of the colors."""
    assert phase.exchange is not None, "a stream is an exchange"
    fields = [Field("takes_part", "bool", "", "false")]
    if phase.exchange.blocks is not None:
        fields.append(Field("first", "u16", "element of its block", "0"))
    fields.append(Field("waits_for", "u16", "operations", "0"))
    end = "0 nothing, 1 activates the last task, 2 unblocks it, 3 begins what follows"
    end += ", 4 and 5 as 1 and 2 the task that joins" * joins_three(phase)
    used = {op for role in phase.roles for op in thens_of(role)}
    waits = any(stream.after for role in phase.roles for stream in streams_of(role).values())
    some = set(_set_by_some(phase))
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
        ]
        fields += (
            Field(f"{lane}_{name}", "bool", about, "false")
            for name, about in _OF_SOME
            if f"{lane}_{name}" in some
        )
        fields += [
            Field(f"{lane}_{name}_then", "u16", end, "0")
            for name in ("out", "control", "into")
            if StreamOp(lane, name) in used
        ]
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
    if phase.exchange and phase.exchange.blocks:
        values |= {"first": first}
    for name, stream in streams_of(role).items():
        values |= dict(_lane_values(name, stream, place, queues))
        if stream.after and phase.exchange:
            values[f"{name}_after"] = str(phase.exchange.lanes.index(stream.after) + 1)
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
