"""What is not printed as lanes yet, in words."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.base.values import dataclass
from collc.plan import Plan
from collc.plan.plan import ProgramPlan

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


def of_program(program: ProgramPlan) -> Iterator[Diagnostic]:
    """What is known of a program before it is read."""
    yield from (diagnostic(None, what) for what in _shared(program))


def _shared(program: ProgramPlan) -> Iterator[str]:
    if program.call_streams:
        yield "calls beside each other"
