"""The phases of a plan by their form, and what is told of a problem in one."""

from collections.abc import Callable, Iterable, Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Phase, Plan
from collc.plan.form import Form, form_of
from collc.schedule import BroadcastPhase, ReducePhase
from collc.schedule.barrier_tokens import schedule_of
from collc.spec.exchange import StepsPhase

CUT = (Form.STEPS, Form.STREAM)


def phases_of(plan: Plan, *forms: Form) -> Iterator[Phase]:
    """The phases of these forms."""
    return (phase for phase in plan.phases if form_of(phase) in forms)


def due(plan: Plan, phase: Phase) -> ReducePhase | BroadcastPhase | StepsPhase:
    """What a phase is to do, as the steps of the collective say, whatever is planned for it."""
    at = next(n for n, one in enumerate(plan.phases) if one is phase)
    return schedule_of(plan.collective).phases[at]


def due_tree(plan: Plan, phase: Phase) -> ReducePhase:
    """The same of a tree."""
    found = due(plan, phase)
    assert isinstance(found, ReducePhase), "vectors that are not cut, to one PE"
    return found


def due_steps(plan: Plan, phase: Phase) -> StepsPhase:
    """The same of slices."""
    found = due(plan, phase)
    assert isinstance(found, StepsPhase), "slices go by steps"
    return found


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
