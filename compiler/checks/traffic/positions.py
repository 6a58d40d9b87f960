"""Every color of a router has a route, and no more switch positions than the target has."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Plan


def positions(plan: Plan) -> Iterator[Diagnostic]:
    """C310: too many positions, or none."""
    available = plan.target.switch_positions
    for phase in plan.phases:
        for role in phase.roles:
            for use in role.colors:
                if not 1 <= len(use.positions) <= available:
                    yield Diagnostic(
                        "C310",
                        f"color `{use.color}` needs {len(use.positions)} switch positions at role "
                        f"`{role.name}` of `{phase.name}`, {plan.target.name} has {available}",
                        phase.span,
                        help="use more colors, or a tree in which fewer vectors pass a PE",
                    )
