"""From a Spec to the plan of its program, which keeps all limits, and its prediction."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.progress import under_way
from collc.checks.budgets.colors import allowed
from collc.checks.program import SHORTAGES, check_program
from collc.cost import predict_by_itself, predict_program, unmet_expectations
from collc.cost.choice import build_call_streams, build_plan, build_program_plan
from collc.cost.predict import unprinted
from collc.driver.proving import proved, proved_together, refuse_if_any
from collc.emit.reserved import unusable_names
from collc.lowering.resources import left_by
from collc.lowering.root_of_call import (
    done_at,
    planned_for,
    seen_from_the_root,
    side_of,
)
from collc.lowering.sharing import apart
from collc.machine.prediction import Prediction
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.plan.placement import parity_of
from collc.plan.plan import ProgramPlan
from collc.proof import prove
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import ContractKind, Program, Reconfigure, RootChoice, Spec
from collc.spec.program import program_of_one
from collc.target import TARGETS, Target
from collc.tuning import chosen
from collc.tuning.predicted import TOO_WIDE
from collc.tuning.time_multiplexed import fastest_time_multiplexed, plan_within, without_limits


class Planned(NamedTuple):
    """A program, what was left open decided; its plan; what the collectives of the plan carry out,
    in its order; and its prediction."""

    spec: Spec
    plan: ProgramPlan
    schedules: tuple[Schedule, ...]
    prediction: Prediction


def planned_spec(spec: Spec) -> Planned:
    """Plan what a Spec says, or raise CollcError with every problem found.

    A collective that is called once is alone, with colors of its own for each phase, unless it is
    on a part of a grid, or its limit of colors needs phases that share some.
    """
    program, machine = spec.program, TARGETS[spec.target]
    if program is None and spec.collectives[0].grid.site is not None:
        program = program_of_one(spec.collectives[0])
    if program is None:
        return _alone_or_time_multiplexed(spec, machine)
    schedules = proved_together(spec, program)
    plan = planned_program(schedules, program, machine)
    refuse_if_any(_unmet(plan))
    return Planned(spec, plan, schedules, predict_program(plan))


def _unmet(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """Expectations of single collectives of a program."""
    for one in plan.plans:
        expected = one.collective.expectations
        if expected:
            yield from unmet_expectations(expected, one, predict_by_itself(one))


def _alone_or_time_multiplexed(spec: Spec, machine: Target) -> Planned:
    """One collective: with colors of its own for each phase if that keeps its limit."""
    given = spec.collectives[0]
    one, plan = given, None
    if given.undecided is None:
        schedule = proved(given, machine)
    else:
        one, schedule, plan = chosen(given, machine)
    refuse_if_any(unusable_names(one))
    try:
        return _planned_alone(replace(spec, collectives=(one,)), schedule, machine, plan)
    except CollcError as refused:
        return _time_multiplexed(spec, schedule, machine, refused)


def _planned_alone(
    spec: Spec, schedule: Schedule, machine: Target, plan: Plan | None = None
) -> Planned:
    """Plan the one collective of a Spec, whose schedule is proved, with colors of its own for each
    phase, if it has no plan yet; raises CollcError."""
    whole, prediction = planned(schedule, machine, plan)
    expected = schedule.collective.expectations
    refuse_if_any(unmet_expectations(expected, whole.plans[0], prediction))
    return Planned(spec, whole, (with_tokens(schedule),), prediction)


@under_way("planning")
def planned(
    schedule: Schedule, target: Target, plan: Plan | None = None
) -> tuple[ProgramPlan, Prediction]:
    """A plan of one collective that keeps all limits, or the one that it has, and its prediction;
    raises CollcError if there is none."""
    schedule = with_tokens(schedule)
    left = left_by(schedule.collective.limits.reserved, target)
    plan = plan or build_plan(schedule, left)
    whole = of_one_call(plan)
    refuse_if_any(problems_of(whole, (schedule,)))
    return whole, predict_program(whole)


@under_way("planning")
def _time_multiplexed(
    spec: Spec, schedule: Schedule, machine: Target, refused: CollcError
) -> Planned:
    """A collective that keeps its limit of colors only if phases share colors over time; raises
    CollcError, as it is `refused`, if it does not even then."""
    one, problems = schedule.collective, refused.diagnostics
    colors = one.limits.colors
    if colors is None or all(problem.code != TOO_WIDE for problem in problems):
        raise refused
    found = fastest_time_multiplexed(schedule, machine, colors)
    if found is None:
        raise CollcError(
            _with_exact_remedy(problem, schedule, machine, colors)
            if problem.code == TOO_WIDE
            else problem
            for problem in problems
        )
    # what is expected is expected of the whole, not of a call that has its colors to itself
    refuse_if_any(unmet_expectations(one.expectations, *found))
    called = replace(with_tokens(schedule), collective=found.plan.plans[0].collective)
    spec = replace(spec, collectives=(without_limits(one),))
    return Planned(spec, found.plan, (called,), found.prediction)


@under_way("planning")
def planned_program(
    schedules: tuple[Schedule, ...], program: Program, target: Target
) -> ProgramPlan:
    """A plan that keeps all limits; raises CollcError if there is none."""
    plan = _built(schedules, program, target)
    refuse_if_any(with_remedies(problems_of(plan, schedules), plan, schedules))
    refuse_if_any(roots_of_call(plan))
    return plan


def problems_of(plan: ProgramPlan, schedules: tuple[Schedule, ...]) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a plan; where nothing is, what its library lacks."""
    return check_program(plan, schedules) or unprinted(plan)


