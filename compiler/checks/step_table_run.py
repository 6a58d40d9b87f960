"""The rows of one line, run without any buffer, for `collc.checks.traffic.rows_delivery` to judge.

An element moves only when its sender, all PEs that let it pass and its receiver are in the rows
that say so, which is less than any fabric does: whatever comes to its end here does so with
buffers, too. Each PE does one thing after the other on a lane, and every lane has one source, so
the end does not depend on who goes first. `collc_evaluator` runs them.

What the slices hold is followed by a number for each place and slice; combining two numbers gives
one that depends on both and on their order.
"""

import numpy as np
from collc_evaluator import deliver, run_untimed

from collc.base.columns import Bools, Ints, Words, repeated_rows
from collc.base.values import dataclass
from collc.plan import Phase, RowKind
from collc.plan.unrolled import RELAYING, SENDING, Unrolled
from collc.spec.exchange import StepsPhase

ENDS, RECEIVES, APPLIES = int(RowKind.ENDS), int(RowKind.RECEIVES), int(RowKind.APPLIES)
COMBINES, STAGES = int(RowKind.COMBINES), int(RowKind.STAGES)

_PROBLEMS = {
    "not staged": "place {place} applies slices that it has not received",
    "other slices": "place {place} receives other slices than are sent to it",
    "staged twice": "two transfers of a step are staged in one place",
}


def beginning(places: int, slices: int) -> Words:
    """What places hold before the phase: all different."""
    rng = np.random.default_rng(2026)
    return rng.integers(1, 1 << 63, size=(places, slices), dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Run:
    """What a line has come to: what places hold, what a transfer did that no program may do, and
    the lanes that have not come to their end, with what they wait for. `bounds` are those of the
    slices that are not empty."""

    held: Words
    bounds: Ints
    problem: str
    stuck: list[tuple[int, str]]


@dataclass(frozen=True, eq=False)
class _Tables:
    """The rows as `collc_evaluator` takes them: first elements and counts."""

    lanes_each: int
    backward: bool
    start: Ints
    target: Ints
    bounds: Ints
    areas: int
    out_from: Ints
    out: Ints
    into_from: Ints
    into: Ints
    passed: Ints
    area: Ints
    receives: Bools
    applies: Bools
    combines: Bools
    stages: Bools
    ends: Bools


def run_rows(rows: Unrolled, target: Ints, phase: Phase) -> Run:
    """Run all rows as far as they come; `target` says where lanes send to."""
    bounds = np.unique(phase.slicing.bounds)
    kind = rows.kind
    tables = _Tables(
        rows.lanes,
        phase.backward,
        rows.start,
        target,
        bounds,
        max(phase.areas, 1),
        rows.out_from,
        np.where(kind & SENDING, rows.out_to - rows.out_from, 0),
        rows.into_from,
        rows.into_to - rows.into_from,
        np.where(kind & RELAYING, rows.passed, 0),
        rows.area,
        (kind & RECEIVES) > 0,
        (kind & APPLIES) > 0,
        (kind & COMBINES) > 0,
        (kind & STAGES) > 0,
        (kind & ENDS) > 0,
    )
    held, wrong, stuck = run_untimed(tables, beginning(rows.places, len(bounds) - 1))
    problem = _PROBLEMS[wrong[0]].format(place=wrong[1]) if wrong else ""
    return Run(held, bounds, problem, stuck)


def due(pattern: StepsPhase) -> Words:
    """What places hold after the phase, by the schedule, of the slices that are not empty."""
    slicing = pattern.slicing
    bounds = slicing.bounds
    number = np.cumsum(bounds[1:] > bounds[:-1])
    number = np.concatenate(([0], number))  # of each slice, how many before it are not empty
    held = beginning(pattern.ranks, int(number[-1]))
    places = np.array(pattern.places)
    for moves in pattern.steps:
        low, high = number[moves.slice], number[moves.slice + moves.count]
        sizes = high - low
        many, step = repeated_rows(sizes)
        source, target = places[moves.source[many]], places[moves.destination[many]]
        values = held[source, low[many] + step]
        deliver(held, target, number[moves.into[many]] + step, values, moves.combines[many])
    return held
