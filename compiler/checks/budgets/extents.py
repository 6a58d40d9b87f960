"""No DSD operation is longer than the machine counts."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.budgets.memory import shortened
from collc.plan import Phase, Plan
from collc.plan.entries import values_of
from collc.plan.step_tables import places_of


def extents(plan: Plan) -> Iterator[Diagnostic]:
    """C309: an operation with more elements than the target's largest extent."""
    contract, available = plan.collective.contract, plan.target.max_extent
    words = contract.element.words
    what = "elements" if words == 1 else "words"
    for phase in plan.phases:
        longest = _longest(phase) * words
        if longest > available:
            yield Diagnostic(
                "C309",
                f"an operation of `{phase.name}` has {longest} {what}, {plan.target.name} "
                f"counts to {available}",
                contract.span,
                help=f"shorten `{contract.buffer}` to at most {available // words} elements",
                fix=shortened(contract, available // words),
            )


def _longest(phase: Phase) -> int:
    """Elements of the longest operation of a phase: with whole vectors, with what is passed on, or
    from the first to the last of the stage."""
    vectors = max((op.vectors for role in phase.roles for op in role.ops), default=1)
    passed = (_passed(phase, index) for index in range(len(phase.roles)))
    return max(phase.slicing.length * max(1, vectors, phase.areas), *passed)


def _passed(phase: Phase, index: int) -> int:
    """Elements that PEs of a role pass on at once, at most."""
    relays = [(op.elements, op.where) for op in phase.roles[index].ops if op.elements is not None]
    places = places_of(phase, index)
    elements = values_of([elements for elements, _ in relays], places)
    return int((elements * values_of([where for _, where in relays], places)).max(initial=0))
