"""A collective whose phases share colors over time, since its limit is too few for each to have its
own: its plan, as of a program that calls it once, and which of several takes the fewest cycles."""

from dataclasses import replace
from typing import NamedTuple

from collc.checks.program import check_program
from collc.cost import predict_program
from collc.cost.choice import build_program_plan
from collc.emit.reserved import unusable_in_program
from collc.lowering import candidate_plans
from collc.lowering.sharing import widest
from collc.machine.prediction import Prediction
from collc.plan.plan import ProgramPlan
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


def colors_at_once(schedule: Schedule, target: Target) -> int:
    """The most colors that a phase has, in the plan in which they are the fewest."""
    return min(widest(plan) for plan in candidate_plans(with_tokens(schedule), target))


def fastest_time_multiplexed(
    schedule: Schedule, target: Target, colors: int
) -> TimeMultiplexed | None:
    """Of the plans that share so many colors or fewer the one with the fewest predicted
    cycles; None if there is none."""
    counts = range(max(1, colors_at_once(schedule, target)), colors + 1)
    found = (time_multiplexed(schedule, target, most) for most in counts)
    return min((one for one in found if one), key=lambda one: one.prediction.cycles, default=None)


def time_multiplexed(schedule: Schedule, target: Target, colors: int) -> TimeMultiplexed | None:
    """The plan of a program within a limit of colors; None if something is wrong with it."""
    plan = plan_within(schedule, target, colors)
    return None if plan is None else TimeMultiplexed(plan, predict_program(plan))


def plan_within(schedule: Schedule, target: Target, colors: int) -> ProgramPlan | None:
    """The same without a prediction."""
    called = with_tokens(schedule)
    program = replace(program_of_one(called.collective), colors=colors)
    called = replace(called, collective=without_limits(called.collective))
    plan = build_program_plan((called,), program, target)
    wrong = any(unusable_in_program([schedule.collective])) or check_program(plan, (called,))
    return None if wrong else plan
