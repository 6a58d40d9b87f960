"""There are enough local task ids, apart from the numbers of the colors in use."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.counted import tasks_in_turn, tasks_of_phase
from collc.checks.resource_report import by_phase, shortage
from collc.plan import Plan

OWN = 2  # of phases that share colors over time: one is complete, colors are torn down


def task_ids(plan: Plan) -> Iterator[Diagnostic]:
    """C306: too few task ids, one used twice, or one that is a color in use."""
    needed = sum(tasks_of_phase(phase) for phase in plan.phases) + 1
    colors = {number for _, number in plan.colors}
    available = [number for number in plan.target.local_task_ids if number not in colors]
    used = plan.task_ids
    if needed > len(available):
        counts = by_phase(plan, tasks_of_phase) | {"done": 1}
        what, resources = "local task ids", ("local_task_ids", "colors")
        beside = ("the colors in use",)
        time_multiplexed = OWN + tasks_in_turn([plan])
        yield shortage(
            "C306",
            plan,
            what,
            counts,
            len(available),
            *resources,
            total=needed,
            time_multiplexed=time_multiplexed,
            beside=beside,
        )
    elif len(used) < needed or len(set(used)) < len(used) or not set(used) <= set(available):
        yield Diagnostic(
            "C306",
            f"`{plan.collective.name}` has the local task ids {', '.join(map(str, used))}, "
            f"which are no {needed} of those that {plan.target.name} has beside the colors in use",
            plan.collective.span,
            help="give each task an id of its own",
        )
