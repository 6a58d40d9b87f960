"""The collective keeps its limit of colors and the target's."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic, Edit, Span
from collc.checks.resource_report import left_beside, limit_clause, reservations
from collc.plan import Plan
from collc.plan.placement import colors_of


def allowed(colors: int, limit: Span | None) -> tuple[Edit, ...]:
    """A limit of so many colors in place of the one that is written, if one is."""
    return (Edit(limit, f"within colors <= {colors}"),) if limit else ()


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
    fewer = "choose steps that need fewer (`collc list` shows how many)"
    remedy = f"allow {needed} colors, or {fewer}" if limited else fewer
    yield Diagnostic(
        "C302",
        f"`{plan.collective.name}` needs {needed} colors ({per_phase}), {there}",
        limits.colors_span or plan.collective.span,
        ((plan.collective.span, "needed by this collective"), *kept),
        remedy + limit_clause(plan, "colors"),
        allowed(needed, limits.colors_span if limited else None),
    )
