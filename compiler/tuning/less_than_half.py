"""A plan that is right although another one is predicted to take less than half the cycles."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.cost import Prediction
from collc.tuning.other_plans import Trials, other_plans


def less_than_half(trials: Trials, prediction: Prediction) -> Iterator[Diagnostic]:
    """C805: the fastest plan of those that are tried, if it takes less than half. Nothing is tried
    where the bound says that none does."""
    collective, cycles = trials.schedule.collective, prediction.cycles
    if 2 * prediction.bound >= cycles:
        return
    others = list(other_plans(trials, -(-cycles // 2)))
    if others:
        best = others[-1]
        yield Diagnostic(
            "C805",
            f"`{collective.name}` takes more than twice the cycles that it could take",
            collective.steps[0].span,
            help=f"`{best.text}` is predicted to take {best.cycles} cycles instead of {cycles}",
        )
