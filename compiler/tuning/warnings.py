"""All that is right and could be better, as far as it costs cycles."""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.cost import Prediction
from collc.plan import Plan
from collc.target import Target
from collc.tuning.less_than_half import less_than_half
from collc.tuning.noncontiguous_order import noncontiguous_order
from collc.tuning.other_plans import Trials
from collc.tuning.shared_links import shared_links
from collc.tuning.stalls import stalls
from collc.tuning.uneven_slices import uneven_slices


def warnings_of(plan: Plan, prediction: Prediction, target: Target) -> Iterator[Diagnostic]:
    """What is said of a collective by itself."""
    schedule, cycles = plan.schedule, prediction.cycles
    trials = Trials(schedule, target)
    of_plans = [
        *stalls(schedule, prediction, target),
        *shared_links(trials, plan, cycles),
        *noncontiguous_order(trials, cycles),
    ]
    yield from of_plans or less_than_half(trials, prediction)
    yield from uneven_slices(schedule, cycles, target)
