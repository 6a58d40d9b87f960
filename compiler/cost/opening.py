"""Routers that let nothing pass at first move on behind the vector that they wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collc.plan import Advance, Op

if TYPE_CHECKING:
    from collc.cost.line import LineRun


def move_on(run: LineRun, source: int, rank: int, end: int, op: Op) -> None:
    """Routers move on behind what the source has sent up to cycle `end`."""
    costs = run.costs
    if op.advance is Advance.CONTROL:
        left = end + costs.send_start + costs.ramp_up
        _open(run, rank, op.sends_on or "", left + costs.hop * run.apart(source, rank))
        _open(run, source, op.sends_on or "", left + costs.hop)
    elif op.advance is Advance.OWN_ROUTER:
        _open(run, source, op.sends_on or "", end + run.start(source) + costs.ramp_up)


def _open(run: LineRun, router: int, color: str, cycle: int) -> None:
    """A router that was closed for a color lets vectors pass from `cycle` on."""
    if color in run.opens[router]:
        run.opens[router][color] = cycle
