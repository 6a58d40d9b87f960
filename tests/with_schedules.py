"""Plans made or changed by hand, with what they are to carry out: the schedules of the collectives
that they name. Functions of collc that take both, given a plan alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from collc import checks
from collc.base.diagnostics import Diagnostic
from collc.checks import CHECKS
from collc.checks import program as of_program
from collc.checks.follow import follow
from collc.emit import render as emission
from collc.machine.prediction import Prediction
from collc.plan import Plan
from collc.plan.plan import ProgramPlan
from collc.run import RunReport
from collc.run import program as runs
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Collective, Spec


def schedule_of(collective: Collective) -> Schedule:
    """What a collective that has been planned does."""
    return with_tokens(build_schedule(collective))


def schedules_of(plan: Plan | ProgramPlan) -> tuple[Schedule, ...]:
    """What the collectives of a plan carry out."""
    plans = (plan,) if isinstance(plan, Plan) else plan.plans
    return tuple(schedule_of(one.collective) for one in plans)


def check_plan(plan: Plan, names: Iterable[str] = CHECKS) -> tuple[Diagnostic, ...]:
    """`collc.checks.check_plan`."""
    return checks.check_plan(plan, schedule_of(plan.collective), names)


def check_program(plan: ProgramPlan) -> tuple[Diagnostic, ...]:
    """`collc.checks.program.check_program`."""
    return of_program.check_program(plan, schedules_of(plan))


def followed(plan: Plan | ProgramPlan) -> tuple[Diagnostic, ...]:
    """What the machine finds."""
    return tuple(follow(plan, schedules_of(plan)))


def check(name: str, plan: Plan) -> list[Diagnostic]:
    """What one check finds."""
    return list(check_plan(plan, [name]))


def render(
    spec: Spec, plan: ProgramPlan, prediction: Prediction, *how: Any, **more: Any
) -> dict[str, str]:
    """`collc.emit.render.render`."""
    return emission.render(spec, plan, schedules_of(plan), prediction, *how, **more)


def run_program(texts: Mapping[str, str], plan: ProgramPlan, arch: str, **how: Any) -> RunReport:
    """`collc.run.program.run_program`."""
    return runs.run_program(texts, plan, schedules_of(plan), arch, **how)
