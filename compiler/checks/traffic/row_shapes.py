"""Every row of an exchange is one that the emitted text can run."""

from collections.abc import Iterator
from functools import partial

from collc.base.diagnostics import Diagnostic
from collc.checks.by_phase import problems
from collc.checks.step_table_entries import shape_problem
from collc.plan import Plan


def row_shapes(plan: Plan) -> Iterator[Diagnostic]:
    """C319: a row that no text runs."""
    found = (phase for phase in plan.phases if not phase.whole)  # `steps` looks at the others
    return problems("C319", "no program text does this", found, partial(shape_problem, plan))
