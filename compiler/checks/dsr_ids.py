"""There are enough DSRs for the fabric operands of all phases, and no PE has one for two of them:
they are loaded when the program begins."""

from __future__ import annotations

from collections.abc import Iterator

from collc.checks.ledger import by_phase, shortage
from collc.diagnostics import Diagnostic
from collc.lowering.resources import dsrs_needed, queues_of_phase, source_dsrs_of_phase
from collc.lowering.sharing import shared_dsrs
from collc.lowering.slots import clashes, slots_of
from collc.plan import Plan
from collc.schedule import Schedule


def dsr_ids(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C307: too few DSR ids, or one used twice by a PE."""
    used, available = plan.dsr_ids, plan.target.dsr_ids
    needed = dsrs_needed(plan.phases) if plan.registers is None else len(used)
    if needed > len(available):
        sources = by_phase(plan, source_dsrs_of_phase)
        counts = sources if sum(sources.values()) == needed else by_phase(plan, queues_of_phase)
        what, in_turns = "DSRs of one file", shared_dsrs([plan])
        yield shortage(
            "C307", plan, what, counts, len(available), "dsr_ids", total=needed, in_turns=in_turns
        )
    elif (
        len(used) < needed
        or len(set(used)) < len(used)
        or not set(used) <= set(available)
        or _clash(plan)
    ):
        yield Diagnostic(
            "C307",
            f"`{schedule.collective.name}` has the DSRs {', '.join(map(str, used))}, which are no "
            f"{needed} of those of {plan.target.name}",
            schedule.collective.span,
            help="give each operand a DSR of its own",
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
