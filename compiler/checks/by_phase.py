"""What is told of a problem in a phase."""

from collections.abc import Callable, Iterable, Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Phase


def problems(
    code: str, help: str, phases: Iterable[Phase], problem: Callable[[Phase], str]
) -> Iterator[Diagnostic]:
    """A diagnostic for each phase with a problem, which is a defect of the compiler."""
    for phase in phases:
        found = problem(phase)
        if found:
            yield in_phase(code, phase, found, f"{help}; please report this")


def in_phase(code: str, phase: Phase, problem: str, help: str) -> Diagnostic:
    """What is wrong in a phase."""
    return Diagnostic(code, f"in `{phase.name}` {problem}", phase.span, help=help)
