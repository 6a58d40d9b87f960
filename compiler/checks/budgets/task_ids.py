"""There are enough local task ids, beside the colors in use where they share numbers."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.counted import tasks_in_turn, tasks_of_phase
from collc.checks.resource_report import by_phase, shortage, task_id_rivals
from collc.plan import Plan

OWN = 2  # of phases that share colors over time: one is complete, colors are torn down


def task_ids(plan: Plan) -> Iterator[Diagnostic]:
    """C306: too few task ids, one used twice, or one that is a color in use."""
    needed = sum(tasks_of_phase(phase) for phase in plan.phases) + 1
    colors = {number for _, number in plan.colors}
    available = plan.target.task_ids_beside(colors)
    used = plan.task_ids
    resources, beside = task_id_rivals(plan.target)
    if needed > len(available):
        counts = by_phase(plan, tasks_of_phase) | {"done": 1}
        time_multiplexed = OWN + tasks_in_turn([plan])
        yield shortage(
            "C306",
            plan,
            "local task ids",
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
            f"which are not {needed} of the {len(available)} that {plan.target.name} has"
            f"{' beside '.join(('', *beside))}",
            plan.collective.span,
            help="give each task an id of its own",
        )
