"""Every phase has an input and an output queue of its own, an exchange one of each a lane."""

from __future__ import annotations

from collections.abc import Iterator

from collc.checks.ledger import knob, reservations
from collc.diagnostics import Diagnostic
from collc.lowering.resources import queues_of_phase
from collc.plan import Plan
from collc.schedule import Schedule


def queues(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C305: too few queues, or one queue for two phases."""
    both = (
        ("input", plan.input_queues, plan.target.input_queues),
        ("output", plan.output_queues, plan.target.output_queues),
    )
    for kind, used, available in both:
        needed = sum(queues_of_phase(phase) for phase in plan.phases)
        if len(used) < needed or len(set(used)) < len(used) or not set(used) <= set(available):
            yield Diagnostic(
                "C305",
                f"{len(plan.phases)} phases need {needed} {kind} queues and get {_list(used)}, "
                f"{plan.target.name} has {len(available)} beside memcpy: {_list(available)}",
                schedule.collective.span,
                reservations(plan, "input_queues", "output_queues"),
                "use fewer steps" + knob(plan, "input_queues", "output_queues"),
            )


def _list(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "none"
