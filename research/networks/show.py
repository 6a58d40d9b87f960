"""What a schedule costs on a network, as text."""

from __future__ import annotations

from collections.abc import Iterator

from collc_research.networks.cost import NetworkCost
from collc_research.networks.dimension import DimensionCost
from collc_research.networks.mesh import MeshUse
from collc_research.networks.two_tier import ClassUse, LinkUse
from collc_research.networks.uniform import UniformCost


def show_cost(cost: NetworkCost) -> str:
    """A few lines for a reader."""
    return "\n".join(_lines(cost)) + "\n"


def _lines(cost: NetworkCost) -> Iterator[str]:
    if isinstance(cost, UniformCost):
        yield f"predicted: {_time(cost.time_ns)} in {_count(cost.rounds, 'round')}"
        sent, combined = _bytes(cost.bytes_sent), _bytes(cost.bytes_combined)
        yield f"  {cost.one_way} of them one way; {sent} sent and {combined} combined in a row"
        yield f"  {_time(cost.overlapped_ns)} if no rank waits for others than its partners"
    elif isinstance(cost, DimensionCost):
        parts = _count(cost.splits, "part")
        yield f"predicted: {_time(cost.time_ns)}, {parts} of {_count(cost.rounds, 'round')}"
        yield f"  the busiest rank sends {_bytes(cost.bytes_sent)}"
    elif isinstance(cost, LinkUse):
        yield _class("within supernodes (L1)", cost.l1)
        yield _class("between supernodes (L2)", cost.l2)
    else:
        yield from _mesh(cost)


def _mesh(cost: MeshUse) -> Iterator[str]:
    yield f"wavelet hops: {cost.wavelet_hops}"
    for use in cost.directions:
        if use.links:
            least = f"at most {use.most_wavelets} wavelets over one"
            yield f"  {use.direction}: {use.used} of {_count(use.links, 'link')}, {least}"


def _class(name: str, use: ClassUse) -> str:
    if not use.used:
        return f"{name}: none of {_count(use.links, 'link')}"
    span = f"{_bytes(use.least_bytes)} to {_bytes(use.most_bytes)} each"
    return f"{name}: {use.used} of {_count(use.links, 'link')}, {span}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _time(nanoseconds: float) -> str:
    """In the largest unit that leaves a digit before the point."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= factor:
            return f"{nanoseconds / factor:.6g} {unit}"
    return f"{nanoseconds:.6g} ns"


def _bytes(size: float) -> str:
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size:.4g} bytes"
