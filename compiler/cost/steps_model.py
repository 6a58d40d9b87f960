"""The cost model of an algorithm by steps, followed rank by rank.

A rank goes on when it has sent and taken all its elements of a step, of which its instructions take
one a cycle, and when the last one has arrived. A link carries one a cycle, too. Nothing else takes
time, so no plan is faster. Elements are counted as the fabric sees them, two of 16 bits as one
where they travel so. Of these an instruction takes two a cycle if it is wide, but no link does.
"""

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.plan import Plan
from collc.schedule import Schedule
from collc.spec import Contract
from collc.spec.exchange import Moves, StepsPhase
from collc.spec.simd import PAIR, slices_go_in_pairs
from collc.target import Target


@dataclass(frozen=True, eq=False)
class Steps:
    """By rank: when it has ended all steps, how long it has been busy with elements, in how many
    steps it took part. `hops` are the longest ways of all steps, `link_load` the elements of the
    busiest link; `chain` are the transfers on the way to the last rank: step, source, destination.
    """

    time: Ints
    busy: Ints
    rows: Ints
    hops: int
    link_load: int
    chain: tuple[tuple[int, int, int], ...]


def steps_at_least(schedule: Schedule, plan: Plan) -> int:
    """Cycles that a plan takes at least for phases of a schedule that it carries out by steps."""
    by_steps = [
        follow_steps(one, plan.collective.contract, plan.target)
        for one, phase in zip(schedule.phases, plan.phases, strict=True)
        if phase.has_loops and isinstance(one, StepsPhase)
    ]
    return max((max(int(one.time.max()), one.link_load) for one in by_steps), default=0)


@memoized
def follow_steps(phase: StepsPhase, contract: Contract, target: Target) -> Steps:
    """Follow all steps of a phase."""
    packed = PAIR if slices_go_in_pairs(phase, contract, target) else 1
    bounds = phase.slicing.bounds * contract.element.words // packed
    places = np.array(phase.places)
    time = np.zeros(phase.ranks, dtype=np.int64)
    busy, rows, hops = time.copy(), time.copy(), 0
    links = np.zeros((2, phase.ranks), dtype=np.int64)
    causes: list[dict[int, int]] = []  # by step: for whom a rank waited at its end
    for moves in phase.steps:
        source, destination, size = sizes(moves, bounds)
        far = np.abs(places[source] - places[destination]) * target.hop
        work = busy_with(moved_by(source, destination, size, phase.ranks), phase)
        time = time + np.where(work > 0, step_begins(target), 0)
        arrived = time[source] + size + target.visit - 1 + far
        time = time + work
        late = arrived > time[destination]
        np.maximum.at(time, destination, arrived)
        last = late & (arrived == time[destination])
        causes.append(dict(zip(destination[last].tolist(), source[last].tolist(), strict=True)))
        busy, rows, hops = busy + work, rows + (work > 0), hops + int(far.max(initial=0))
        links += over_links(places[source], places[destination], size, phase.ranks)
    link_load = int(links.max())
    return Steps(time, busy, rows, hops, link_load, _chain(causes, int(time.argmax())))


def moved_by(source: Ints, destination: Ints, size: Ints, ranks: int) -> Ints:
    """What each rank, or place, sends in a step, and what it takes."""
    moved = np.zeros((2, ranks), dtype=np.int64)
    np.add.at(moved[0], source, size)
    np.add.at(moved[1], destination, size)
    return moved


def busy_with(moved: Ints, phase: StepsPhase) -> Ints:
    """How long it takes to send and take that; at once if the phase is wide, at a link's pace."""
    busy: Ints = moved.max(axis=0) if phase.wide else moved.sum(axis=0)
    return busy


def over_links(source: Ints, target: Ints, size: Ints, ranks: int) -> Ints:
    """What goes over the links of a line in a step whose transfers go from place to place, as
    [eastward or westward, place before the link]."""
    over = np.zeros(2 * ranks, dtype=np.int64)
    way = np.where(source > target, ranks, 0)
    np.add.at(over, way + np.minimum(source, target), size)
    np.add.at(over, way + np.maximum(source, target), -size)
    return over.reshape(2, ranks).cumsum(axis=1)


def step_begins(target: Target) -> int:
    """What it takes at least to begin a step: a task that asks what to do. The operand was loaded
    in the step before, and words may have come before the operation is issued."""
    engine = target.cycles.engine
    return engine.task_start + engine.no_jump


def sizes(moves: Moves, bounds: Ints) -> tuple[Ints, Ints, Ints]:
    """Who sends how many elements to whom, where there are any."""
    size = bounds[moves.slice + moves.count] - bounds[moves.slice]
    kept = size > 0
    return moves.source[kept], moves.destination[kept], size[kept]


def _chain(causes: list[dict[int, int]], rank: int) -> tuple[tuple[int, int, int], ...]:
    """The transfers that a rank's end goes back to, the first one first."""
    found = []
    for step in range(len(causes) - 1, -1, -1):
        if rank in causes[step]:
            found.append((step, causes[step][rank], rank))
            rank = causes[step][rank]
    return tuple(reversed(found))
