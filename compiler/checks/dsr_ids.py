"""There are enough DSRs for the fabric operands of all phases, and no PE has one for two of them:
they are loaded when the program begins."""

from __future__ import annotations

from collections.abc import Iterator

from collc.checks.ledger import knob, reservations
from collc.diagnostics import Diagnostic
from collc.lowering.resources import dsrs_needed
from collc.lowering.slots import clashes, slots_of
from collc.plan import Plan
from collc.schedule import Schedule


def dsr_ids(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C307: too few DSR ids, or one used twice by a PE."""
    used, available = plan.dsr_ids, plan.target.dsr_ids
    needed = dsrs_needed(plan.phases) if plan.registers is None else len(used)
    if (
        len(used) < needed
        or len(set(used)) < len(used)
        or not set(used) <= set(available)
        or _clash(plan)
    ):
        yield Diagnostic(
            "C307",
            f"`{schedule.collective.name}` needs {needed} DSRs of one file and gets "
            f"{', '.join(map(str, used))}, {plan.target.name} has {len(available)} beside memcpy: "
            f"{', '.join(map(str, available))}",
            schedule.collective.span,
            reservations(plan, "dsr_ids"),
            "use fewer steps" + knob(plan, "dsr_ids"),
        )


def _clash(plan: Plan) -> bool:
    """Whether registers that phases share are not there, or two of one PE."""
    if plan.registers is None:
        return False
    slots, shared = slots_of(plan), plan.registers
    files = (
        (slots.sources, shared.sources),
        (slots.dests, shared.dests),
        (slots.owns, shared.owns),
    )
    return any(
        len(places) != len(having)
        or not set(places) <= set(range(len(plan.dsr_ids)))
        or any(clashes(having, places))
        for having, places in files
    )
