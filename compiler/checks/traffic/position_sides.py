"""A switch position changes what the target lets it change.

The sender's own router can be moved by the sending operation only if the receiving side changes,
and not if a call-back combines what is sent: no source says when it would move then (M3.9-15). On
some targets no position may change both sides.
"""

from collections.abc import Iterator
from itertools import pairwise

from collc.base.diagnostics import Diagnostic
from collc.plan import OF_OWN_ROUTER, Action, ColorUse, Phase, Plan, Role, Route
from collc.spec.simd import by_call_back

REMEDY = "let one side change at a time, with a position between"


def position_sides(plan: Plan) -> Iterator[Diagnostic]:
    """C311: a change of both sides, of none, to several directions, or one that its sender cannot
    make."""
    for phase in plan.phases:
        for role in phase.roles:
            for use in role.colors:
                for problem in _problems(plan, role, use):
                    yield _diagnostic(phase, role, use, problem)


def _problems(plan: Plan, role: Role, use: ColorUse) -> Iterator[str]:
    """What is wrong with the changes of a router, and with what makes them."""
    own = [op for op in role.ops if op.sends_on == use.color and op.advance in OF_OWN_ROUTER]
    if by_call_back(plan.collective.contract) and any(op.action is Action.COMBINE for op in own):
        yield "is taken behind a call-back, which sends an element at a time"
    changes = (
        _problem(plan, before, after, own=bool(own)) for before, after in pairwise(use.positions)
    )
    yield from filter(None, changes)


def _problem(plan: Plan, before: Route, after: Route, *, own: bool) -> str:
    """What is wrong with a change, if anything; `own`: an operation of the PE makes it."""
    receives, sends = before.receive != after.receive, before.send != after.send
    if receives and sends and not plan.target.switch_both_sides:
        return f"changes both sides at once, {plan.target.name} changes one"
    if not receives and not sends:
        return "changes nothing"
    if sends and len(after.send) != 1:
        return "sends in several directions, a position has one"
    if own and sends:
        return "changes the sending side, which a sending operation cannot do to its own router"
    return ""


def _diagnostic(phase: Phase, role: Role, use: ColorUse, problem: str) -> Diagnostic:
    where = f"a switch position of color `{use.color}` at role `{role.name}` of `{phase.name}`"
    return Diagnostic("C311", f"{where} {problem}", phase.span, help=REMEDY)
