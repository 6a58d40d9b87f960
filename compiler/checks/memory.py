"""The largest PE class fits its memory, as far as an estimate can tell."""

from __future__ import annotations

from collections.abc import Iterator

from collc.diagnostics import Diagnostic
from collc.plan import Plan
from collc.schedule import Schedule


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
