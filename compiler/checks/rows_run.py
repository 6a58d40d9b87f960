"""The rows of one line, run without any buffer; `collc.checks.rows_delivery` judges the result.

An element moves only when its sender, all PEs that let it pass and its receiver are in the rows
that say so, which is less than any fabric does: whatever comes to its end here does so with
buffers, too. Each PE does one thing after the other on a lane, and every lane has one source, so
the end does not depend on who goes first. All transfers that can happen happen at once, round by
round.

What the slices hold is followed by a number for each place and slice; combining two numbers gives
one that depends on both and on their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collc.checks.chains import follow
from collc.plan import Exchange, RowKind
from collc.steps import StepsPhase
from collc.unrolled import NOWHERE, RELAYING, SENDING, Ints, Unrolled

Words = npt.NDArray[np.uint64]

ENDS, RECEIVES, APPLIES = int(RowKind.ENDS), int(RowKind.RECEIVES), int(RowKind.APPLIES)
COMBINES, STAGES = int(RowKind.COMBINES), int(RowKind.STAGES)


def combined(own: Words, received: Words) -> Words:
    """A number for the combination of two, in this order."""
    return (own * np.uint64(0x9E3779B97F4A7C15)) ^ (
        received * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(1)
    )


def beginning(places: int, slices: int) -> Words:
    """What places hold before the phase: all different."""
    rng = np.random.default_rng(2026)
    return rng.integers(1, 1 << 63, size=(places, slices), dtype=np.uint64)


@dataclass
class Run:
    """The state: by lane the row it is in, what its row has left, whether it waits for the others
    to end the step; by place and slice (of those that are not empty) what is held and staged.

    All rows pass their elements from the first to the last, or `backward`. `problem` says what a
    transfer did that no program may do.
    """

    rows: Unrolled
    target: Ints
    source: Ints
    bounds: Ints
    held: Words
    stage: Words
    at: Ints
    out_left: Ints
    pass_left: Ints
    into_left: Ints
    waits: npt.NDArray[np.bool_]
    backward: bool
    problem: str = ""

    @property
    def stuck(self) -> Ints:
        """The lanes that have not come to their end."""
        return np.flatnonzero(self.at < self.rows.start[1:])


def run_rows(rows: Unrolled, target: Ints, exchange: Exchange) -> Run:
    """Run all rows as far as they come."""
    slicing = exchange.slicing
    lanes = len(target)
    bounds = np.unique(slicing.bounds)
    source = np.full(lanes, NOWHERE, dtype=np.int64)
    source[target[target != NOWHERE]] = np.flatnonzero(target != NOWHERE)
    places, slices = rows.places, len(bounds) - 1
    zeros = np.zeros(lanes, dtype=np.int64)
    run = Run(
        rows,
        target,
        source,
        bounds,
        beginning(places, slices),
        np.zeros((places, max(exchange.areas, 1), slices), dtype=np.uint64),
        rows.start[:-1].copy(),
        zeros.copy(),
        zeros.copy(),
        zeros.copy(),
        np.zeros(lanes, dtype=np.bool_),
        exchange.backward,
    )
    _begin(run, np.flatnonzero(run.at < rows.start[1:]))
    while not run.problem:
        moved = _transfer(run)
        if not (_advance(run) or moved):
            break
    return run


def _begin(run: Run, lanes: Ints) -> None:
    """The rows that these lanes are in begin."""
    at, rows = run.at[lanes], run.rows
    kind = rows.kind[at]
    run.out_left[lanes] = np.where(kind & SENDING, rows.out_to[at] - rows.out_from[at], 0)
    run.pass_left[lanes] = np.where(kind & RELAYING, rows.passed[at], 0)
    run.into_left[lanes] = np.where(kind & RECEIVES, rows.into_to[at] - rows.into_from[at], 0)
    applies = (kind & APPLIES) > 0
    if applies.any():
        _apply(run, lanes[applies])


def _apply(run: Run, lanes: Ints) -> None:
    """Take what is staged to the vector; several lanes of a PE do so one after the other."""
    rows, at = run.rows, run.at[lanes]
    for lane, row in zip(lanes.tolist(), at.tolist(), strict=True):
        place = lane // rows.lanes
        low, high = np.searchsorted(run.bounds, (rows.into_from[row], rows.into_to[row]))
        staged = run.stage[place, rows.area[row], low:high]
        if not staged.all():
            run.problem = f"place {place} applies slices that it has not received"
        own = run.held[place, low:high]
        own[...] = combined(own, staged) if rows.kind[row] & COMBINES else staged
        staged[...] = 0


def _transfer(run: Run) -> bool:
    """Move what can be moved; whether anything was."""
    senders = np.flatnonzero((run.out_left > 0) & (run.target != NOWHERE))
    if not len(senders):
        return False
    receivers, amount = follow(senders, run.target, run.out_left, run.pass_left, run.into_left)
    ready = amount > 0
    senders, receivers, amount = senders[ready], receivers[ready], amount[ready]
    if not len(senders):
        return False
    _move(run, senders, receivers, amount)
    run.out_left[senders] -= amount
    run.into_left[receivers] -= amount
    return True


def _move(run: Run, senders: Ints, receivers: Ints, amount: Ints) -> None:
    """Take whole slices from the senders' vectors to the receivers', or their stages."""
    rows, bounds = run.rows, run.bounds
    out, into = run.at[senders], run.at[receivers]
    if run.backward:
        first = rows.out_from[out] + run.out_left[senders] - amount
        there = rows.into_from[into] + run.into_left[receivers] - amount
    else:
        first = rows.out_to[out] - run.out_left[senders]
        there = rows.into_to[into] - run.into_left[receivers]
    low, high = (np.searchsorted(bounds, edge) for edge in (first, first + amount))
    at, end = (np.searchsorted(bounds, edge) for edge in (there, there + amount))
    whole = (
        (bounds[low] == first)
        & (bounds[high] == first + amount)
        & (bounds[at] == there)
        & (bounds[end] == there + amount)
        & (high - low == end - at)
    )
    if not whole.all():
        lane = int(receivers[~whole][0])
        run.problem = f"place {lane // rows.lanes} receives other slices than are sent to it"
        return
    many = np.repeat(np.arange(len(senders)), high - low)
    step = np.arange(len(many)) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
    values = run.held[senders[many] // rows.lanes, low[many] + step]
    place, slice_ = receivers[many] // rows.lanes, at[many] + step
    kind, area = rows.kind[into][many], rows.area[into][many]
    own = run.held[place, slice_]
    staged, combines = (kind & STAGES) > 0, (kind & COMBINES) > 0
    new = np.where(combines, combined(own, values), values)
    run.held[place[~staged], slice_[~staged]] = new[~staged]
    if (run.stage[place[staged], area[staged], slice_[staged]] != 0).any():
        run.problem = "two transfers of a step are staged in one place"
    run.stage[place[staged], area[staged], slice_[staged]] = values[staged]


def _advance(run: Run) -> bool:
    """Lanes whose rows have ended go on; whether any did."""
    rows = run.rows
    running = (run.at < rows.start[1:]) & ~run.waits
    left = run.out_left + run.pass_left + run.into_left
    ended = np.flatnonzero(running & (left == 0))
    last = (rows.kind[run.at[ended]] & ENDS) > 0
    run.at[ended] += 1
    run.waits[ended[last]] = True
    going = ended[~last]
    by_place = run.waits.reshape(-1, rows.lanes)
    over = (run.at >= rows.start[1:]).reshape(-1, rows.lanes)
    joined = np.asarray((by_place | over).all(axis=1) & by_place.any(axis=1))
    freed = np.flatnonzero((by_place & joined[:, None]).reshape(-1))
    run.waits[freed] = False
    begin = np.concatenate((going, freed))
    begin = begin[run.at[begin] < rows.start[1:][begin]]
    _begin(run, begin)
    return len(ended) > 0


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
        into = number[moves.into[many]] + step
        _deliver(held, target, into, values, moves.combines[many])
    return held


def _deliver(
    held: Words, target: Ints, into: Ints, values: Words, combines: npt.NDArray[np.bool_]
) -> None:
    """Values into slices; several into one slice in their order."""
    key = target * held.shape[1] + into
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    turn = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    for number in range(int(turn.max(initial=-1)) + 1):
        now = order[turn == number]
        own = held[target[now], into[now]]
        held[target[now], into[now]] = np.where(
            combines[now], combined(own, values[now]), values[now]
        )
