"""A collective whose phases cannot all have colors of their own within its limit: as a program of
one call, whose phases take turns (D90)."""

from __future__ import annotations

from collections.abc import Iterator
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


def fastest_in_turns(schedule: Schedule, target: Target, colors: int) -> InTurns | None:
    """Of the plans that take turns on so many colors or fewer the one with the fewest predicted
    cycles, so that more colors never take more; None if there is none."""
    if any(unusable_in_program([schedule.collective])):
        return None
    tokens = with_tokens(schedule)
    found = (plan for n in range(1, colors + 1) for plan in _within(tokens, target, n))
    predicted = (InTurns(plan, predict_program(plan).cycles) for plan in found)
    return min(predicted, key=lambda one: one.cycles, default=None)


def _within(schedule: Schedule, target: Target, colors: int) -> Iterator[ProgramPlan]:
    """The plan within a limit of colors, if nothing is wrong with it."""
    one = schedule.collective
    free = replace(one, limits=replace(one.limits, colors=None, colors_span=None))
    program = replace(program_of_one(one), colors=colors)
    plan = build_program_plan((replace(schedule, collective=free),), program, target)
    if not check_program(plan):
        yield plan


def with_exact_remedy(error: CollcError, schedule: Schedule, target: Target) -> CollcError:
    """The same problems; where more colors for phases that take turns help, how many do."""
    return CollcError([_helped(problem, schedule, target) for problem in error.diagnostics])


def _helped(problem: Diagnostic, schedule: Schedule, target: Target) -> Diagnostic:
    limits, tokens = schedule.collective.limits, with_tokens(schedule)
    if problem.code != "C302" or limits.colors is None:
        return problem
    each_its_own = len(build_plan(tokens, left_by(limits.reserved, target)).colors)
    for colors in range(limits.colors + 1, each_its_own):
        if any(_within(tokens, target, colors)):
            help = f"allow {colors} colors, on which phases take turns; or {problem.help}"
            return replace(problem, help=help)
    return problem
