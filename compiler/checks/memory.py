"""The largest PE class fits its memory, as far as an estimate can tell."""

from __future__ import annotations

from collections.abc import Iterator

from collc.diagnostics import Diagnostic
from collc.plan import Plan
from collc.schedule import Schedule
from collc.steps import StepsPhase
from collc.target import Target


def vector_fits(schedule: Schedule, target: Target) -> Iterator[Diagnostic]:
    """C308: the vector alone exceeds a PE's memory. An exchange of many slices takes long to plan,
    and need not be planned for that."""
    contract = schedule.collective.contract
    needed, available = contract.held * contract.element.bytes, target.memory_bytes
    if needed > available and any(isinstance(phase, StepsPhase) for phase in schedule.phases):
        yield Diagnostic(
            "C308",
            f"a PE needs {needed} bytes for `{contract.buffer}` alone, {target.name} has "
            f"{available}",
            contract.span,
            help=f"shorten `{contract.buffer}` to less than "
            f"{available // contract.element.bytes} elements, as code has to fit beside it",
        )


def memory(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C308: code and data, in bytes, exceed a PE's memory."""
    contract = schedule.collective.contract
    needed, available = plan.code_bytes + plan.data_bytes, plan.target.memory_bytes
    if needed > available:
        most = contract.length - (needed - available + 3) // contract.element.bytes
        yield Diagnostic(
            "C308",
            f"a PE needs {needed} bytes (data {plan.data_bytes}, code about {plan.code_bytes}), "
            f"{plan.target.name} has {available}",
            contract.span,
            help=f"shorten `{contract.buffer}` to at most {most} elements",
        )
