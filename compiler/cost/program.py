"""Predicted cycles of a program of several collectives: every PE followed from call to call.

A PE begins its next phase when its own part of the one before is done and, where colors are torn
down, when the teardowns of those that it sets have come to its router. The phases themselves are
evaluated as those of one collective are, each PE with its own beginning; collectives on parts of
the grid part by part. Of many rounds the first ones are followed; the others are taken to last as
long as the last of these. Where calls are in flight at the same time, all are added up, each by
itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from collc.cost.bound import bound_of
from collc.cost.calls import (
    FRAMES,
    FRAMES_AT_LAUNCH,
    FRAMES_WITHIN,
    LOADING,
    NEXT_PHASE,
    PATIENCE,
    START,
    Calls,
)
from collc.cost.operations import Costs, costs_of, depth_of
from collc.cost.parts import Part, ends_of, parts_of
from collc.cost.predict import Mask, Prediction, Times, predict
from collc.emit.model import SharedPhase
from collc.emit.program import shared_of
from collc.packing import PAIR, WIDE
from collc.placement import received_colors, sent_colors
from collc.plan import Phase, Region, Role, SendVector, StoreVectors
from collc.program import ProgramPlan, Use
from collc.run_lengths import Lengths, collective_of_length
from collc.spec import Collective, ContractKind

FOLLOWED = 3  # rounds
FOLLOWED_OF_STEPS = 2  # where phases are made of steps, which take long to evaluate
FOLLOWED_BY_LENGTH = 32  # where each has a length of its own


@dataclass(frozen=True)
class ProgramPrediction(Prediction):
    """Of a program; `bound` is that of its longest call, which says little of the whole."""

    @property
    def gap(self) -> float | None:
        """None: calls overlap, so their bounds do not add up."""
        return None


@dataclass
class _Run:
    """`over[x, y]` is when the part of a PE of the last phase was over; `torn[k]` from when on
    routers say that color k is torn down. `switching` is by how much setting routers has put off
    the last PE's beginnings."""

    plan: ProgramPlan
    calls: Calls
    over: Times
    torn: list[Times]
    given: list[SharedPhase]
    registers: list[Times]  # that each use loads when it begins
    lengths: Lengths = field(default_factory=dict)  # of the run
    switching: int = 0
    masks: dict[int, tuple[Times, Times, list[Mask]]] = field(default_factory=dict)

    def called(self, number: int, call: int) -> tuple[int, Collective]:
        """What a call of a round runs: its index, and the collective with vectors of its length."""
        plan = self.plan
        index, length = plan.calls[call], None
        for one in plan.program.selections:
            if one.name == plan.program.calls[call]:
                given = self.lengths.get(one.length.name, ())
                length = given[number] if given else one.length.most
                index = plan.index_of(one.name, length)
        collective = plan.plans[index].collective
        return index, collective if length is None else collective_of_length(collective, length)


def predict_program(plan: ProgramPlan, lengths: Lengths | None = None) -> Prediction:
    """All rounds; the breakdown has a part for each collective, by how much its calls put off the
    end of the last PE, and one for reconfiguration. `lengths` of the run are given by name, for
    each round; else they are the most that they may be."""
    if plan.strands:
        return _added_up(plan)
    grid = plan.plans[0].collective.grid.whole
    none = np.zeros((grid.width, grid.height), dtype=np.int64)
    torn_down = any(color.torn_down for color in plan.colors)
    shared = shared_of(plan)
    run = _Run(
        plan,
        Calls(plan, torn_down),
        none,
        [none.copy() for _ in plan.colors],
        shared,
        _registers(plan, shared),
        lengths or {},
    )
    rounds = plan.program.rounds
    ends = [0]
    parts: dict[str, int] = {}
    steps = any(plan.phase(use).exchange for use in plan.uses)
    followed = FOLLOWED_BY_LENGTH if lengths else FOLLOWED_OF_STEPS if steps else FOLLOWED
    for number in range(min(rounds, followed)):
        parts = dict.fromkeys(dict.fromkeys(plan.program.calls), 0)
        run.switching = 0
        for call, name in enumerate(plan.program.calls):
            before, switching = int(run.over.max()), run.switching
            _call(run, number, call)
            spent = int(run.over.max()) - before - (run.switching - switching)
            parts[name] += max(spent, 0)
        parts["reconfiguration"] = run.switching
        ends.append(int(run.over.max()))
    last = ends[-1] - ends[-2]
    cycles = ends[-1] + (rounds - len(ends) + 1) * last + FINISHED
    bound = max(_bounds(run, min(rounds, followed)))
    return ProgramPrediction(cycles, bound, _scaled(parts, cycles), ())


