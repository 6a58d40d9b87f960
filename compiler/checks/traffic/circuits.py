"""What a lane sends leads to one lane that receives, and meets nothing on its way.

Every color of a router has one static route. Followed from each sender, the routes of a color have
to lead to a receiver, no router twice: then no router can have two arrivals of the color, whatever
the timing.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.by_phase import problems
from collc.checks.step_table_entries import step_tables_of
from collc.plan import Phase, Plan
from collc.plan.unrolled import connections


def circuits(plan: Plan) -> Iterator[Diagnostic]:
    """C320: routes of an exchange that lead nowhere, meet, or are left over."""
    help = "each color has to lead from one sender to one receiver"
    return problems("C320", help, step_tables_of(plan), _problem)


def _problem(phase: Phase) -> str:
    return connections(phase)[1] or _switched(phase)


def _switched(phase: Phase) -> str:
    """Routes of an exchange never change."""
    for role in phase.roles:
        for use in role.colors:
            if len(use.positions) != 1:
                return f"role `{role.name}` has {len(use.positions)} positions of `{use.color}`"
    return ""
