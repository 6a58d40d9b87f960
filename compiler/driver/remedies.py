"""What helps a program that asks for more colors and queues than there are, or has some torn down
that cannot be, found by trying."""

from dataclasses import replace

from collc.base.diagnostics import Diagnostic
from collc.checks.program import SHORTAGES, check_program
from collc.cost.choice import build_program_plan
from collc.lowering.sharing import apart
from collc.plan.program import ProgramPlan
from collc.spec import Reconfigure

TORN_DOWN = "C338"  # a detour on a color that is torn down


def with_remedies(problems: tuple[Diagnostic, ...], plan: ProgramPlan) -> tuple[Diagnostic, ...]:
    """The problems of a plan; where a limit of colors helps against what runs short, or another one
    leaves each phase its own, the help says which."""
    codes = {problem.code for problem in problems}
    if TORN_DOWN in codes:
        first = _own_colors(plan)
        return tuple(
            replace(one, help=f"{first}, or {one.help}") if one.code == TORN_DOWN else one
            for one in problems
        )
    limit = _helping_limit(plan) if codes & SHORTAGES and not plan.call_streams else None
    if limit is None:
        return problems
    help = f"allow fewer colors, so that phases share colors over time: `within colors <= {limit}`"
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