def _bounds(run: _Run, rounds: int) -> Iterator[int]:
    """What each call takes at least."""
    calls = range(len(run.plan.program.calls))
    called = dict.fromkeys(run.called(number, call) for number in range(rounds) for call in calls)
    for index, collective in called:
        schedule = replace(run.plan.schedules[index], collective=collective)
        yield bound_of(schedule, run.plan.target)


def _added_up(plan: ProgramPlan) -> Prediction:
    """The sum of all calls, which is too much as far as some are in flight at the same time."""
    alone = [
        predict(schedule, replace(one, task_ids=plan.task_ids))
        for schedule, one in zip(plan.schedules, plan.plans, strict=True)
    ]
    parts = dict.fromkeys(plan.program.calls, 0)
    for index in plan.calls:
        name = plan.plans[index].collective.name
        parts[name] += plan.program.rounds * alone[index].cycles
    bounds = [bound_of(schedule, plan.target) for schedule in plan.schedules]
    return ProgramPrediction(sum(parts.values()), max(bounds), parts, ())


FINISHED = 9  # from the end of the last part until the host may go on


def _scaled(parts: dict[str, int], cycles: int) -> dict[str, int]:
    """The parts of one round as parts of all; what is left over by rounding goes to the largest."""
    total = sum(parts.values()) or 1
    found = {name: part * cycles // total for name, part in parts.items()}
    found[max(found, key=lambda name: found[name])] += cycles - sum(found.values())
    return found


def _registers(plan: ProgramPlan, shared: list[SharedPhase]) -> list[Times]:
    """By use and PE: how many registers are loaded when the phase begins; those of most phases
    have been since the program was loaded."""
    grid = plan.plans[0].collective.grid.whole
    found = []
    for use, given in zip(plan.uses, shared, strict=True):
        loads = np.zeros((grid.width, grid.height), dtype=np.int64)
        phase = plan.phase(use)
        for part in parts_of(plan.plans[use.collective].collective.grid, loads):
            for region, number in phase.regions if given.late else ():
                part[_places(phase, region)] = _loaded(phase.roles[number])
        found.append(loads)
    return found


def _loaded(role: Role) -> int:
    """Fabric operands of a role: each operation has one, where two vectors are combined two."""
    both = sum(isinstance(s, SendVector) and s.combines_from is not None for s in role.steps)
    lanes = ((n.receives_on is not None) + (n.sends_on is not None) for n in role.lanes if n.loops)
    return len(role.steps) + both + sum(lanes)


def _places(phase: Phase, region: Region) -> tuple[Times, Times]:
    """The PEs of a region as indices."""
    along = np.array(list(region.x), dtype=np.int64)
    if phase.path is not None:
        return phase.path.x[along], phase.path.y[along]
    across = np.array(list(region.y), dtype=np.int64)
    return along[:, None], across[None, :]


def _call(run: _Run, number: int, call: int) -> None:
    """One call of a collective, phase by phase."""
    plan = run.plan
    index, collective = run.called(number, call)
    one = replace(plan.plans[index], task_ids=plan.task_ids, collective=collective)
    costs = costs_of(one)
    first = number == 0 and call == 0
    if first:
        reached = run.over + run.calls.from_launch(costs)
    else:
        reached = run.over + run.calls.to_run(call, costs, number > 0 and call == 0)
    depth = FRAMES_AT_LAUNCH if first else FRAMES
    for position, use in plan.uses_of(index):
        begun = _opened(run, position, use, reached)
        run.switching += int(begun.max() - reached.max())
        loads = run.registers[position]
        ready = begun + START + loads * costs.load + LOADING * (loads > 0)
        part = _part(run, position, use, _costs(plan, position, use, costs), ready, depth)
        ends = ends_of(plan, use, part)
        run.over = ends.over + run.calls.to_end(use) * ends.by_task
        for name, torn in ends.torn.items():
            run.torn[dict(use.positions)[name]] = torn
        reached, depth = run.over + NEXT_PHASE, FRAMES_WITHIN


def _part(run: _Run, position: int, use: Use, costs: Costs, ready: Times, depth: int) -> Part:  # noqa: PLR0913, PLR0917
    """What is evaluated: a PE may be quick only if all colors of the phase are torn down."""
    given = run.given[position]
    all_are = set(given.torn_down) == set(given.positions)
    phases = run.plan.plans[use.collective].phases
    phase = phases[use.phase]
    quick = given.controls_ready and all_are and not (costs.maps and phase.exchange is None)
    combining = [i for i, one in enumerate(phases) if one.kind is not ContractKind.BROADCAST]
    restores = costs.negates and use.phase == max(combining, default=-1)
    return Part(phase, costs, ready, depth, bool(given.torn_down), quick, restores)


def _costs(plan: ProgramPlan, position: int, use: Use, costs: Costs) -> Costs:
    """The costs with the queues of the phase's colors, and tasks that phases have in turn."""
    phase, positions = plan.phase(use), dict(use.positions)
    received = {plan.colors[positions[c]] for role in phase.roles for c in received_colors(role)}
    sent = {plan.colors[positions[c]] for role in phase.roles for c in sent_colors(role)}
    words = plan.target
    earlier = sum(_has_first_task(plan.phase(other)) for other in plan.uses[:position])
    dispatch = 3 * (earlier + 1) + 1
    return replace(
        costs,
        output_queue=min(depth_of(words.output_queue_words, c.output_queue) for c in sent),
        input_queue=min(depth_of(words.input_queue_words, c.input_queue) for c in received),
        task=costs.task + dispatch,
        dispatch=dispatch,
        frames=2,
        length=costs.elements // PAIR if phase.paired else costs.elements,
        group=WIDE if phase.wide else 1,
    )


def _has_first_task(phase: Phase) -> bool:
    """Whether all PEs of a phase have the first of the tasks that phases share."""
    steps = (step for role in phase.roles for step in role.steps)
    return phase.exchange is None and not any(isinstance(s, StoreVectors) for s in steps)


def _opened(run: _Run, position: int, use: Use, reached: Times) -> Times:
    """When PEs that have come to a phase have set their routers."""
    torn = {name: k for name, k in use.positions if run.plan.colors[k].torn_down}
    if not torn:
        return reached
    if position not in run.masks:
        run.masks[position] = _masks(run.plan, use, tuple(torn))
    colors, moving, used = run.masks[position]
    awaited = reached.copy()
    for mask, k in zip(used, torn.values(), strict=True):
        awaited = np.where(mask, np.maximum(awaited, run.torn[k]), awaited)
    calls = run.calls
    looks = np.maximum(-(-(awaited - reached - 1) // calls.looked(colors)), 0)
    found = reached + looks * calls.looked(colors)
    patient = looks < PATIENCE
    found = np.where(patient, found, awaited + calls.by_task(position))
    set_: Times = found + calls.opened(colors, moving)
    return set_


def _masks(plan: ProgramPlan, use: Use, names: tuple[str, ...]) -> tuple[Times, Times, list[Mask]]:
    """By PE: how many of the colors its router has, how many of them move, and which."""
    grid = plan.plans[use.collective].collective.grid
    phase = plan.phase(use)
    shape = (grid.whole.width, grid.whole.height)
    used = [np.zeros(shape, dtype=np.bool_) for _ in names]
    moving = np.zeros(shape, dtype=np.int64)
    for part, *parts in zip(*(parts_of(grid, of) for of in (moving, *used)), strict=True):
        for region, number in phase.regions:
            places = _places(phase, region)
            for color in phase.roles[number].colors:
                if color.color in names:
                    parts[names.index(color.color)][places] = True
                    part[places] += len(color.positions) > 1
    counts: Times = np.sum(used, axis=0, dtype=np.int64)
    return counts, moving, used
