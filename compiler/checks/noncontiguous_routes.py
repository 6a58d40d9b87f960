"""Ways through routers of PEs that have no part in what passes: their colors are not handed over.

Such a router would have to be opened for a phase by a PE that does not know when.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic, Span
from collc.plan.program import ProgramPlan
from collc.spec import Reconfigure


def gaps(plan: ProgramPlan) -> Iterator[Diagnostic]:
    """C338: detours through routers of other PEs on colors that are torn down."""
    for use in plan.uses:
        detours = plan.phase(use).detours
        torn = {name for name, k in use.positions if plan.colors[k].torn_down}
        if any(detour.color in torn for detour in detours):
            yield Diagnostic(
                "C338",
                f"`{plan.label(use)}` leads to PEs that are no neighbours on colors that are torn "
                "down behind it",
                plan.phase(use).pattern.span,
                (_why(plan),),
                "use a contiguous order, such as snake or hilbert",
            )


def _why(plan: ProgramPlan) -> tuple[Span, str]:
    """What in the source has colors torn down."""
    program = plan.program
    if program.reconfigure is Reconfigure.TEARDOWN:
        return program.span, "`reconfigure teardown` has all colors of this program torn down"
    if program.colors_span is not None:
        return program.colors_span, "within this limit colors alternate"
    return program.span, "colors alternate in this program"
