"""The cost model of an algorithm by steps, followed rank by rank.

A rank goes on when it has sent and taken all its elements of a step, of which its instructions take
one a cycle, and when the last one has arrived. A link carries one a cycle, too. Nothing else takes
time, so no plan is faster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collc.steps import Moves, StepsPhase
from collc.target import Target
from collc.unrolled import Ints


@dataclass(frozen=True, eq=False)
class Steps:
    """By rank: when it has ended all steps, how long it has been busy with elements, in how many
    steps it took part. `hops` are the longest ways of all steps, `crowded` the elements of the
    busiest link; `chain` are the transfers on the way to the last rank: step, source, destination.
    """

    time: Ints
    busy: Ints
    rows: Ints
    hops: int
    crowded: int
    chain: tuple[tuple[int, int, int], ...]


def follow_steps(phase: StepsPhase, target: Target) -> Steps:
    """Follow all steps of a phase."""
    # two elements may be sent and taken as one where they are cut as one
    bounds = phase.slicing.bounds // phase.slicing.grain
    places = np.array(phase.places)
    time = np.zeros(phase.ranks, dtype=np.int64)
    busy, rows, hops = time.copy(), time.copy(), 0
    links = np.zeros((2, phase.ranks), dtype=np.int64)  # eastward, westward: beginnings less ends
    causes: list[dict[int, int]] = []  # by step: for whom a rank waited at its end
    for moves in phase.steps:
        source, destination, size = sizes(moves, bounds)
        far = np.abs(places[source] - places[destination]) * target.hop
        work = np.zeros_like(time)
        np.add.at(work, source, size)
        np.add.at(work, destination, size)
        time = time + np.where(work > 0, step_begins(target), 0)
        arrived = time[source] + size + 2 * target.ramp + far
        time = time + work
        late = arrived > time[destination]
        np.maximum.at(time, destination, arrived)
        last = late & (arrived == time[destination])
        causes.append(dict(zip(destination[last].tolist(), source[last].tolist(), strict=True)))
        busy, rows, hops = busy + work, rows + (work > 0), hops + int(far.max(initial=0))
        ways = (places[source] > places[destination]).astype(np.int64)
        np.add.at(links, (ways, np.minimum(places[source], places[destination])), size)
        np.add.at(links, (ways, np.maximum(places[source], places[destination])), -size)
    crowded = int(links.cumsum(axis=1).max())
    return Steps(time, busy, rows, hops, crowded, _chain(causes, int(time.argmax())))


def step_begins(target: Target) -> int:
    """What it takes at least to begin a step: a task, an operand's descriptor, an operation."""
    return target.task_start + target.dsr_load + target.op_issue


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
