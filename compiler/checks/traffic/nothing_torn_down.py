"""A collective by itself tears no color down: nothing would set it again."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.checks.color_hand_over import pe_of, played
from collc.plan import Plan


def nothing_torn_down(plan: Plan) -> Iterator[Diagnostic]:
    """C331: a teardown in a collective by itself, which would never set the color again."""
    numbers = dict(plan.colors)
    for phase in plan.phases:
        for role, x, y in played(phase):
            for color in dict.fromkeys(name for lane in role.lanes for name in lane.tears_down):
                message = f"in `{phase.name}` {pe_of(plan.collective, phase, x, y)} tears down "
                message += f"color {numbers.get(color)} (`{color}`) for good: the PE sends its "
                message += "vector, a teardown behind it closes the routers on its route, and "
                message += "nothing opens them for the next call"
                help = "only programs of several collectives tear colors down; please report this"
                yield Diagnostic("C331", message, phase.span, help=help)
