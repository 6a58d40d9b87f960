"""There are enough DSRs for the fabric operands of all phases."""

from __future__ import annotations

from collections.abc import Iterator

from collc.checks.ledger import by_phase, shortage
from collc.diagnostics import Diagnostic
from collc.lowering.resources import dsrs_needed, queues_of_phase, source_dsrs_of_phase
from collc.lowering.sharing import shared_dsrs
from collc.plan import Plan
from collc.schedule import Schedule


def dsr_ids(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C307: too few DSR ids, or one used twice."""
    needed = dsrs_needed(plan.phases)
    used, available = plan.dsr_ids, plan.target.dsr_ids
    if needed > len(available):
        sources = by_phase(plan, source_dsrs_of_phase)
        counts = sources if sum(sources.values()) == needed else by_phase(plan, queues_of_phase)
        what, in_turns = "DSRs of one file", shared_dsrs([plan])
        yield shortage("C307", plan, what, counts, len(available), "dsr_ids", in_turns=in_turns)
    elif len(used) < needed or len(set(used)) < len(used) or not set(used) <= set(available):
        yield Diagnostic(
            "C307",
            f"`{schedule.collective.name}` has the DSRs {', '.join(map(str, used))}, which are no "
            f"{needed} of those of {plan.target.name}",
            schedule.collective.span,
            help="give each operand a DSR of its own",
        )
