"""What helps a program that asks for more colors and queues than there are, found by trying."""

from __future__ import annotations

from dataclasses import replace

from collc.base.diagnostics import Diagnostic
from collc.checks.program import SHORTAGES, check_program
from collc.cost.choice import build_program_plan
from collc.plan.program import ProgramPlan


def with_remedies(problems: tuple[Diagnostic, ...], plan: ProgramPlan) -> tuple[Diagnostic, ...]:
    """The problems of a plan; where a limit of colors helps against what runs short, the help says
    which."""
    if plan.strands or not any(problem.code in SHORTAGES for problem in problems):
        return problems
    limit = _helping_limit(plan)
    if limit is None:
        return problems
    help = f"allow fewer colors, so that phases take turns: `within colors <= {limit}`"
    return tuple(
        replace(problem, help=help) if problem.code in SHORTAGES else problem
        for problem in problems
    )


def _helping_limit(plan: ProgramPlan) -> int | None:
    """The largest limit of colors, fewer than there are now, with which nothing is wrong."""
    for limit in range(len(plan.colors) - 1, 0, -1):
        program = replace(plan.program, colors=limit, colors_span=plan.program.span)
        tried = build_program_plan(plan.schedules, program, plan.target)
        if not check_program(tried):
            return limit
    return None
