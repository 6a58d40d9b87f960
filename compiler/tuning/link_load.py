"""Which link of a phase made of steps has most to carry, and what that costs at least.

A link carries an element a cycle and direction. Where PEs relay, those on the way let every element
of others pass, one a cycle, too. In a step that takes a link or a PE longer than any PE is busy
with its own elements, the difference is lost. Of a pair of 16-bit elements the fabric sees one.
"""

from fractions import Fraction

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.cost.steps_model import (
    busy_with,
    moved_by,
    over_links,
    sizes,
    step_begins,
)
from collc.lowering.steps.traffic import traffic_of
from collc.lowering.steps.wiring import RELAY_LANES
from collc.plan import Phase
from collc.schedule import Schedule
from collc.spec.exchange import StepsPhase
from collc.spec.simd import PAIR, WIDE
from collc.target import Target

Pe = tuple[int, int]


@dataclass(frozen=True)
class CrowdedLink:
    """A link from PE to PE of the first line of a phase, or, where an order is not contiguous, the
    way between two that follow each other.

    Most of its `total` elements go over it in `step`: `elements`, of `transfers` from rank to rank;
    `back` go against them. `passed` is what the PE `by`, one of the two, lets pass of others in
    that step, both ways. About `lost` cycles are lost, in all steps.
    """

    source: Pe
    target: Pe
    step: int
    transfers: tuple[tuple[int, int], ...]
    elements: int
    back: int
    total: int
    passed: int
    by: Pe
    lost: int

    @property
    def word(self) -> str:
        """What it is called: where an order is not contiguous it is several links."""
        (x, y), (to_x, to_y) = self.source, self.target
        return "link" if abs(x - to_x) + abs(y - to_y) == 1 else "way"


@dataclass(frozen=True, eq=False)
class _Step:
    """What goes over links in a step, as [direction, place before the link]; how long the busiest
    PE is with its `own` elements, in cycles; by place how long PEs are busy, with what is `passed`.
    """

    over: Ints
    own: int
    busy: Ints
    passed: Ints


def crowded_link(
    schedule: Schedule, pattern: StepsPhase, phase: Phase, target: Target
) -> CrowdedLink | None:
    """The link that costs most, of equals the one that carries most; None if none carries any."""
    by_relays = set(phase.lanes) <= set(RELAY_LANES)
    packed = _packed(schedule, phase)
    # while PEs begin their next step, a link is still at work; where they relay they are themselves
    begins = 0 if by_relays else step_begins(target)
    lost = np.zeros((2, pattern.ranks), dtype=np.int64)
    total, most, longest, step = (lost.copy() for _ in range(4))
    for index in range(len(pattern.steps)):
        now = _step(pattern, index, packed)
        # of a PE that relays, what it is busy with stands at the link behind it
        work = np.where(now.over > 0, now.busy, 0) if by_relays else now.over
        more = np.maximum(work - now.own - begins, 0)
        worse = work + more > longest
        most, step = np.where(worse, now.over, most), np.where(worse, index, step)
        longest = np.maximum(longest, work + more)
        lost, total = lost + more, total + now.over
    if not total.any():
        return None
    best = np.lexsort((total.ravel(), most.ravel(), lost.ravel()))[-1]
    way, place = np.unravel_index(int(best), lost.shape)
    found = int(way), int(place), int(step[way, place])
    figures = int(total[way, place] * packed), int(lost[way, place])
    return _link(schedule, pattern, found, figures, by_relays)


def most_lost(schedule: Schedule, pattern: StepsPhase, phase: Phase) -> int:
    """At least as many cycles as are lost at any link: in a step no more than it carries, or than a
    PE at its end relays, which is half of what the links of that PE carry both ways."""
    traffic, bounds = traffic_of(pattern), pattern.slicing.bounds
    size = bounds[traffic.first + traffic.count] - bounds[traffic.first]
    load = over_links(traffic.source, traffic.target, size, pattern.ranks).sum(axis=0)
    return int(load.max() / _packed(schedule, phase))


def _packed(schedule: Schedule, phase: Phase) -> Fraction:
    """How many elements a wavelet has."""
    return Fraction(PAIR if phase.paired else 1, schedule.collective.contract.element.words)


def _step(pattern: StepsPhase, index: int, packed: Fraction) -> _Step:
    """The step; `packed` elements are a wavelet."""
    source, target, size = transfers(pattern, index)
    size = size * packed.denominator // packed.numerator
    moved = moved_by(source, target, size, pattern.ranks)
    own, over = busy_with(moved, pattern), over_links(source, target, size, pattern.ranks)
    # what goes over both links of a place is its own or passes it
    both = over.sum(axis=0) + np.roll(over, 1, axis=1).sum(axis=0)
    passed = (both - moved.sum(axis=0)) // 2
    return _Step(over, int(own.max()), own + passed // (WIDE if pattern.wide else 1), passed)


def transfers(pattern: StepsPhase, index: int) -> tuple[Ints, Ints, Ints]:
    """The places from and to which a step's transfers go, and their elements."""
    places = _places(pattern)
    source, target, size = sizes(pattern.steps[index], pattern.slicing.bounds)
    return places[source], places[target], size


@memoized
def _places(pattern: StepsPhase) -> Ints:
    return np.array(pattern.places, dtype=np.int64)


def _link(
    schedule: Schedule,
    pattern: StepsPhase,
    found: tuple[int, int, int],
    figures: tuple[int, int],
    by_relays: bool,
) -> CrowdedLink:
    """The link in words; `found` are its direction, the place before it and the step."""
    way, place, index = found
    source, target, size = transfers(pattern, index)
    ranks = np.argsort(pattern.places)
    over = (np.minimum(source, target) <= place) & (np.maximum(source, target) > place)
    along = over & ((source > target) == bool(way))
    now = _step(pattern, index, Fraction(1))
    before, behind = (
        schedule.collective.pe_at(pattern.axis, at, pattern.lines[0]) for at in (place, place + 1)
    )
    pairs = zip(ranks[source[along]].tolist(), ranks[target[along]].tolist(), strict=True)
    return CrowdedLink(
        source=behind if way else before,
        target=before if way else behind,
        step=index,
        transfers=tuple(dict.fromkeys(pairs)),
        elements=int(size[along].sum()),
        back=int(size[over & ~along].sum()),
        total=figures[0],
        passed=int(now.passed[place]) if by_relays else 0,
        by=before,
        lost=figures[1],
    )
