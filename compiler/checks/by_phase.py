"""Phases of a plan beside the phases of the schedule that they carry out, by kind."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from collc.base.diagnostics import Diagnostic
from collc.plan import Phase, Plan
from collc.schedule import BroadcastPhase, ReducePhase
from collc.spec.exchange import StepsPhase

K = TypeVar("K", ReducePhase, BroadcastPhase, StepsPhase)


def phases_of(kind: type[K], plan: Plan) -> Iterator[tuple[Phase, K]]:
    """The phases of a kind, each with that of the schedule."""
    for phase in plan.phases:
        pattern = phase.pattern
        if isinstance(pattern, kind):
            yield phase, pattern


def problems(
    code: str, help: str, phases: Iterator[tuple[Phase, K]], problem: Callable[[Phase, K], str]
) -> Iterator[Diagnostic]:
    """A diagnostic for each phase with a problem, which is a defect of the compiler."""
    for phase, pattern in phases:
        found = problem(phase, pattern)
        if found:
            yield in_phase(code, phase, found, f"{help}; please report this")


def in_phase(code: str, phase: Phase, problem: str, help: str) -> Diagnostic:
    """What is wrong in a phase."""
    return Diagnostic(code, f"in `{phase.name}` {problem}", phase.pattern.span, help=help)
