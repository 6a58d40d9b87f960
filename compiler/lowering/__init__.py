"""Schedule to Plan: roles, routes and switch positions, then numbers.

`candidate_plans` has a plan for every coloring of each reduce phase (`COLORINGS`) and every wiring
of each phase made of steps; which of them is taken depends on what they cost (`collc.cost.choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product

from collc.base.memoize import by_identity, memoized
from collc.base.paths import Path
from collc.base.values import dataclass
from collc.lowering import memory, resources
from collc.lowering.broadcast import broadcast_phase
from collc.lowering.colorings import by_parity, by_place, without_control
from collc.lowering.lane_queues import own_queues, with_queues
from collc.lowering.line import LineTree, line_tree
from collc.lowering.rank_programs import Combining, rank_programs
from collc.lowering.roles import reduce_phase
from collc.lowering.root_bypass import without_root
from collc.lowering.steps import (
    circuits,
    noncontiguous_circuits,
    noncontiguous_relays,
    noncontiguous_tree,
    relays,
    steps_phase,
    traffic_of,
)
from collc.lowering.steps.routes import Wired
from collc.lowering.streams import blocks_of, recognised, stream_phases
from collc.lowering.sum_to_all import with_sum_to_all
from collc.plan import Detour, Phase, Plan
from collc.schedule import BroadcastPhase, ReducePhase, Schedule
from collc.schedule import Phase as SchedulePhase
from collc.schedule.own_slices import asks_own_slices
from collc.spec import Collective, Contract
from collc.spec.exchange import Slicing, StepsPhase
from collc.spec.simd import (
    by_call_back,
    elements_of_wavelet,
    goes_in_pairs,
    slices_go_in_pairs,
)
from collc.target import Target

__all__ = [
    "COLORINGS",
    "Alternative",
    "alternatives_of",
    "candidate_plans",
    "planned_by",
    "relays_need_fewer",
]

OPERAND_DIMENSIONS = 3  # of slices in several blocks: slices, blocks, elements
Coloring = Callable[[LineTree], tuple[int, ...]]

COLORINGS: dict[str, Coloring] = {"by_parity": by_parity, "without_control": without_control}


def does_as_a_stream(schedule: Schedule, phase: SchedulePhase) -> bool:
    """Whether a phase does what some stream does."""
    if not isinstance(phase, StepsPhase):
        return False
    return recognised(phase, own_only=asks_own_slices(schedule, phase)) is not None


def relays_need_fewer(phase: SchedulePhase, path: Path | None) -> bool:
    """Whether circuits take more colors than relays, and so have to be faster to be worth it."""
    if not isinstance(phase, StepsPhase):
        return False
    direct, by_relays = _wirings(phase, path)
    return direct is not None and direct[0].color_count > by_relays[0].color_count


@dataclass(frozen=True, eq=False)
class Alternative:
    """How to carry out a phase: `relays` if PEs pass on what is not for them, `streams` if
    routers put slices in order. The phase is worked out when it is asked for."""

    lower: Callable[[], Phase]
    relays: bool = False
    streams: bool = False

    @cached_property
    def phase(self) -> Phase:
        """The phase, carried out so."""
        return self.lower()


def candidate_plans(schedule: Schedule, target: Target, *, streams: bool = True) -> Iterator[Plan]:
    """A plan for every choice of colorings and wirings, one per phase, in the order of
    `alternatives_of`."""
    for chosen in product(*alternatives_of(schedule, target, streams=streams)):
        yield planned_by(chosen, schedule, target)


def alternatives_of(
    schedule: Schedule, target: Target, *, streams: bool = True
) -> tuple[tuple[Alternative, ...], ...]:
    """All alternatives for each phase; of the colorings the first has the fewest colors, of the
    wirings circuits come first, and `streams` last."""
    return _alternatives_of(
        *schedule.phases, collective=schedule.collective, target=target, streams=streams
    )


_HELD = 4  # schedules: a program is planned within one limit of colors after the other


@by_identity(_HELD)
def _alternatives_of(
    *phases: SchedulePhase, collective: Collective, target: Target, streams: bool
) -> tuple[tuple[Alternative, ...], ...]:
    schedule = Schedule(collective, phases)
    return tuple(tuple(_alternatives(schedule, p, target, streams=streams)) for p in phases)


def planned_by(
    chosen: Sequence[Alternative], schedule: Schedule, target: Target, *, alone: bool = False
) -> Plan:
    """The plan of one alternative for each phase; `alone` in its program a collective may be a
    one-word collective."""
    phases = tuple(one.phase for one in chosen)
    if alone:
        phases = with_sum_to_all(phases, schedule.collective, target)
    return numbered_plan(schedule.collective, phases, target)


def _alternatives(
    schedule: Schedule,
    phase: ReducePhase | BroadcastPhase | StepsPhase,
    target: Target,
    *,
    streams: bool,
) -> Iterator[Alternative]:
    of_call = schedule.collective.root_of_call
    if isinstance(phase, BroadcastPhase):
        yield Alternative(partial(_multicast, schedule, phase, target))
    elif isinstance(phase, StepsPhase):
        offered = _exchanges(schedule, phase, target)
        streamed = _streamed(schedule, phase, target) if streams else iter(())
        if of_call:
            # routers that are set for a root have no filters; of circuits a color is that of a root
            streamed = filter(_is_of_any_length, streamed)
            found = next(streamed, None)
            if found is not None:
                yield Alternative(partial(_already, found), streams=True)
            else:
                yield from (one for one in offered if one.relays)
            return
        yield from offered
        for one in streamed:
            yield Alternative(partial(_already, one), streams=True)
    elif of_call:
        of_places = partial(by_place, phase=phase)
        yield Alternative(partial(_reduction, schedule, phase, of_places, target))
    else:
        for coloring in COLORINGS.values():
            yield Alternative(partial(_reduction, schedule, phase, coloring, target))


def _multicast(schedule: Schedule, phase: BroadcastPhase, target: Target) -> Phase:
    contract = schedule.collective.contract
    wide = schedule.collective.root_of_call and elements_of_wavelet(contract) == 1
    paired = goes_in_pairs(contract, target, combines=False)
    return replace(broadcast_phase(phase, _whole(contract)), paired=paired, wide=wide)


def _reduction(schedule: Schedule, phase: ReducePhase, coloring: Coloring, target: Target) -> Phase:
    contract = schedule.collective.contract
    tree = line_tree(phase.children)
    path = schedule.collective.path
    detours: tuple[Detour, ...] = ()
    if phase.bypass:
        others = coloring(without_root(tree))
        received_on = (max(others) + 1, *others)  # the sum has a color of its own
    else:
        received_on = coloring(tree)
    if path is not None and path.gaps:
        received_on, detours = noncontiguous_tree(phase, path, received_on)
    in_code = by_call_back(contract)
    most = max(map(len, phase.children)) * contract.words
    one_by_one = contract.run_length is not None or most > target.max_extent
    how = Combining(in_code, in_code or one_by_one)
    done = rank_programs(phase, received_on, how)
    paired = goes_in_pairs(contract, target, combines=True)
    return replace(
        reduce_phase(phase, done, _whole(contract), path), detours=detours, paired=paired
    )


def _whole(contract: Contract) -> Slicing:
    """A vector that is not cut."""
    return Slicing(1, contract.length, dynamic=contract.run_length is not None)


def _already(phase: Phase) -> Phase:
    return phase


def _streamed(schedule: Schedule, phase: StepsPhase, target: Target) -> Iterator[Phase]:
    """A phase made of steps as a stream, in every form that it has."""
    contract, path = schedule.collective.contract, schedule.collective.path
    length = contract.run_length
    # slices of a length that calls give have one block each
    if blocks_of(phase) > 1 and (length or target.dimensions < OPERAND_DIMENSIONS):
        return iter(())
    paired = slices_go_in_pairs(phase, contract, target)
    own_only = asks_own_slices(schedule, phase)
    if own_only and by_call_back(contract):
        own_only = False  # a call-back combines in code, not on the way
    found = stream_phases(phase, target, path=path, paired=paired, own_only=own_only)
    return found if length is None else filter(_is_of_any_length, found)


def _is_of_any_length(phase: Phase) -> bool:
    """Whether a stream is one for every length, and root: it has no filters, which count words."""
    return not any(op.filter for role in phase.roles for op in role.ops)


def _exchanges(schedule: Schedule, phase: StepsPhase, target: Target) -> Iterator[Alternative]:
    """A phase made of steps along circuits, if the colors suffice for them, and by relays."""
    contract = schedule.collective.contract
    traffic = traffic_of(phase)
    direct, by_relays = _wirings(phase, schedule.collective.path)
    most = schedule.collective.limits.colors or len(target.colors)
    paired = slices_go_in_pairs(phase, contract, target)
    path = schedule.collective.path
    lower = partial(
        steps_phase,
        by_call_back=by_call_back(contract),
        path=path,
        paired=paired,
    )
    # where neither keeps the limit, the refusal names the fewest colors
    if direct is not None and direct[0].color_count <= max(most, by_relays[0].color_count):
        yield Alternative(partial(lower, phase, traffic, direct[0], detours=direct[1]))
    by_relay = partial(lower, phase, traffic, by_relays[0], detours=by_relays[1])
    yield Alternative(by_relay, relays=True)


@memoized
def _wirings(phase: StepsPhase, path: Path | None) -> tuple[Wired | None, Wired]:
    """Circuits, if there are any, and relays, with the detours that they take where an order is not
    contiguous."""
    traffic = traffic_of(phase)
    if path is not None and path.gaps:
        return (
            noncontiguous_circuits(traffic, path, phase.axis, phase.name),
            noncontiguous_relays(traffic, path, phase.axis, phase.name),
        )
    direct = circuits(traffic, phase.ranks, phase.axis, phase.name)
    by_relays = relays(traffic, phase.ranks, phase.axis, phase.name)
    return None if direct is None else (direct, ()), (by_relays, ())


def numbered_plan(collective: Collective, phases: tuple[Phase, ...], target: Target) -> Plan:
    """The phases with numbers for all they use."""
    contract = collective.contract
    data = memory.data_bytes(contract, phases)
    colors = resources.number_colors(phases, target)
    plan = Plan(
        target=target,
        collective=collective,
        phases=phases,
        colors=colors,
        input_queues=(),
        output_queues=(),
        code_bytes=memory.code_bytes(contract, phases, target.free_bytes - data),
        data_bytes=data,
    )
    return with_queues(plan, own_queues([(collective, phase) for phase in phases], target))
