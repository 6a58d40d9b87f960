"""Every phase has an input and an output queue of its own, an exchange one of each a lane."""

from __future__ import annotations

from collections.abc import Iterator

from collc.checks.ledger import by_phase, shortage
from collc.diagnostics import Diagnostic
from collc.lowering.resources import queues_of_phase
from collc.plan import Plan
from collc.schedule import Schedule

_BOTH = ("input_queues", "output_queues")  # a number that is reserved is kept from both kinds


def queues(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C305: too few queues, or one queue for two phases."""
    both = (
        ("input", plan.input_queues, plan.target.input_queues),
        ("output", plan.output_queues, plan.target.output_queues),
    )
    needed = by_phase(plan, queues_of_phase)
    total, most = sum(needed.values()), max(needed.values(), default=0)
    for kind, used, available in both:
        if total > len(available):
            yield shortage(
                "C305", plan, f"{kind} queues", needed, len(available), *_BOTH, in_turns=most
            )
        elif kind == "input" and not set(used) <= set(available) and _exchanges(plan):
            free = len(set(available) - set(plan.output_queues))
            what = "input queues with numbers that no output queue beside them has"
            yield shortage("C305", plan, what, needed, free, *_BOTH, in_turns=most)
        elif len(used) < total or len(set(used)) < len(used) or not set(used) <= set(available):
            yield Diagnostic(
                "C305",
                f"`{schedule.collective.name}` has the {kind} queues {', '.join(map(str, used))}, "
                f"which are no {total} of those of {plan.target.name}",
                schedule.collective.span,
                help="give each phase queues of its own",
            )


def _exchanges(plan: Plan) -> bool:
    """Whether operations run beside each other, on microthreads with the numbers of queues."""
    return any(phase.exchange is not None for phase in plan.phases)
