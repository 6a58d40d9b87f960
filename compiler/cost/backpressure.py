"""What holds the end of a vector up on its way along a line: its receiver, or a router."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collc.cost.line import LineRun


def by_receiver(run: LineRun, source: int, rank: int, start: int, end: int) -> int:
    """The cycle in which the receiver has made room for the last element of the vector of `source`,
    which it takes from cycle `start` to `end`; 0 if the queues between hold all elements."""
    costs = run.costs
    hops = run.hops(source, rank)
    queued = costs.buffered(hops)
    if queued >= costs.length:
        return 0
    taken = max(
        start + run.combining(source, costs.length - 1 - queued),
        end - run.combining(source, queued),
    )
    return taken + costs.hop * hops + 1


def at_gate(run: LineRun, source: int) -> int:
    """The cycle in which those before the last element have passed a router that opened late; 0 if
    there is none, or the queues before it hold all elements."""
    costs, gate = run.costs, run.gate[source]
    queued = costs.router_queue * run.apart(source, gate) + costs.output_queue
    if not gate or queued >= costs.length:
        return 0
    opened = run.opens[gate][run.roles[source].ops[-1].sends_on or ""]
    return opened + costs.length - 1 - queued + costs.hop * run.apart(source, gate)
