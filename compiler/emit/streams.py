"""A phase that streams as the templates see it: lanes, the fields of their roles, filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from collc.base.values import dataclass
from collc.lowering.ids import Ids
from collc.lowering.memory import stage_of
from collc.plan import (
    Advance,
    Phase,
    Plan,
    StreamOp,
    Then,
    ends_of,
    filters_of,
    goes_first,
    joins_of,
    leaders_of,
    leads_across,
    ops_with_tasks,
    sides_of,
    stream_of,
    task_of,
    thens_of,
)
from collc.spec.simd import PAIR

_BEHIND = {"out": "sent", "control": "controlled", "into": "received"}


@dataclass(frozen=True)
class StreamOpModel:
    """An operation of a lane: the field that says what its end does, and of what occurs the value
    of that, and the option of the operation (`activate`, `unblock` or none) with its task. Behind
    it runs the function `behind` in the task with the position `task`, -1 if nothing follows, or if
    that is the task of another operation. `microthread` is the position of the output queue on
    whose microthread it runs, -1 if on that of its own queue."""

    then: str
    ends: tuple[tuple[int, str, str], ...]
    behind: str
    task: int
    microthread: int


@dataclass(frozen=True)
class TurnModel:
    """A lane of those that run in turn: its `number`, from 1 on, and the lane that comes `then`;
    whether some PE `resets` switches behind its words."""

    name: str
    field: str
    resets: bool
    control: StreamOpModel
    number: int
    then: str

    @property
    def resets_last(self) -> bool:
        """Whether some PE does so behind all that it sends in turn."""
        return self.resets and any(then != Then.GOES_ON.value for then, _, _ in self.control.ends)


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
    and `into`. What it sends is by the registers of the lane `by`, the first of those that take
    `turns`, which has them all; unless it `binds` an output queue, by that lane's, too. What it
    sends may have a `priority`."""

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
    by: str
    binds: bool
    priority: str = ""
    turns: tuple[TurnModel, ...] = ()

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
    def loads_late(self) -> str:
        """On which PEs, of a stream that is ready, the register that it sends by is loaded as it
        begins: "always", since other lanes have it in turn, where it "resets", which the control
        wavelet takes it for, or on none."""
        if self.by != self.name or self.turns:
            return "always"
        return "resets" if self.resets else ""

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
    (`in_blocks`), `alone` in its program, output queues `bound` to colors; the position of its
    task, of the one that joins two of three ends, and of the one that does so for two of four, else
    -1; whether some PE waits for several operations (`joins`). Filters count wavelets of `word`
    words, 0 without filters. A `stage` has so many words, 0 if nothing is staged; slices are where
    they are in the vector if it `stages_all`. If it is `ready`, what is staged is moved by the
    registers with the positions `pair` and `source`."""

    slices: int
    length: int
    grain: int
    in_blocks: bool
    alone: bool
    bound: bool
    lanes: tuple[StreamLaneModel, ...]
    task: int
    join_task: int
    pair_task: int
    joins: bool
    word: int
    stage: int
    stages_all: bool
    pair: int
    source: int

    @property
    def ready(self) -> bool:
        """Whether registers of what a caller does not give are loaded before the program begins:
        nobody else loads them, and all that is received goes to the stage."""
        return self.alone and self.stages_all

    @property
    def beginnings(self) -> tuple[tuple[StreamLaneModel, ...], ...]:
        """The lanes on which PEs send at first, if it is ready, in parts of which all registers are
        loaded before an operation begins, which would wait for its own otherwise. Where lanes run
        in turn, there is so much to send to the own group that registers of the others are loaded
        beside that."""
        sends = tuple(lane for lane in self.lanes if lane.sends)
        if not any(lane.turns for lane in sends):
            return (sends,)
        own = tuple(lane for lane in sends if lane.keeps)
        return own, sends[len(own) :]

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


def stream_model(phase: Phase, ids: Ids, plan: Plan, *, by_color: bool) -> StreamModel:
    """The model of a phase of a plan that streams; with `by_color`, in a program of several
    collectives, the queues are those of the colors."""
    words = plan.element.words
    bound, alone = plan.target.binds_output_queues, len(plan.phases) == 1 and not by_color
    task = ids.take("tasks")
    join_task = ids.take("tasks") if joins_of(phase) else -1
    pair_task = ids.take("tasks") if joins_of(phase) > 1 else -1
    with_tasks = ops_with_tasks(phase)
    tasks = {op: ids.take("tasks") for op in with_tasks}
    lanes: tuple[StreamLaneModel, ...] = ()
    for index in range(len(phase.lanes)):
        made = _lane_model(phase, index, ids, tasks, lanes, by_color=by_color, bound=bound)
        lanes = (*lanes, made)
    ready = alone and any(lane.staged and not lane.applies_combined for lane in lanes)
    lanes = tuple(
        replace(
            lane,
            turns=tuple(_turns(lane, lanes)),
            priority=_priority(phase, lane.field) if ready else "",
        )
        for lane in lanes
    )
    filters = any(filters_of(role) for role in phase.roles)
    return StreamModel(
        slices=phase.slicing.count,
        length=phase.slicing.length * words,
        grain=phase.slicing.grain * words,
        in_blocks=phase.blocks is not None,
        alone=alone,
        bound=bound,
        lanes=lanes,
        task=task,
        join_task=join_task,
        pair_task=pair_task,
        joins=any(ends_of(role) > 1 for role in phase.roles),
        word=(PAIR if phase.paired else 1) if filters else 0,
        stage=stage_of(phase) * words,
        stages_all=any(lane.staged and not lane.applies_combined for lane in lanes),
        pair=ids.take("pairs") if ready else -1,
        source=ids.take("sources") if ready else -1,
    )


def _lane_model(  # noqa: PLR0913 - what a lane has of its own, and what of others
    phase: Phase,
    index: int,
    ids: Ids,
    tasks: Mapping[StreamOp, int],
    before: tuple[StreamLaneModel, ...],
    *,
    by_color: bool,
    bound: bool,
) -> StreamLaneModel:
    field = phase.lanes[index]
    found = (stream_of(role.lanes[index]) for role in phase.roles)
    streams = [stream for stream in found if stream is not None]
    behind = {stream.advance for stream in streams}
    thens = [thens_of(role) for role in phase.roles]

    sides, leaders = sides_of(phase)[index], leaders_of(phase)
    leader = leaders.get(field, "")
    first = next((lane for lane in before if lane.field == leader), None)
    in_turn = leader or field in leaders.values()
    own_output = first is None or bound or by_color

    def queue(way: str, *, there: bool) -> str:
        if not there:
            return ""
        return f"{phase.name}.{field}_queue_{way}" if by_color else str(ids.take(f"{way}puts"))

    def op(name: str) -> StreamOpModel:
        of = StreamOp(field, name)
        task = task_of(phase, of)
        behind = f"{phase.name}_{task.lane}_{_BEHIND[task.name]}"
        options = {
            Then.NOTHING: ("", ""),
            Then.ENDS: ("activate", f"{phase.name}_task"),
            Then.ENDS_TOO: ("unblock", f"{phase.name}_task"),
            Then.GOES_ON: ("activate", f"{behind}_task"),
            Then.JOINS: ("activate", f"{phase.name}_join_task"),
            Then.JOINS_TOO: ("unblock", f"{phase.name}_join_task"),
            Then.PAIRS: ("activate", f"{phase.name}_pair_task"),
            Then.PAIRS_TOO: ("unblock", f"{phase.name}_pair_task"),
        }
        occurring = {one[of] for one in thens if of in one}
        ends = tuple((then.value, *options[then]) for then in Then if then in occurring)
        then_field = f"{phase.name}.{field}_{name}_then"
        runs_on = int(first.output) if first and not by_color and name != "into" else -1
        return StreamOpModel(then_field, ends, behind, tasks.get(of, -1), runs_on if bound else -1)

    return StreamLaneModel(
        phase=phase.name,
        name=f"{phase.name}_{field}",
        field=field,
        input=queue("in", there=sides.receives),
        output=queue("out", there=sides.sends) if own_output or not first else first.output,
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
        behind_out=() if in_turn else tuple(_followers(phase, index, receives=False)),
        behind_into=tuple(_followers(phase, index, receives=True)),
        out=op("out"),
        control=op("control"),
        into=op("into"),
        by=f"{phase.name}_{leader or field}",
        binds=own_output,
    )


def _priority(phase: Phase, lane: str) -> str:
    """That of the microthread that sends on a lane, where there are groups: what goes to the own
    one, which waits for it first, before the rest, and that before what is received."""
    if goes_first(phase, lane):
        return "high"
    return "medium" if leads_across(phase, lane) else ""


def _turns(lane: StreamLaneModel, lanes: tuple[StreamLaneModel, ...]) -> Iterator[TurnModel]:
    """The lanes that run in turn with one that is the first of them, itself included."""
    row = [one for one in lanes if one.by == lane.name]
    for index, one in enumerate(row if row[1:] else ()):
        then = row[index + 1].field if index + 1 < len(row) else ""
        yield TurnModel(one.name, one.field, one.resets, one.control, index + 1, then)


def _followers(phase: Phase, index: int, *, receives: bool) -> Iterator[FollowerModel]:
    """The lanes that begin, on some PE, after this one has sent, or has received."""
    field = phase.lanes[index]
    for other, name in enumerate(phase.lanes):
        streams = (stream_of(role.lanes[other]) for role in phase.roles)
        if any(s and s.after == field and s.kept_first is receives for s in streams):
            does = "receive" if receives else "send"
            condition = f"{phase.name}.{name}_after == {index + 1}"
            lane = f"{phase.name}_{name}"
            yield FollowerModel(condition, f"{lane}_load_to_{does}", f"{lane}_{does}")
