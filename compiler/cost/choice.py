"""Of the plans of a schedule the fastest: within all budgets, or within a program's colors.

`build_plan` plans one collective, `build_program_plan` several that run one after the other,
`build_call_streams` several of which some are in flight at the same time.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product
from math import prod

from collc.cost.predict import (
    NEVER,
    TOO_LONG,
    cycles_or_never,
    program_cycles_or_never,
    unprinted,
)
from collc.cost.relays import relays_at_least
from collc.cost.steps_model import steps_at_least
from collc.cost.stream_bounds import streams_at_least
from collc.lowering import (
    Alternative,
    alternatives_of,
    candidate_plans,
    does_as_a_stream,
    planned_by,
    relays_need_fewer,
    resources,
)
from collc.lowering.concurrent_streams import fit_together, in_parts, planned_call_streams
from collc.lowering.lane_queues import with_shared_queues
from collc.lowering.resources import left_by
from collc.lowering.sharing import filters_of_program, share, widest
from collc.lowering.teardown import can_be_torn_down
from collc.plan import Advance, Plan
from collc.plan.configuration import torn_down_by
from collc.plan.plan import ProgramPlan
from collc.schedule import Phase, Schedule
from collc.spec import Program
from collc.spec.exchange import StepsPhase
from collc.target import Target


def build_plan(schedule: Schedule, target: Target, faster_than: int | None = None) -> Plan:
    """The best plan within all budgets, in which phases share numbers only if there is none in
    which each has its own, or if many of them can stream; if none is, the one with the fewest
    colors, which a check refuses. So it does the one with the fewest bytes if none has room. Where
    only what takes fewer cycles than given is of use, relays that take as many at least are not
    lowered if there is another way.
    """

    @cache
    def planned(*chosen: Alternative) -> Plan:
        return planned_by(chosen, schedule, target, alone=True)

    offered = alternatives_of(schedule, target)
    if faster_than is not None:
        offered = tuple(
            _useful(schedule, phase, target, of, faster_than)
            for phase, of in zip(schedule.phases, offered, strict=True)
        )
    offered = _without_slow_relays(schedule, target, offered, planned)
    choices = _one_after_the_other(schedule, offered, planned) or list(product(*offered))
    first = planned(*choices[0])
    alone = not _has_control(first) and not any(
        relays_need_fewer(phase, schedule.collective.path) or does_as_a_stream(schedule, phase)
        for phase in schedule.phases
    )
    if resources.within_budget(first) and alone:
        return first  # no other coloring is faster without control wavelets, and none needs fewer
    plans = tuple(_fitted(planned(*chosen)) for chosen in choices)
    possible = [plan for plan in plans if resources.within_budget(plan)]
    if not any(_has_room(plan) or not _in_blocks(plan) for plan in possible):
        # what phases share are queues and registers, not colors
        few = [plan for plan in plans if len(plan.colors) <= plan.color_limit]
        plans = tuple(map(with_shared_queues, few or [min(plans, key=_colors)]))
        possible = [plan for plan in plans if resources.within_budget(plan)]
    if not possible:
        return min(plans, key=_colors)
    with_room = [plan for plan in possible if _has_room(plan)]
    if len(with_room) <= 1:
        return with_room[0] if with_room else min(possible, key=_bytes)
    return _least(schedule, with_room, _colors)


def _useful(
    schedule: Schedule,
    phase: Phase,
    target: Target,
    offered: tuple[Alternative, ...],
    faster_than: int,
) -> tuple[Alternative, ...]:
    """The alternatives without relays that take so many cycles at least; all if these are."""
    direct = tuple(one for one in offered if not one.relays)
    if not direct or direct == offered or not isinstance(phase, StepsPhase):
        return offered
    return direct if relays_at_least(schedule, phase, target) >= faster_than else offered


def _has_room(plan: Plan) -> bool:
    """Whether PEs have room for it; how long one takes that has none is not worth finding out."""
    return _bytes(plan) <= plan.target.free_bytes


def _bytes(plan: Plan) -> int:
    return plan.code_bytes + plan.data_bytes


def _fitted(plan: Plan) -> Plan:
    """A plan of a single phase whose lanes share numbers where they are on other PEs, if it does
    not fit otherwise: no phase has to wait for another. So are phases that stream slices in
    several blocks, next to which step tables with numbers of their own are slow."""
    shares = len(plan.phases) == 1 or (
        _in_blocks(plan) and not any(phase.has_loops for phase in plan.phases)
    )
    return with_shared_queues(plan) if shares and not resources.within_budget(plan) else plan


def _in_blocks(plan: Plan) -> bool:
    return any(phase.in_blocks for phase in plan.phases)


_MOST_TOGETHER = 2  # phases whose alternatives are chosen for together


def _one_after_the_other(
    schedule: Schedule,
    offered: tuple[tuple[Alternative, ...], ...],
    planned: Callable[..., Plan],
) -> list[tuple[Alternative, ...]]:
    """Where many phases can stream, the best choice that differs from one in which all do by a
    phase at a time; nothing where there are few of them, or not all fit."""
    streamed = [[one for one in of if one.streams] for of in offered]
    if sum(map(bool, streamed)) <= _MOST_TOGETHER:
        return []

    known: dict[tuple[Alternative, ...], tuple[int, int]] = {}

    def cost(chosen: tuple[Alternative, ...], most: int) -> tuple[int, int]:
        if chosen not in known:
            plan = planned(*chosen)
            plan = plan if resources.within_budget(plan) else with_shared_queues(plan)
            fits = resources.within_budget(plan) and at_least(schedule, plan) <= most
            known[chosen] = cycles_or_never(plan) if fits else NEVER, len(plan.colors)
        return known[chosen]

    def fastest(
        choices: Iterable[tuple[Alternative, ...]], best: tuple[int, int]
    ) -> tuple[tuple[int, int], tuple[Alternative, ...] | None]:
        found = None
        for chosen in choices:
            of = cost(chosen, best[0])
            if of < best:
                best, found = of, chosen
        return best, found

    everywhere = product(*(few or of for few, of in zip(streamed, offered, strict=True)))
    best, chosen = fastest(everywhere, (NEVER, 0))
    if chosen is None:
        return []
    for phase, of in enumerate(offered):
        others = ((*chosen[:phase], one, *chosen[phase + 1 :]) for one in of if not one.streams)
        best, other = fastest(others, best)
        chosen = other or chosen
    return [chosen]


def at_least(schedule: Schedule, plan: Plan) -> int:
    """Cycles that a plan takes at least."""
    return max(streams_at_least(plan), steps_at_least(schedule, plan))


def _without_slow_relays(
    schedule: Schedule,
    target: Target,
    offered: tuple[tuple[Alternative, ...], ...],
    planned: Callable[..., Plan],
) -> tuple[tuple[Alternative, ...], ...]:
    """The alternatives of each phase without the relays that, by their lower bound, are slower than
    a plan that streams wherever it can: those are not even lowered."""
    least = [
        relays_at_least(schedule, phase, target)
        if isinstance(phase, StepsPhase) and any(one.streams for one in alternatives)
        else 0
        for phase, alternatives in zip(schedule.phases, offered, strict=True)
    ]
    if not any(least):
        return offered
    fast = product(*([one for one in of if one.streams] or of[:1] for of in offered))
    plans = list(filter(resources.within_budget, (planned(*chosen) for chosen in fast)))
    plan = min(filter(_has_room, plans), key=streams_at_least, default=None)
    plan = plan or min(plans, key=streams_at_least, default=None)
    if plan is None or streams_at_least(plan) >= max(least):
        return offered
    if not _has_room(plan) and _in_blocks(plan):
        return offered  # there may be room where slices in several blocks do not wait in a stage
    least_of_streams = streams_at_least(plan)
    cycles = _known_cycles(plan, least_of_streams) if _has_room(plan) else least_of_streams
    return tuple(
        tuple(one for one in alternatives if not one.relays or one_least <= cycles)
        for alternatives, one_least in zip(offered, least, strict=True)
    )


def relays_take(schedule: Schedule, target: Target, more_than: int) -> int:
    """Cycles that a phase takes at least which PEs can only do by relays, if they are more than
    given ones or as many; else 0. Nothing is lowered."""
    for phase in schedule.phases:
        if isinstance(phase, StepsPhase):
            cycles = relays_at_least(schedule, phase, target)
            if cycles >= more_than:
                offered = alternatives_of(schedule, target)[schedule.phases.index(phase)]
                return cycles if all(one.relays for one in offered) else 0
    return 0


def _least(schedule: Schedule, plans: Sequence[Plan], colors: Callable[[Plan], int]) -> Plan:
    """Of plans of a schedule that with the fewest cycles, of several such that with the fewest
    colors, of these the first. What takes more at least than one that is known is not followed.
    Where more than a few phases have alternatives, they are chosen one after the other, until no
    phase by itself has a better one; so are those of plans that are all there, in any combination.
    """
    least = [at_least(schedule, plan) for plan in plans]
    by_phases = {tuple(map(id, plan.phases)): index for index, plan in enumerate(plans)}
    known: dict[int, tuple[int, int, int]] = {}

    def cost(index: int) -> tuple[int, int, int]:
        if index not in known:
            cycles = _known_cycles(plans[index], least[index])
            known[index] = cycles, colors(plans[index]), index
        return known[index]

    def best_of(indices: Iterable[int], best: int) -> int:
        for index in sorted(indices, key=least.__getitem__):
            if least[index] <= cost(best)[0]:
                best = min(best, index, key=cost)
        return best

    offered = [list(dict.fromkeys(of)) for of in zip(*by_phases, strict=True)]
    best = min(range(len(plans)), key=least.__getitem__)
    together = sum(len(of) > 1 for of in offered) <= _MOST_TOGETHER
    if together or prod(map(len, offered)) != len(plans):
        return plans[best_of(range(len(plans)), best)]
    before = -1
    while before != best:
        before = best
        for phase, of in enumerate(offered):
            chosen = [*map(id, plans[best].phases)]
            others = ((*chosen[:phase], one, *chosen[phase + 1 :]) for one in of)
            best = best_of(map(by_phases.__getitem__, others), best)
    return plans[best]


def _known_cycles(plan: Plan, least: int) -> int:
    """Those of the clock; what it takes at least where that is all that is known of it."""
    cycles = cycles_or_never(plan)
    return least if cycles == TOO_LONG and least else max(cycles, least)


def _has_control(plan: Plan) -> bool:
    roles = (role for phase in plan.phases for role in phase.roles)
    return any(op.advance is Advance.CONTROL for role in roles for op in role.ops)


def _colors(plan: Plan) -> int:
    return len(plan.colors)


def build_program_plan(
    schedules: tuple[Schedule, ...], program: Program, target: Target
) -> ProgramPlan:
    """The plan of a program, with what it leaves of the target. It may need more than that; a check
    refuses it then. Of streams it has the forms with most colors for which no color is torn down;
    if there are none, those for which only colors are that can be, unless it takes fewer cycles
    without streams."""
    target = left_by(program.reserved, target)
    most = _most_colors(program, target)
    candidates = [list(candidate_plans(schedule, target)) for schedule in schedules]
    torn_down: list[ProgramPlan] = []
    for width, alike in product(_widths(candidates), (True, False)):
        within = [[plan for plan in plans if _is_kept(plan, width)] for plans in candidates]
        chosen = _fastest_of_each(schedules, within, target, most, alike=alike)
        shared = share(chosen, program, target)
        if not width:
            break
        if _streams_fit(shared, most):
            if not any(color.torn_down for color in shared.colors):
                return shared
            torn_down.append(shared)
    if not torn_down:
        return shared
    return min(
        (torn_down[0], shared), key=lambda one: (not one.fits(most), program_cycles_or_never(one))
    )


def _most_colors(program: Program, target: Target) -> int:
    return len(target.colors) if program.colors is None else program.colors


def _widths(candidates: Sequence[Sequence[Plan]]) -> tuple[int, ...]:
    """How many colors a phase has in plans that stream, the most first; and 0, for none of them."""
    found = {widest(plan) for plans in candidates for plan in plans if _streams(plan)}
    return (*sorted(found, reverse=True), 0)


def _streams(plan: Plan) -> bool:
    """Whether some phase is a stream: slices on lanes that go through no steps. Those of a root of
    the call have their routers set anew, as step tables do."""
    streamed = any(not phase.whole and not phase.has_loops for phase in plan.phases)
    return streamed and not plan.collective.root_of_call


def _is_kept(plan: Plan, width: int) -> bool:
    """Whether a plan has no stream, or streams on so many colors."""
    return not _streams(plan) or widest(plan) <= width


def _fastest_of_each(
    schedules: Sequence[Schedule],
    candidates: Sequence[Sequence[Plan]],
    target: Target,
    most: int,
    *,
    alike: bool,
) -> tuple[Plan, ...]:
    """A plan for each collective. Filters are dealt out in the order of the collectives, since all
    have theirs at the same time; if `alike`, a collective that does as an earlier one has its."""
    left = target.filters
    plans: list[Plan] = []
    for schedule, offered in zip(schedules, candidates, strict=True):
        same = (plan for plan in offered if any(_is_alike(plan, one) for one in plans))
        found = next(same, None) if alike else None
        if found is None:
            found = _fastest(schedule, offered, most, left)
            left -= resources.most_filters(found.phases)
        plans.append(found)
    return tuple(plans)


def _is_alike(one: Plan, other: Plan) -> bool:
    """Whether two plans do the same on the same PEs, whatever their buffers are called."""
    first, second = one.collective, other.collective
    where = (first.grid.site, first.path) == (second.grid.site, second.path)
    return (
        where and first.contract.element == second.contract.element and one.phases == other.phases
    )


def _streams_fit(plan: ProgramPlan, most: int) -> bool:
    """Whether streams, where there are any, are torn down only if they can be, all colors have
    queues, and there are registers for all."""
    if not any(map(_streams, plan.plans)):
        return True
    torn_down = (plan.phase(use) for use in plan.uses if torn_down_by(plan, use))
    fits = plan.fits(most) and filters_of_program(plan) <= plan.target.filters
    return fits and all(map(can_be_torn_down, torn_down)) and not unprinted(plan)


def build_call_streams(
    schedules: tuple[Schedule, ...], program: Program, target: Target
) -> ProgramPlan:
    """The plan of a program some of whose calls are in flight at the same time: where all of these
    are on PEs apart, that of their calls one after the other; else one without streams of slices,
    whose phases have as many colors as all have room for. Where nothing fits, it asks for more than
    there is, and a check refuses it."""
    left = left_by(program.reserved, target)
    most = _most_colors(program, left)
    offered = [list(candidate_plans(schedule, left, streams=False)) for schedule in schedules]
    chosen = tuple(_fastest(*of, most, left.filters) for of in zip(schedules, offered, strict=True))
    parted = in_parts(program, chosen)
    if not parted.together:
        shared = build_program_plan(schedules, parted, target)
        if not in_parts(program, shared.plans).together:
            return shared
    plan = planned_call_streams(chosen, program, left)
    widths = {widest(one) for plans in offered for one in plans}
    for width in sorted((one for one in widths if one < max(map(widest, chosen))), reverse=True):
        if fit_together(plan) and not unprinted(plan):
            break
        chosen = tuple(
            _fastest(*of, min(width, most), left.filters)
            for of in zip(schedules, offered, strict=True)
        )
        plan = planned_call_streams(chosen, program, left)
    return plan


def fastest(schedule: Schedule, target: Target, most: int, *, streams: bool = True) -> Plan:
    """Of the plans whose phases keep the limit of colors, each by itself, the one that takes the
    fewest cycles; if none keeps it, the one with the fewest colors."""
    plans = list(candidate_plans(schedule, target, streams=streams))
    return _fastest(schedule, plans, most, target.filters)


def _fastest(schedule: Schedule, plans: Sequence[Plan], most: int, filters: int) -> Plan:
    """The same of given plans, of which those count that have enough filters."""
    kept = [plan for plan in plans if resources.most_filters(plan.phases) <= filters]
    possible = [plan for plan in kept if widest(plan) <= most]
    if not possible:
        return min(kept, key=widest)
    if len(possible) == 1:
        return possible[0]
    return _least(schedule, possible, widest)
