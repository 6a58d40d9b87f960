"""A collective whose phases cannot all have colors of their own within its limit: as a program of
one call, whose phases take turns (D90)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from collc.checks.program import check_program
from collc.cost.program import predict_program
from collc.diagnostics import CollcError, Diagnostic
from collc.emit.reserved import unusable_in_program
from collc.lowering import build_plan
from collc.lowering.resources import left_by
from collc.lowering.sharing import build_program_plan
from collc.program import ProgramPlan
from collc.schedule import Schedule
from collc.spec import Collective, Program, Reconfigure
from collc.target import Target
from collc.tokens import with_tokens


class InTurns(NamedTuple):
    """A plan whose phases take turns, and its predicted cycles."""

    plan: ProgramPlan
    cycles: int


def program_of_one(collective: Collective) -> Program:
    """The program that calls one collective once, within the limits of that."""
    limits, way = collective.limits, Reconfigure.AUTO
    most = (limits.colors, limits.colors_span)
    return Program((collective.name,), 1, *most, way, collective.span, limits.reserved)


def unlimited(collective: Collective) -> Collective:
    """The collective without a limit of colors, which is that of its program."""
    return replace(collective, limits=replace(collective.limits, colors=None, colors_span=None))


def fastest_in_turns(schedule: Schedule, target: Target, colors: int) -> InTurns | None:
    """Of the plans that take turns on so many colors or fewer the one with the fewest predicted
    cycles; None if there is none."""
    found = (in_turns(schedule, target, most) for most in range(1, colors + 1))
    return min((one for one in found if one), key=lambda one: one.cycles, default=None)


def in_turns(schedule: Schedule, target: Target, colors: int) -> InTurns | None:
    """The plan of a program within a limit of colors; None if something is wrong with it."""
    plan = _plan(schedule, target, colors)
    return None if plan is None else InTurns(plan, predict_program(plan).cycles)


def _plan(schedule: Schedule, target: Target, colors: int) -> ProgramPlan | None:
    called = with_tokens(schedule)
    program = replace(program_of_one(called.collective), colors=colors)
    plan = build_program_plan(
        (replace(called, collective=unlimited(called.collective)),), program, target
    )
    wrong = any(unusable_in_program([schedule.collective])) or check_program(plan)
    return None if wrong else plan


def with_exact_remedy(error: CollcError, schedule: Schedule, target: Target) -> CollcError:
    """The same problems; where more colors for phases that take turns help, how many do."""
    return CollcError([_helped(problem, schedule, target) for problem in error.diagnostics])


def _helped(problem: Diagnostic, schedule: Schedule, target: Target) -> Diagnostic:
    limits = schedule.collective.limits
    if problem.code != "C302" or limits.colors is None:
        return problem
    plan = build_plan(with_tokens(schedule), left_by(limits.reserved, target))
    for colors in range(limits.colors + 1, len(plan.colors)):
        if _plan(schedule, target, colors) is not None:
            help = f"allow {colors} colors, on which phases take turns; or {problem.help}"
            return replace(problem, help=help)
    return problem
