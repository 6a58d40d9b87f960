"""The largest PE class fits its memory, as far as an estimate can tell."""

from bisect import bisect_right
from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic, Edit
from collc.plan import Plan
from collc.plan.streams import stage_of
from collc.spec import Collective, Contract
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
    held = contract.in_memory
    needed = sum(one.span_of(one.held) for one in held) * contract.element.bytes
    available, each = target.free_bytes, sum(one.stride for one in held) * contract.element.bytes
    if held and needed > available:
        yield Diagnostic(
            "C308",
            f"a PE needs {needed} bytes for {_named(contract)} alone, {has_free(target)}",
            contract.span,
            help=f"shorten `{contract.buffer}` to less than "
            f"{available // each} elements, as code has to fit beside it",
            fix=shortened(contract, available // each - 1),
        )


def shortened(contract: Contract, elements: int) -> tuple[Edit, ...]:
    """A length of so many elements where the file has another."""
    return (Edit(contract.length_span, str(elements)),) if contract.length_span else ()


def _named(contract: Contract) -> str:
    return " and ".join(f"`{one.buffer}`" for one in contract.in_memory)


def memory(plan: Plan) -> Iterator[Diagnostic]:
    """C308: code and data, in bytes, exceed a PE's memory."""
    contract = plan.collective.contract
    needed, available = plan.code_bytes + plan.data_bytes, plan.target.free_bytes
    if needed > available:
        areas = sum(stage_of(phase) // phase.slicing.length for phase in plan.phases)
        most = _most(contract, areas, needed - available)
        help = "reserve less memory, or take steps with less code"
        if most:
            help = f"shorten `{contract.buffer}` to at most {most} elements"
        yield Diagnostic(
            "C308",
            f"a PE needs {needed} bytes (data {plan.data_bytes}, code about {plan.code_bytes}), "
            f"{has_free(plan.target)}",
            contract.span,
            help=help,
            fix=shortened(contract, most) if most else (),
        )


def _most(contract: Contract, areas: int, missing: int) -> int:
    """The most elements that so many missing bytes leave; a barrier has none, and code may take
    more than there is."""

    def taken(elements: int) -> int:
        areas_of = [elements] * areas + [one.span_of(elements) for one in contract.in_memory]
        return sum(-(-one * contract.element.bytes // 4) * 4 for one in areas_of)  # whole words

    if not contract.buffer:
        return 0
    lengths = range(1, contract.length + 1)
    return bisect_right(lengths, taken(contract.length) - missing, key=taken)
