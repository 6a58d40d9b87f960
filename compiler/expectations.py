"""`expect` clauses: what the author wants to hold of the plan, checked on every build."""

from __future__ import annotations

import operator
from collections.abc import Iterator

from collc.cost import Prediction
from collc.diagnostics import Diagnostic
from collc.plan import Plan
from collc.spec import Collective

_RELATIONS = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}


def quantities(plan: Plan, prediction: Prediction) -> dict[str, int]:
    """What an expectation can speak of."""
    return {
        "cycles": prediction.cycles,
        "colors": len(plan.colors),
        "memory_bytes": plan.code_bytes + plan.data_bytes,
    }


def unmet_expectations(
    collective: Collective, plan: Plan, prediction: Prediction
) -> Iterator[Diagnostic]:
    """One diagnostic for each expectation that does not hold."""
    values = quantities(plan, prediction)
    for expectation in collective.expectations:
        value = values[expectation.quantity]
        wanted = expectation.factor * (prediction.bound if expectation.times_bound else 1)
        if not _RELATIONS[expectation.relation](value, wanted):
            bound = f" (bound {prediction.bound})" if expectation.times_bound else ""
            yield Diagnostic(
                "C401",
                f"expected {expectation.text}: {expectation.quantity} is {value}, "
                f"wanted {expectation.relation} {wanted:g}{bound}",
                expectation.span,
                help="`collc cost` shows where the cycles go; choose another pattern, "
                "or state what you can accept",
            )
