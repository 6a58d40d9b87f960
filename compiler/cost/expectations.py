"""What the program expects of its plan: `expect cycles <= 1.4 * bound`."""

import operator
from collections.abc import Callable, Iterable, Iterator

from collc.base.diagnostics import Diagnostic
from collc.cost.predict import Prediction
from collc.plan import Plan
from collc.plan.program import ProgramPlan
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
            yield Diagnostic(
                "C401",
                f"expected {expected.text},{meant if expected.times_bound else ''} "
                f"predicted are {value} {quantity}",
                expected.span,
                help="choose another tree, or expect less",
            )
