"""The phases of a plan by what they carry out, and what is told of a problem in one."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from collc.base.diagnostics import Diagnostic
from collc.plan import Phase, PhaseOf, Plan, is_of
from collc.schedule import Phase as Pattern

K = TypeVar("K", bound=Pattern)


def phases_of(kind: type[K], plan: Plan) -> Iterator[PhaseOf[K]]:
    """The phases that carry out a pattern of a kind."""
    return (phase for phase in plan.phases if is_of(phase, kind))


def problems(
    code: str, help: str, phases: Iterable[PhaseOf[K]], problem: Callable[[PhaseOf[K]], str]
) -> Iterator[Diagnostic]:
    """A diagnostic for each phase with a problem, which is a defect of the compiler."""
    for phase in phases:
        found = problem(phase)
        if found:
            yield in_phase(code, phase, found, f"{help}; please report this")


def in_phase(code: str, phase: Phase, problem: str, help: str) -> Diagnostic:
    """What is wrong in a phase."""
    return Diagnostic(code, f"in `{phase.name}` {problem}", phase.pattern.span, help=help)
