"""Transfers of a step that meet on a link although another plan would take less time.

What is lost follows from what the link has to carry (`collc.tuning.link_load`); whether there
is a better plan is found out by predicting others (`collc.tuning.other_plans`).
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.plan import Plan
from collc.spec.exchange import StepsPhase
from collc.tuning.link_load import CrowdedLink, crowded_link
from collc.tuning.other_plans import OtherPlan, Trials, other_plans
from collc.tuning.thresholds import LONG, MUCH

SHOWN = 6  # transfers over a link


def shared_links(trials: Trials, plan: Plan, cycles: int) -> Iterator[Diagnostic]:
    """C802: the link at which most is lost, if another plan takes clearly less."""
    schedule, target = trials.schedule, trials.target
    found = [
        (link, phase.pattern)
        for phase in plan.phases
        if isinstance(phase.pattern, StepsPhase) and not phase.streams
        for link in [crowded_link(schedule, phase.pattern, phase, target)]
        if link is not None
    ]
    if not found:
        return
    link, phase = max(found, key=lambda one: one[0].lost)
    if link.lost < LONG * cycles:
        return
    others = list(other_plans(trials, round((1 - MUCH) * cycles)))
    if others:
        help = in_words(others, cycles)
        yield Diagnostic("C802", _told(link, phase, cycles), phase.span, help=help)


def in_words(others: list[OtherPlan], cycles: int) -> str:
    """What is predicted of other plans."""
    first, *further = others
    words = f"`{first.text}` is predicted to take {first.cycles} cycles instead of {cycles}"
    return "; ".join([words, *(f"`{one.text}` {one.cycles}" for one in further)])


def _listed(pairs: list[str]) -> str:
    """What has no order, so that what is left out stands behind it."""
    if len(pairs) <= SHOWN + 1:
        return ", ".join(pairs)
    return f"{', '.join(pairs[:SHOWN])} and {len(pairs) - SHOWN} more"


def _told(link: CrowdedLink, phase: StepsPhase, cycles: int) -> str:
    pairs = _listed([f"{source} to {rank}" for source, rank in link.transfers])
    where = f"over the {link.word} from PE {link.source} to PE {link.target}"
    what = f"`{phase.algorithm}` sends {link.elements} elements {where} in step {link.step}, those"
    passed = f", and PE {link.by} lets {link.passed} of others pass" if link.passed else ""
    lost = f"about {link.lost} of {cycles} cycles are lost there"
    return f"{what} of rank {pairs}{passed}: {lost}"
