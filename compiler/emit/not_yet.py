"""What no code is written for yet, in words."""

from collc.base.diagnostics import Diagnostic
from collc.base.values import dataclass
from collc.plan.plan import ProgramPlan

HELP = "use other steps, or a program with fewer collectives; please report this one"


@dataclass(frozen=True)
class UnprintedError(Exception):
    """Something that plans have and the text does not, in words."""

    what: str


def diagnostic(program: ProgramPlan, what: str) -> Diagnostic:
    """The message about a program; about its collective, if it has one only."""
    span, name = program.program.span, ""
    if len(program.plans) == 1:
        collective = program.plans[0].collective
        span, name = collective.span, f"`{collective.name}`: "
    return Diagnostic("C507", f"{name}collc cannot write code for {what} yet", span, help=HELP)
