"""The positions of queues in the lists of a library, and who has each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field

from collc.base.values import dataclass
from collc.emit.model import LaneModel, QueuesModel
from collc.plan import Phase, Plan, leaders_of, sides_of
from collc.plan.plan import ProgramPlan, Use

NO_QUEUE = 0  # the position of one that nothing uses


@dataclass(frozen=True)
class QueuesOfLanes:
    """The numbers of a library's input and output queues; for each use whose code it has the lanes,
    with the positions that they have; and the queues that several lanes have."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    lanes: Mapping[int, tuple[LaneModel, ...]]
    shared: tuple[QueuesModel, ...]


def queues_of(program: ProgramPlan, own_code: Collection[int]) -> QueuesOfLanes:
    """The queues of the collectives that have code of their own. Where phases have colors in turn
    each color has queues, else each lane."""
    uses = {at: use for at, use in enumerate(program.uses) if use.collective in own_code}
    return _by_color(program, uses) if program.in_turn else _by_lane(program, uses)


def prefix_of(program: ProgramPlan, plan: Plan) -> str:
    """What the names of a collective begin with in the library, if it is not the only one."""
    return f"{plan.collective.name}_" if len(program.plans) > 1 else ""


def _path(program: ProgramPlan, use: Use, lane: str) -> str:
    """A lane in the parameters of a PE."""
    prefix = prefix_of(program, program.plans[use.collective])
    return f"{prefix}{program.phase(use).name}.{lane}"


def _names(phase: Phase) -> tuple[str, ...]:
    """The lanes that some PE has."""
    return tuple(dict.fromkeys(lane.name for role in phase.roles for lane in role.lanes))


def _by_color(program: ProgramPlan, uses: Mapping[int, Use]) -> QueuesOfLanes:
    lanes = {
        at: {name: _path(program, use, name) for name in _names(program.phase(use))}
        for at, use in uses.items()
    }
    models = {
        at: tuple(
            LaneModel(name, f"{path}.color_in", f"{path}.color_out", f"{path}.color_out", own=False)
            for name, path in of.items()
        )
        for at, of in lanes.items()
    }
    shared = []
    for at in range(len(program.colors)):
        having = (n for n, use in uses.items() if at in dict(use.positions).values())
        paths = tuple(path for n in having for path in lanes[n].values())
        shared.append(QueuesModel(f"color_{at}", at, str(at), str(at), paths))
    return QueuesOfLanes(*program.queues, models, tuple(shared))


def _by_lane(program: ProgramPlan, uses: Mapping[int, Use]) -> QueuesOfLanes:
    """Phases with the same colors and queues have the same positions."""
    lists = _Lists()
    found: dict[tuple[object, ...], dict[str, _Position]] = {}
    having: dict[tuple[object, ...], list[int]] = {}
    for at, use in uses.items():
        numbers = tuple(_numbers_of(program, use))
        key = tuple(k for _, k in use.positions), numbers
        if key not in found:
            found[key] = lists.positions(numbers, leaders_of(program.phase(use)))
        having.setdefault(key, []).append(at)
    lanes: dict[int, tuple[LaneModel, ...]] = {}
    shared = list[QueuesModel]()
    for same, of in having.items():
        alone = len(of) == 1
        for at in of:
            names = _names(program.phase(uses[at]))
            lanes[at] = tuple(found[same][name].model(name, own=alone) for name in names)
        for name, position in found[same].items() if not alone else ():
            paths = tuple(_path(program, uses[at], name) for at in of)
            source, sink = str(position.input), str(position.output)
            shared.append(QueuesModel(f"lane_{len(shared)}", -1, source, sink, paths))
    return QueuesOfLanes(tuple(lists.inputs), tuple(lists.outputs), lanes, tuple(shared))


_Numbers = tuple[str, int | None, int | None]  # a lane, and its own queues


def _numbers_of(program: ProgramPlan, use: Use) -> Iterator[_Numbers]:
    """The lanes of a use, each with the numbers of its queues, as far as it has any of its own."""
    plan, bound = program.plans[use.collective], program.target.binds_output_queues
    before = [side for phase in plan.phases[: use.phase] for side in sides_of(phase)]
    inputs = iter(plan.input_queues[sum(side.receives for side in before) :])
    outputs = iter(plan.output_queues[sum(side.outputs(bound=bound) for side in before) :])
    phase = program.phase(use)
    for name, side in zip(phase.lanes, sides_of(phase), strict=True):
        source = next(inputs) if side.receives else None
        yield name, source, next(outputs) if side.outputs(bound=bound) else None


@dataclass(frozen=True)
class _Position:
    """Positions of a lane's queues, and of the queue on whose microthread it sends."""

    input: int
    output: int
    microthread: int

    def model(self, name: str, *, own: bool) -> LaneModel:
        """The lane of this name."""
        return LaneModel(name, str(self.input), str(self.output), str(self.microthread), own)


@dataclass(frozen=True)
class _Lists:
    """The lists of a library, as far as they have been filled."""

    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def positions(
        self, numbers: Collection[_Numbers], leaders: Mapping[str, str]
    ) -> dict[str, _Position]:
        """Positions for the lanes of a phase; those that have no output queue of their own have
        that of the first of the lanes that they run in turn with."""
        found: dict[str, _Position] = {}
        for name, source, sink in numbers:
            leader = found.get(leaders.get(name, ""))
            into, out = _added(self.inputs, source), _added(self.outputs, sink)
            if leader is not None:
                out = out if sink is not None else leader.output
            found[name] = _Position(into, out, out if leader is None else leader.microthread)
        return found


def _added(numbers: list[int], number: int | None) -> int:
    if number is None:
        return NO_QUEUE
    numbers.append(number)
    return len(numbers) - 1
