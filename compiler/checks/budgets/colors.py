"""The collective keeps its limit of colors and the target's."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.resource_report import left_beside, limit_clause, reservations
from collc.plan import Plan
from collc.plan.placement import colors_of


def colors(plan: Plan) -> Iterator[Diagnostic]:
    """C302: more colors than allowed."""
    needed, available = len(plan.colors), plan.color_limit
    if needed <= available:
        return
    limits = plan.collective.limits
    per_phase = ", ".join(f"`{phase.name}` {len(colors_of([phase]))}" for phase in plan.phases)
    limited = limits.colors == available
    kept = reservations(plan, "colors")
    there = left_beside(plan.target, available, bool(kept))
    there = f"the limit allows {available or 'none'}" if limited else there
    remedy = f"allow {needed} colors" if limited else "use a tree that needs fewer colors"
    yield Diagnostic(
        "C302",
        f"`{plan.collective.name}` needs {needed} colors ({per_phase}), {there}",
        limits.colors_span or plan.collective.span,
        ((plan.collective.span, "needed by this collective"), *kept),
        f"{remedy}, or drop a step; a star needs one color a line, any other tree two"
        + limit_clause(plan, "colors"),
    )
