"""There are enough DSRs for the fabric operands of all phases."""

from __future__ import annotations

from collections.abc import Iterator

from collc.checks.ledger import knob, reservations
from collc.diagnostics import Diagnostic
from collc.lowering.resources import dsrs_needed
from collc.plan import Plan
from collc.schedule import Schedule


def dsr_ids(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C307: too few DSR ids, or one used twice."""
    needed = dsrs_needed(plan.phases)
    used, available = plan.dsr_ids, plan.target.dsr_ids
    if len(used) < needed or len(set(used)) < len(used) or not set(used) <= set(available):
        yield Diagnostic(
            "C307",
            f"`{schedule.collective.name}` needs {needed} DSRs of one file and gets "
            f"{', '.join(map(str, used))}, {plan.target.name} has {len(available)} beside memcpy: "
            f"{', '.join(map(str, available))}",
            schedule.collective.span,
            reservations(plan, "dsr_ids"),
            "use fewer steps" + knob(plan, "dsr_ids"),
        )
