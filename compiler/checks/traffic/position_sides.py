"""A switch position changes what the target lets it change.

The sender's own router can be moved by the sending operation only if the receiving side changes;
on some targets no position may change both sides.
"""

from collections.abc import Iterator
from itertools import pairwise

from collc.base.diagnostics import Diagnostic
from collc.plan import Advance, ColorUse, Phase, Plan, Role, Route
from collc.schedule import Phase as SchedulePhase

REMEDY = "let one side change at a time, with a position between"


def position_sides(plan: Plan) -> Iterator[Diagnostic]:
    """C311: a change of both sides, of none, to several directions, or one that its sender cannot
    make."""
    for phase in plan.phases:
        pattern = phase.pattern
        for role in phase.roles:
            for use in role.colors:
                for before, after in pairwise(use.positions):
                    problem = _problem(plan, role, use, before, after)
                    if problem:
                        yield _diagnostic(phase, pattern, role, use, problem)


def _problem(plan: Plan, role: Role, use: ColorUse, before: Route, after: Route) -> str:
    """What is wrong with a change, or nothing."""
    receives, sends = before.receive != after.receive, before.send != after.send
    if receives and sends and not plan.target.switch_both_sides:
        return f"changes both sides at once, {plan.target.name} changes one"
    if not receives and not sends:
        return "changes nothing"
    if sends and len(after.send) != 1:
        return "sends in several directions, a position has one"
    own = any(op.sends_on == use.color and op.advance is Advance.OWN_ROUTER for op in role.ops)
    if own and sends:
        return "changes the sending side, which a sending operation cannot do to its own router"
    return ""


def _diagnostic(
    phase: Phase,
    pattern: SchedulePhase,
    role: Role,
    use: ColorUse,
    problem: str,
) -> Diagnostic:
    where = f"a switch position of color `{use.color}` at role `{role.name}` of `{phase.name}`"
    return Diagnostic("C311", f"{where} {problem}", pattern.span, help=REMEDY)
