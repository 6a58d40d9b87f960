"""What no code is written for yet, in words."""

from collc.base.diagnostics import Diagnostic
from collc.base.values import dataclass
from collc.plan import Plan

HELP = "use other steps, or a program with fewer collectives; please report this one"


@dataclass(frozen=True)
class UnprintedError(Exception):
    """Something that plans have and the text does not, in words."""

    what: str


def diagnostic(plan: Plan | None, what: str) -> Diagnostic:
    """The message about a collective, or about a program."""
    name = f"`{plan.collective.name}`: " if plan else ""
    message = f"{name}collc cannot write code for {what} yet"
    return Diagnostic("C507", message, plan.collective.span if plan else None, help=HELP)
