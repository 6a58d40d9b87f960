"""The largest PE class fits its memory, as far as an estimate can tell."""

from __future__ import annotations

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Plan
from collc.schedule import Schedule
from collc.spec import Collective
from collc.target import Target


def has_free(target: Target) -> str:
    """What a target has for a program, and what it keeps."""
    free, kept = target.free_bytes, target.kept_bytes
    beside = f" beside {kept} for memcpy and the stack" if kept else ""
    return f"{target.name} has {free}{beside}"


def vector_fits(collective: Collective, target: Target) -> Iterator[Diagnostic]:
    """C308: the vector alone exceeds a PE's memory. Whatever is planned does not change that, so it
    is asked first."""
    contract = collective.contract
    needed = contract.span_of(contract.held) * contract.element.bytes
    available = target.free_bytes
    if needed > available:
        yield Diagnostic(
            "C308",
            f"a PE needs {needed} bytes for `{contract.buffer}` alone, {has_free(target)}",
            contract.span,
            help=f"shorten `{contract.buffer}` to less than "
            f"{available // (contract.stride * contract.element.bytes)} elements, as code has to fit beside it",
        )


def memory(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C308: code and data, in bytes, exceed a PE's memory."""
    contract = schedule.collective.contract
    needed, available = plan.code_bytes + plan.data_bytes, plan.target.free_bytes
    if needed > available:
        vectors = 1 + sum(phase.exchange.areas for phase in plan.phases if phase.exchange)
        each = (vectors - 1 + contract.stride) * contract.element.bytes
        over = (needed - available + max(each, 4 * vectors) - 1) // each
        yield Diagnostic(
            "C308",
            f"a PE needs {needed} bytes (data {plan.data_bytes}, code about {plan.code_bytes}), "
            f"{has_free(plan.target)}",
            contract.span,
            help=f"shorten `{contract.buffer}` to at most {contract.length - over} elements",
        )
