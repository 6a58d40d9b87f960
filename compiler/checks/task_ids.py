"""There are enough local task ids, apart from the numbers of the colors in use."""

from __future__ import annotations

from collections.abc import Iterator

from collc.checks.ledger import knob, reservations
from collc.diagnostics import Diagnostic
from collc.lowering.resources import task_ids_of_phase
from collc.plan import Plan
from collc.schedule import Schedule


def task_ids(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C306: too few task ids, one used twice, or one that is a color in use."""
    needed = sum(task_ids_of_phase(phase) for phase in plan.phases) + 1
    colors = {number for _, number in plan.colors}
    available = [number for number in plan.target.local_task_ids if number not in colors]
    used = plan.task_ids
    if len(used) < needed or len(set(used)) < len(used) or not set(used) <= set(available):
        yield Diagnostic(
            "C306",
            f"`{schedule.collective.name}` needs {needed} local task ids and gets "
            f"{', '.join(map(str, used))}; beside memcpy and the colors in use "
            f"{plan.target.name} has {len(available)}",
            schedule.collective.span,
            reservations(plan, "local_task_ids", "colors"),
            "use fewer steps or fewer colors" + knob(plan, "local_task_ids", "colors"),
        )
