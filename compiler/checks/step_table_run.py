"""The rows of one line, run without any buffer, for `collc.checks.step_table_delivery` to judge.

An element moves only when its sender, all PEs that let it pass and its receiver are in the rows
that say so, which is less than any fabric does: whatever comes to its end here does so with
buffers, too. Each PE does one thing after the other on a lane, and every lane has one source, so
the end does not depend on who goes first. `collc.checks.rows_moves` runs them.

What the slices hold is followed by a number for each place and slice; combining two numbers gives
one that depends on both and on their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collc.checks.rows_moves import (
    FINE,
    NOT_STAGED,
    NOWHERE,
    OTHER_SLICES,
    STAGED_TWICE,
    Ints,
    Line,
    Words,
    deliver,
    run_line,
)
from collc.plan import Exchange, RowKind
from collc.plan.unrolled import RELAYING, SENDING, Unrolled
from collc.spec.exchange import StepsPhase

ENDS, RECEIVES, APPLIES = int(RowKind.ENDS), int(RowKind.RECEIVES), int(RowKind.APPLIES)
COMBINES, STAGES = int(RowKind.COMBINES), int(RowKind.STAGES)

_PROBLEMS = {
    FINE: "",
    NOT_STAGED: "place {place} applies slices that it has not received",
    OTHER_SLICES: "place {place} receives other slices than are sent to it",
    STAGED_TWICE: "two transfers of a step are staged in one place",
}


def beginning(places: int, slices: int) -> Words:
    """What places hold before the phase: all different."""
    rng = np.random.default_rng(2026)
    return rng.integers(1, 1 << 63, size=(places, slices), dtype=np.uint64)


@dataclass(frozen=True)
class Run:
    """What a line has come to: `problem` says what a transfer did that no program may do, `bounds`
    are those of the slices that are not empty."""

    rows: Unrolled
    line: Line
    bounds: Ints
    problem: str

    @property
    def stuck(self) -> Ints:
        """The lanes that have not come to their end."""
        return np.flatnonzero(self.line.at < self.rows.start[1:])


def run_rows(rows: Unrolled, target: Ints, exchange: Exchange) -> Run:
    """Run all rows as far as they come; `target` says where lanes send to."""
    bounds = np.unique(exchange.slicing.bounds)
    slice_at = np.full(bounds[-1] + 1, NOWHERE, dtype=np.int64)
    slice_at[bounds] = np.arange(len(bounds))
    places, slices, kind = rows.places, len(bounds) - 1, rows.kind
    zeros = np.zeros(len(target), dtype=np.int64)
    line = Line(
        rows.lanes,
        exchange.backward,
        rows.start,
        target,
        slice_at,
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
        beginning(places, slices),
        np.zeros((places, max(exchange.areas, 1), slices), dtype=np.uint64),
        rows.start[:-1].copy(),
        zeros.copy(),
        zeros.copy(),
        zeros.copy(),
        np.zeros(len(target), dtype=np.bool_),
    )
    end, place = run_line(line)
    return Run(rows, line, bounds, _PROBLEMS[end].format(place=place))


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
        many = np.repeat(np.arange(len(moves)), sizes)
        step = np.arange(len(many)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        source, target = places[moves.source[many]], places[moves.destination[many]]
        values = held[source, low[many] + step]
        deliver(held, target, number[moves.into[many]] + step, values, moves.combines[many])
    return held
