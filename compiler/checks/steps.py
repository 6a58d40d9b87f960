"""Each role does what the text of one phase can say.

A PE of a reduce stores vectors, then sends its own, each at most once and all from one color, since
it has one input queue a phase. A PE of a broadcast sends its vector or copies the one that comes.
"""

from __future__ import annotations

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic, Span
from collc.plan import Advance, CopyVector, Phase, Plan, Role, SendVector, Step, StoreVectors
from collc.schedule import ReducePhase, Schedule
from collc.spec.exchange import StepsPhase


def steps(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C318: steps that no text of a phase does one after the other, or rounds of unequal size."""
    for phase, pattern in zip(plan.phases, schedule.phases, strict=True):
        if isinstance(pattern, StepsPhase):
            continue  # `row_shapes` looks at these
        reduces = isinstance(pattern, ReducePhase)
        for role in phase.roles:
            problem = _reduce_problem(role) if reduces else _broadcast_problem(role)
            if problem:
                yield _diagnostic(phase, role, problem, pattern.span)


def _reduce_problem(role: Role) -> str:
    """What is wrong with a role of a reduce, or nothing."""
    kinds = tuple(type(step) for step in role.steps)
    if kinds not in ((StoreVectors,), (SendVector,), (StoreVectors, SendVector)):
        return "does something else than to store vectors and then to send one"
    received = {color for step in role.steps if (color := _received_on(step)) is not None}
    if len(received) > 1:
        return f"receives on {len(received)} colors, a phase has one input queue"
    for step in role.steps:
        if isinstance(step, StoreVectors) and not _comes_out_even(step):
            return f"stores {step.vectors} vectors in {step.rounds} rounds, which are not alike"
    return ""


def _received_on(step: Step) -> str | None:
    return step.combines_from if isinstance(step, SendVector) else step.color


def _comes_out_even(step: StoreVectors) -> bool:
    return 1 <= step.rounds <= step.vectors and step.vectors % step.rounds == 0


def _broadcast_problem(role: Role) -> str:
    """What is wrong with a role of a broadcast, or nothing."""
    colors = [use.color for use in role.colors]
    if len(colors) != 1 or len(role.colors[0].positions) != 1:
        return "does not have one color with one route"
    if role.steps not in (
        (SendVector(colors[0], None, Advance.NOTHING),),
        (SendVector(colors[0], None, Advance.TEARDOWN),),
        (CopyVector(colors[0]),),
    ):
        return f"does something else than to send its vector on `{colors[0]}` or to copy one"
    return ""


def _diagnostic(phase: Phase, role: Role, problem: str, at: Span) -> Diagnostic:
    message = f"role `{role.name}` of `{phase.name}` {problem}"
    return Diagnostic("C318", message, at, help="no program text does this; please report it")
