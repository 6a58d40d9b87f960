"""The way that the sum of a root bypass goes back, from the end of the line to the root.

Other checks look at a root bypass as if its end were next to its root (`collc.plan.root_bypass`).
What is between them has to let the sum pass, on a color that nothing else on the line uses.
"""

from collections.abc import Iterator
from functools import partial

from collc.base.diagnostics import Diagnostic
from collc.checks.by_phase import due_tree, phases_of, problems
from collc.plan import Phase, Plan, Role, Route
from collc.plan.form import Form
from collc.plan.geometry import bypass_color
from collc.plan.placement import SIDES, roles_of_places


def root_route(plan: Plan) -> Iterator[Diagnostic]:
    """C325: a router on the way of the sum that does not let it pass, or one beside it that is
    set for its color."""
    found = (one for one in phases_of(plan, Form.TREE) if due_tree(plan, one).bypass)
    return problems("C325", "the sum has a color of its own", found, partial(_problem, plan))


def _problem(plan: Plan, phase: Phase) -> str:
    pattern = due_tree(plan, phase)
    near, far = SIDES[pattern.order]
    passes = (Route(near, (far,)),)
    for place, role in enumerate(roles_of_places(phase)):
        routes = _routes(role, bypass_color(phase.name))
        if 0 < place < pattern.bypass and routes != passes:
            return f"the router {place} places from the end does not let the sum pass to the root"
        if place > pattern.bypass and routes:
            return (
                f"the router {place} places from the end is set for the sum, which ends before it"
            )
    return ""


def _routes(role: Role | None, color: str) -> tuple[Route, ...]:
    uses = role.colors if role else ()
    return tuple(route for use in uses if use.color == color for route in use.positions)