def _built(schedules: tuple[Schedule, ...], program: Program, target: Target) -> ProgramPlan:
    build = build_call_streams if program.together else build_program_plan
    if program.has_lengths:  # registers are shared by phases whose elements go one by one (D39)
        target = replace(target, pairs=False)
    return build(schedules, program, target)


def architectures(plan: ProgramPlan, schedules: tuple[Schedule, ...]) -> tuple[str, ...]:
    """The targets that the files of a plan serve."""
    return tuple(
        target.name
        for target in TARGETS.values()
        if target.name == plan.target.name or _fits(plan, schedules, target)
    )


def _fits(made: ProgramPlan, schedules: tuple[Schedule, ...], target: Target) -> bool:
    """Whether a plan keeps the limits of another target as well."""
    return not problems_of(_on(left_by(made.program.reserved, target), made), schedules)


def _on(target: Target, made: ProgramPlan) -> ProgramPlan:
    """The same plan on another target."""
    plans = tuple(replace(one, target=target) for one in made.plans)
    streams = tuple(_on(target, stream) for stream in made.call_streams)
    return replace(made, target=target, plans=plans, call_streams=streams)


_TORN_DOWN = "C338"  # a detour on a color that is torn down


def with_remedies(
    problems: tuple[Diagnostic, ...], plan: ProgramPlan, schedules: tuple[Schedule, ...]
) -> tuple[Diagnostic, ...]:
    """The problems of a plan; where a limit of colors helps against what runs short, or another one
    leaves each phase its own, the help says which."""
    codes = {problem.code for problem in problems}
    if _TORN_DOWN in codes:
        first = _own_colors(plan)
        return tuple(
            replace(one, help=f"{first}, or {one.help}") if one.code == _TORN_DOWN else one
            for one in problems
        )
    short = codes & SHORTAGES and not plan.call_streams
    limit = _helping_limit(plan, schedules) if short else None
    if limit is None:
        return problems
    help = f"allow fewer colors, so that phases share colors over time: `within colors <= {limit}`"
    return tuple(
        replace(problem, help=help) if problem.code in SHORTAGES else problem
        for problem in problems
    )


def _helping_limit(plan: ProgramPlan, schedules: tuple[Schedule, ...]) -> int | None:
    """The largest limit of colors, fewer than there are now, with which nothing is wrong."""
    for limit in range(len(plan.colors) - 1, 0, -1):
        program = replace(plan.program, colors=limit, colors_span=plan.program.span)
        tried = build_program_plan(schedules, program, plan.target)
        if not problems_of(tried, schedules):
            return limit
    return None


def _own_colors(plan: ProgramPlan) -> str:
    """What gives each phase colors that need not be torn down."""
    program = plan.program
    ways = (apart(plan.plans, program, plan.target, alike) for alike in (False, True))
    enough = min((len(way.colors) for way in ways if way.fits(len(way.colors))), default=None)
    words = []
    if program.reconfigure is Reconfigure.TEARDOWN:
        words.append("leave `reconfigure teardown` out")
    if enough is None:
        words.append("call fewer collectives in this program")
    elif program.colors is not None and program.colors < enough:
        words.append(f"allow {enough} colors")
    return " and ".join(words or ["call fewer collectives in this program"])


