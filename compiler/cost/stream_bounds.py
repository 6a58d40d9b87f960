"""Cycles that phases take at least in which routers alone hand words on."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from collc.plan import Phase, Plan, Slices, streams_of
from collc.plan.placement import roles_of_places
from collc.spec.simd import PAIR


def streams_at_least(plan: Plan) -> int:
    """Cycles that a plan takes at least for what a PE sends and receives of streams, and for the
    words of a color that pass a link. Nothing is known of other phases."""
    lines = (
        _line_at_least(plan, phase)
        for phase in plan.phases
        if phase.slicing.count > 1 and not phase.has_loops
        if not any(stream.through for role in phase.roles for stream in streams_of(role).values())
    )
    return max(lines, default=0)


def _line_at_least(plan: Plan, phase: Phase) -> int:
    """The same for one line. All words of a color pass one link, but for those that are still on
    their way there when nobody needs them any more: no more than all queues hold."""
    sizes = np.diff(phase.slicing.bounds) * plan.collective.contract.element.words
    before = [0, *np.cumsum(sizes // (PAIR if phase.paired else 1)).tolist()]
    roles, least = roles_of_places(phase), 0
    sent: Counter[str | None] = Counter()
    for place, role in enumerate(roles):
        streams = streams_of(role).values() if role else ()
        words = [
            (_words(before, one.sends, place), _words(before, one.receives, place))
            for one in streams
        ]
        least = max(least, sum(map(sum, words)))
        for stream, (sends, _) in zip(streams, words, strict=True):
            sent[stream.sends_on] += sends
    target = plan.target
    on_their_way = len(roles) * (target.router_queue + max(target.output_queue_words))
    return max(least, *(words - on_their_way for words in sent.values()), 0)


def _words(before: Sequence[int], slices: Slices | None, place: int) -> int:
    """The words of slices, of which as many lie before each as are given."""
    blocks = () if slices is None else slices.in_all_blocks(place)
    return sum(before[block.stop] - before[block.start] for block in blocks)
