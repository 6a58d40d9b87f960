"""What the program expects of its plan: `expect cycles <= 1.4 * bound`."""

import operator
from collections.abc import Callable, Iterable, Iterator

from collc.base.diagnostics import Diagnostic, Edit
from collc.machine.prediction import Prediction
from collc.plan import Plan
from collc.plan.plan import ProgramPlan
from collc.spec import Expectation

RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}


def unmet_expectations(
    expectations: Iterable[Expectation], plan: Plan | ProgramPlan, prediction: Prediction
) -> Iterator[Diagnostic]:
    """C401: an expectation that the plan does not meet."""
    quantities = {
        "cycles": prediction.cycles,
        "colors": len(plan.colors),
        "memory_bytes": plan.code_bytes + plan.data_bytes,
    }
    for expected in expectations:
        value = quantities[expected.quantity]
        limit = expected.factor * (prediction.bound if expected.times_bound else 1)
        if not RELATIONS[expected.relation](value, limit):
            meant = f" that is {expected.relation} {limit:.10g} (bound {prediction.bound}),"
            quantity = expected.quantity.replace("_", " ")
            true = _true_of(expected, value, prediction.bound)
            yield Diagnostic(
                "C401",
                f"expected {expected.text},{meant if expected.times_bound else ''} "
                f"predicted are {value} {quantity}",
                expected.span,
                help=_remedy(expected, plan, true),
                fix=(Edit(expected.span, f"expect {true}" if true else ""),),
            )


def _true_of(expected: Expectation, value: int, bound: int) -> str:
    """The same with the number that is predicted, a factor of the bound (which a single PE does not
    have) in hundredths; empty where it is not to be that number."""
    relation = _OR_EQUAL[expected.relation]
    if not relation:
        return ""
    if not (expected.times_bound and bound) or relation == "==":
        return f"{expected.quantity} {relation} {value}"
    hundredths = -(-100 * value // bound) if relation == "<=" else 100 * value // bound
    return f"{expected.quantity} {relation} {hundredths / 100:.10g} * bound"


_OR_EQUAL = {"<": "<=", "<=": "<=", ">": ">=", ">=": ">=", "==": "==", "!=": ""}


def _remedy(expected: Expectation, plan: Plan | ProgramPlan, true: str) -> str:
    """What to write, and what else there is to try where it is to take fewer cycles."""
    written = f"write `expect {true}`" if true else "leave it out"
    if expected.quantity != "cycles" or not true.startswith("cycles <="):
        return written
    if isinstance(plan, Plan) and plan.collective.decision:
        return f"{written}: `auto` has found nothing faster"
    return f"{written}, or let the compiler look for faster steps: `run auto`"
