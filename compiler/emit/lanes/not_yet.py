"""What is not printed as lanes yet, in words."""

from collc.base.diagnostics import Diagnostic
from collc.base.values import dataclass
from collc.plan import Plan

HELP = "leave out `--text lanes`; the text for each form has it"


@dataclass(frozen=True)
class UnprintedError(Exception):
    """Something that plans have and the text does not, in words."""

    what: str


def diagnostic(plan: Plan | None, what: str) -> Diagnostic:
    """The message about a collective, or about a program."""
    name = f"`{plan.collective.name}`: " if plan else ""
    message = f"{name}`--text lanes` does not print {what} yet"
    return Diagnostic("C507", message, plan.collective.span if plan else None, help=HELP)
