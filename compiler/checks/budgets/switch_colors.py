"""Colors whose routers change position have switches on the target."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.resource_report import limit_clause, reservations
from collc.plan import Plan
from collc.plan.placement import switched_colors


def switch_colors(plan: Plan) -> Iterator[Diagnostic]:
    """C304: more than one position on a color that has no switches."""
    switched = switched_colors(plan.phases)
    able = plan.target.switch_colors
    for name, number in plan.colors:
        if name in switched and number not in able:
            yield Diagnostic(
                "C304",
                f"color `{name}` changes position at some router but has number {number}, which "
                f"has no switches; {len(switched)} such colors are needed, {plan.target.name} has "
                f"{len(able)}: {', '.join(map(str, sorted(able)))}",
                plan.collective.span,
                reservations(plan, "colors"),
                "use a tree without relays, such as a chain, or fewer colors"
                + limit_clause(plan, "colors"),
            )
