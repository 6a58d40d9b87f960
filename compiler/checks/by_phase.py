"""The phases of a plan by their form, and what is told of a problem in one."""

from collections.abc import Callable, Iterable, Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Phase, Plan
from collc.plan.form import Form, form_of

CUT = (Form.STEPS, Form.STREAM)


def phases_of(plan: Plan, *forms: Form) -> Iterator[Phase]:
    """The phases of these forms."""
    return (phase for phase in plan.phases if form_of(phase) in forms)


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
