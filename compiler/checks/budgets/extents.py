"""No DSD operation is longer than the machine counts."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.budgets.memory import shortened
from collc.checks.step_table_entries import shape_problem
from collc.plan import Phase, Plan, Role
from collc.plan.form import form_of
from collc.plan.unrolled import unrolled


def extents(plan: Plan) -> Iterator[Diagnostic]:
    """C309: an operation with more elements than the target's largest extent."""
    contract, available = plan.collective.contract, plan.target.max_extent
    words = contract.element.words
    what = "elements" if words == 1 else "words"
    for phase in plan.phases:
        if form_of(phase).is_cut:
            longest = _longest_row(plan, phase)
        else:
            longest = max(_longest(role, contract.length) for role in phase.roles)
        longest *= words
        if longest > available:
            yield Diagnostic(
                "C309",
                f"an operation of `{phase.name}` has {longest} {what}, {plan.target.name} "
                f"counts to {available}",
                contract.span,
                help=f"shorten `{contract.buffer}` to at most {available // words} elements",
                fix=shortened(contract, available // words),
            )


def _longest_row(plan: Plan, phase: Phase) -> int:
    """Elements that an exchange lets pass at once, or from the stage's first to its last."""
    length = phase.slicing.length
    if shape_problem(plan, phase):
        return length  # another check says so
    stage = phase.areas * length
    return max(length, stage, int(unrolled(phase).passed.max(initial=0)))


def _longest(role: Role, length: int) -> int:
    """Elements of the longest operation of a role."""
    return length * max((1, *(op.vectors for op in role.ops)))
