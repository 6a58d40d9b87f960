"""Every phase has an input and an output queue, an exchange one of each a lane, and no PE has one
queue for two of them: it is bound to a color when the program begins."""

from __future__ import annotations

from collections.abc import Iterator

from collc.checks.ledger import knob, reservations
from collc.diagnostics import Diagnostic
from collc.lowering.resources import queues_of_phase
from collc.lowering.slots import clashes, slots_of
from collc.plan import Plan
from collc.schedule import Schedule


def queues(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C305: too few queues, or one queue of a PE for two phases."""
    slots = slots_of(plan)
    both = (
        ("input", plan.input_queues, plan.target.input_queues, slots.inputs),
        ("output", plan.output_queues, plan.target.output_queues, slots.outputs),
    )
    for kind, used, available, having in both:
        needed = sum(queues_of_phase(phase) for phase in plan.phases)
        wrong = len(used) < needed or any(clashes(having, used[: len(having)]))
        if wrong or not set(used) <= set(available):
            needed = needed if wrong else len(set(used))
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