def _with_exact_remedy(
    problem: Diagnostic, schedule: Schedule, target: Target, colors: int
) -> Diagnostic:
    """C302, as it is for a limit of so many colors; where more of them for phases that share colors
    over time help, how many do."""
    plan = build_plan(with_tokens(schedule), left_by(schedule.collective.limits.reserved, target))
    for more in range(colors + 1, len(plan.colors)):
        if plan_within(schedule, target, more) is not None:
            help = f"allow {more} colors, on which phases share colors over time; or {problem.help}"
            fix = allowed(more, schedule.collective.limits.colors_span)
            return replace(problem, help=help, fix=fix)
    return problem


# A root that is given when the program runs: what PEs choose is the plan for that root.
#
# For every root the collective with that root is proved and planned by itself, and each PE's part
# in it compared with what the PE chooses by its own rank.

REPORT = "a PE would take the wrong part; please report this"
CHAIN = "write `reduce chain to {root} < {ranks}`: in a chain a PE does the same for every root"
SIDES = "run one algorithm for the ranks behind the root, then one for those before it"


def roots_of_call(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """What is wrong with the contract for some root; C345: a PE that chooses another part than it
    has for a root; C346: steps in which that depends on the root."""
    of_name = {one.collective.name: one for one in seen_from_the_root(plan).plans}
    for choice in plan.program.rooted:
        chosen = [of_name[name] for name in choice.names]
        if _colors_differ(plan, choice):
            message = f"for some root a PE of `{choice.name}` sends on a color "
            message += "that its neighbours do not receive"
            yield Diagnostic("C345", message, choice.span, help=REPORT)
            return
        if _turned(chosen):
            yield _refused(choice, f"PEs of `{choice.name}` pass slices both ways")
            return
        for root in range(choice.ranks):
            wrong = list(prove(build_schedule(choice.by_root[root])))
            yield from wrong[:1]
            found = None if wrong else _other_part(plan, choice, chosen, root)
            if found is not None:
                yield _refused(
                    choice,
                    f"rank {found} of `{choice.name}` does not choose its part for root {root}",
                )
            if wrong or found is not None:
                return


def _refused(choice: RootChoice, message: str) -> Diagnostic:
    """A multicast is the compiler's own to choose, other steps are the user's."""
    kind = choice.by_root[0].contract.kind
    if kind is ContractKind.BROADCAST:
        return Diagnostic("C345", message, choice.span, help=REPORT)
    help = CHAIN.format(root=choice.root, ranks=choice.ranks)
    message += ": what it does may depend only on the side on which the root is"
    return Diagnostic(
        "C346", message, choice.span, help=help if kind is ContractKind.REDUCE else SIDES
    )


def _colors_differ(plan: ProgramPlan, choice: RootChoice) -> bool:
    """Whether what phases of all roots have alike is not the same color of the program in all."""
    colors: dict[str, set[int]] = {}
    for use in plan.uses:
        if plan.plans[use.collective].collective.name in choice.names:
            for name, k in use.positions:
                colors.setdefault(parity_of(name), set()).add(k)
    return any(len(found) > 1 for found in colors.values())


def _turned(chosen: list[Plan]) -> bool:
    """Whether the slices of a side go from the last element to the first at the root alone, or at
    the others alone."""
    ways: dict[object, set[bool]] = {}
    for own in chosen:
        for phase in own.phases:
            if phase.has_loops:
                ways.setdefault(side_of(own, phase), set()).add(phase.backward)
    return any(len(found) > 1 for found in ways.values())


def _other_part(plan: ProgramPlan, choice: RootChoice, chosen: list[Plan], root: int) -> int | None:
    """The first rank that chooses another part than the plan for a root has."""
    own = planned_for(plan, choice, root=root)
    for rank, place in enumerate(choice.places):
        behind, at, before = chosen
        taken = at if rank == root else behind if rank > root else before
        if done_at(taken, choice.axis, place) != done_at(own, choice.axis, place):
            return rank
    return None
