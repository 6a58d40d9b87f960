"""What is behind a vector that has left its PE: routers move on, and in a one-word collective code
that has waited for it goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from collc.plan import BY_WAVELET, Advance, Op

if TYPE_CHECKING:
    from collc.cost.line import LineRun


def finish_word(run: LineRun, source: int, rank: int, end: int, op: Op) -> None:
    """The word of a one-word collective's `source` has left in cycle `end`; what is to go behind it
    is sent, by a task where others wait for no code."""
    costs = run.costs
    assert costs.one_word, "it is one"
    if op.advance in BY_WAVELET and op.combines_from is not None:
        place = costs.after(end, run.free[source])
        end = place.time + costs.one_word.late
        run.after[source] = replace(place, time=end + 1)
    elif op.advance in BY_WAVELET:
        end += costs.one_word.control
    move_on(run, source, rank, end, op)
    run.end[source] = end


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
