"""An order that is not contiguous although a snake would take less time."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.tuning.other_plans import SNAKE, Trials, in_order
from collc.tuning.thresholds import LONG


def noncontiguous_order(trials: Trials, cycles: int) -> Iterator[Diagnostic]:
    """C804: the longest gap, if the same steps take clearly less in the order of a snake."""
    schedule = trials.schedule
    path = schedule.collective.path
    if path is None or not path.gaps or not schedule.phases:
        return
    found = in_order(trials, SNAKE, int((1 - LONG) * cycles) + 1)
    if found is None:
        return
    place = max(sorted(path.gaps), key=lambda place: len(path.way(place - 1, place)))
    ends, hops = path.places[place - 1 : place + 1], len(path.way(place - 1, place)) - 1
    yield Diagnostic(
        "C804",
        f"in `{path.word}` PE {ends[1]} comes behind PE {ends[0]}, {hops} hops away: "
        f"{cycles - found.cycles} of {cycles} cycles are lost by such gaps",
        schedule.phases[0].span,
        help=f"`{found.text}` is predicted to take {found.cycles} cycles instead of {cycles}",
    )
