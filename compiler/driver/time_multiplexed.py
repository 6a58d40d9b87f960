"""A collective whose phases cannot all have colors of their own within its limit: as a program of
one call, whose phases share colors over time (D90)."""

from dataclasses import replace
from typing import NamedTuple

from collc.base.diagnostics import Diagnostic
from collc.checks.program import check_program
from collc.cost import Prediction
from collc.cost.choice import build_plan, build_program_plan
from collc.cost.program import predict_program
from collc.emit.reserved import unusable_in_program
from collc.lowering.resources import left_by
from collc.plan.program import ProgramPlan
from collc.schedule import Schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Collective
from collc.spec.program import program_of_one
from collc.target import Target


class TimeMultiplexed(NamedTuple):
    """A plan whose phases share colors over time, and its prediction."""

    plan: ProgramPlan
    prediction: Prediction


def without_limits(collective: Collective) -> Collective:
    """The collective as its program calls it, which keeps the limit of colors, and does as a whole
    what is expected."""
    limits = replace(collective.limits, colors=None, colors_span=None)
    return replace(collective, limits=limits, expectations=())


def fastest_time_multiplexed(
    schedule: Schedule, target: Target, colors: int
) -> TimeMultiplexed | None:
    """Of the plans that share so many colors or fewer the one with the fewest predicted
    cycles; None if there is none."""
    found = (time_multiplexed(schedule, target, most) for most in range(1, colors + 1))
    return min((one for one in found if one), key=lambda one: one.prediction.cycles, default=None)


def time_multiplexed(schedule: Schedule, target: Target, colors: int) -> TimeMultiplexed | None:
    """The plan of a program within a limit of colors; None if something is wrong with it."""
    plan = _plan(schedule, target, colors)
    return None if plan is None else TimeMultiplexed(plan, predict_program(plan))


def _plan(schedule: Schedule, target: Target, colors: int) -> ProgramPlan | None:
    called = with_tokens(schedule)
    program = replace(program_of_one(called.collective), colors=colors)
    called = replace(called, collective=without_limits(called.collective))
    plan = build_program_plan((called,), program, target)
    wrong = any(unusable_in_program([schedule.collective])) or check_program(plan)
    return None if wrong else plan


def with_exact_remedy(
    problem: Diagnostic, schedule: Schedule, target: Target, colors: int
) -> Diagnostic:
    """C302, as it is for a limit of so many colors; where more of them for phases that share colors
    over time help, how many do."""
    plan = build_plan(with_tokens(schedule), left_by(schedule.collective.limits.reserved, target))
    for more in range(colors + 1, len(plan.colors)):
        if _plan(schedule, target, more) is not None:
            help = f"allow {more} colors, on which phases share colors over time; or {problem.help}"
            return replace(problem, help=help)
    return problem
