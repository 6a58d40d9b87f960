"""The rows of a line, moved in compiled loops; `collc.checks.step_table_run` says what they are.

In reading order: the types, `run_line`, how rows begin, who takes what from whom, what becomes of
it, when rows end, `deliver`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from collc.compiled import compiled, inlined

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

NOWHERE = -1
FINE, NOT_STAGED, OTHER_SLICES, STAGED_TWICE = range(4)  # how `run_line` ends


class Line(NamedTuple):
    """The rows of all lanes, `lanes` of them at each place, and how far they are.

    By lane: its rows, `start[lane]` to `start[lane + 1] - 1`, and the `target` of what it sends; by
    row: from which element on how many are sent (`out`), received (`into`) and let pass, and what
    is done with those received. `slice_at` is the number of the slice that begins at an element, or
    NOWHERE. Elements go from the first to the last, or `backward`.

    What changes: by place and slice what is `held`, and staged in each area; by lane the row that
    it is `at`, what is left of that, whether it `waits` for the others to end the step.
    """

    lanes: int
    backward: bool
    start: Ints
    target: Ints
    slice_at: Ints
    out_from: Ints
    out: Ints
    into_from: Ints
    into: Ints
    passed: Ints
    area: Ints
    receives: Flags
    applies: Flags
    combines: Flags
    stages: Flags
    ends: Flags
    held: Words
    stage: Words
    at: Ints
    out_left: Ints
    pass_left: Ints
    into_left: Ints
    waits: Flags


class Moves(NamedTuple):
    """The transfers of a round: lanes, the first slices sent and received, how many."""

    senders: Ints
    receivers: Ints
    low: Ints
    into: Ints
    sizes: Ints


@compiled
def run_line(line: Line) -> tuple[int, int]:
    """Run all rows as far as they come; how that ends, and at which place.

    All transfers that can happen happen at once, round by round: what is sent is read before
    anything is written.
    """
    begin = np.flatnonzero(line.at < line.start[1:])
    begins = len(begin)
    begin = np.concatenate((begin, np.zeros(len(line.at) - begins, dtype=np.int64)))
    of = line.at
    moves = Moves(of.copy(), of.copy(), of.copy(), of.copy(), of.copy())
    values = np.empty(len(of), dtype=np.uint64)
    while True:
        for lane in begin[:begins]:
            problem = _begin(line, lane)
            if problem != FINE:
                return problem, lane // line.lanes
        count = _find(line, moves)
        total = 0
        for move in range(count):
            if not _place(line, moves, move):
                return OTHER_SLICES, moves.receivers[move] // line.lanes
            total += moves.sizes[move]
        if total > len(values):
            values = np.empty(2 * total, dtype=np.uint64)
        _read(line, moves, count, values)
        problem, place = _write(line, moves, count, values)
        if problem != FINE:
            return problem, place
        ended, begins = _advance(line, begin)
        if not ended and count == 0:
            return FINE, NOWHERE


@inlined
def _begin(line: Line, lane: int) -> int:
    """The row that the lane is in begins; if it only applies what is staged, that happens now."""
    row = line.at[lane]
    line.out_left[lane] = line.out[row]
    line.pass_left[lane] = line.passed[row]
    line.into_left[lane] = line.into[row] if line.receives[row] else 0
    if not line.applies[row]:
        return FINE
    low = _slice(line, line.into_from[row])
    high = _slice(line, line.into_from[row] + line.into[row])
    if NOWHERE in (low, high):
        return OTHER_SLICES
    place = lane // line.lanes
    own, staged = line.held[place], line.stage[place, line.area[row]]
    for number in range(low, high):
        if staged[number] == 0:
            return NOT_STAGED
        taken = staged[number]
        own[number] = combined(own[number], taken) if line.combines[row] else taken
        staged[number] = 0
    return FINE


@inlined
def _slice(line: Line, element: int) -> int:
    """The slice that begins there."""
    return line.slice_at[element] if 0 <= element < len(line.slice_at) else NOWHERE


@inlined
def _find(line: Line, moves: Moves) -> int:
    """The transfers that can happen now, `sizes` in elements; how many."""
    count = 0
    for lane in range(len(line.at)):
        if line.out_left[lane] > 0 and line.target[lane] != NOWHERE:
            receiver, amount = _take(line, lane)
            if amount > 0:
                moves.senders[count], moves.receivers[count] = lane, receiver
                moves.sizes[count] = amount
                count += 1
    return count


@inlined
def _take(line: Line, sender: int) -> tuple[int, int]:
    """The lane that takes what a lane sends, and how much may move; that is taken off what the PEs
    between still let pass."""
    first = line.target[sender]
    at, amount, hops = first, line.out_left[sender], 0
    while at != NOWHERE and line.pass_left[at] > 0 and hops < len(line.target):
        amount = min(amount, line.pass_left[at])
        at = line.target[at]
        hops += 1
    ends = at != NOWHERE and line.pass_left[at] == 0
    amount = min(amount, line.into_left[at]) if ends else 0
    for _ in range(hops):
        line.pass_left[first] -= amount
        first = line.target[first]
    return at, amount


@inlined
def _place(line: Line, moves: Moves, move: int) -> bool:
    """The slices of a transfer, and its elements off what is left; whether those that are sent are
    those that are received."""
    sender, receiver, amount = moves.senders[move], moves.receivers[move], moves.sizes[move]
    out, into = line.at[sender], line.at[receiver]
    line.out_left[sender] -= amount
    line.into_left[receiver] -= amount
    if line.backward:
        first = line.out_from[out] + line.out_left[sender]
        there = line.into_from[into] + line.into_left[receiver]
    else:
        first = line.out_from[out] + line.out[out] - line.out_left[sender] - amount
        there = line.into_from[into] + line.into[into] - line.into_left[receiver] - amount
    low, high = _slice(line, first), _slice(line, first + amount)
    at, end = _slice(line, there), _slice(line, there + amount)
    moves.low[move], moves.into[move], moves.sizes[move] = low, at, high - low
    return NOWHERE not in (low, high, at, end) and high - low == end - at


@inlined
def _read(line: Line, moves: Moves, count: int, values: Words) -> None:
    """What is sent, one transfer after the other."""
    first = 0
    for move in range(count):
        own = line.held[moves.senders[move] // line.lanes]
        for index in range(moves.sizes[move]):
            values[first + index] = own[moves.low[move] + index]
        first += moves.sizes[move]


@inlined
def _write(line: Line, moves: Moves, count: int, values: Words) -> tuple[int, int]:
    """What has been read goes where it is received; what is wrong, and at which place."""
    first = 0
    for move in range(count):
        lane = moves.receivers[move]
        for index in range(moves.sizes[move]):
            problem = _arrives(line, lane, moves.into[move] + index, values[first + index])
            if problem != FINE:
                return problem, lane // line.lanes
        first += moves.sizes[move]
    return FINE, NOWHERE


@inlined
def _arrives(line: Line, lane: int, number: int, value: np.uint64) -> int:
    """A slice is combined, stored or staged."""
    row, place = line.at[lane], lane // line.lanes
    if line.stages[row]:
        area = line.stage[place, line.area[row]]
        if area[number] != 0:
            return STAGED_TWICE
        area[number] = value
    else:
        own = line.held[place]
        own[number] = combined(own[number], value) if line.combines[row] else value
    return FINE


@inlined
def _advance(line: Line, begin: Ints) -> tuple[bool, int]:
    """Lanes whose rows have ended go on, at the end of a step once all lanes of the place are
    there. Whether any have, and how many are to `begin` a row."""
    begins, ended = 0, False
    for lane in range(len(line.at)):
        row = line.at[lane]
        if row == line.start[lane + 1] or line.waits[lane]:
            continue
        if line.out_left[lane] + line.pass_left[lane] + line.into_left[lane] > 0:
            continue
        ended = True
        line.at[lane] += 1
        if line.ends[row]:
            line.waits[lane] = True
        elif row + 1 < line.start[lane + 1]:
            begin[begins] = lane
            begins += 1
    if ended:
        for place in range(len(line.at) // line.lanes):
            begins = _join(line, place * line.lanes, begin, begins)
    return ended, begins


@inlined
def _join(line: Line, first: int, begin: Ints, begins: int) -> int:
    """If all lanes of a place have come to the end of their step, those that wait go on; how many
    are to `begin` a row then."""
    for lane in range(first, first + line.lanes):
        if not line.waits[lane] and line.at[lane] < line.start[lane + 1]:
            return begins
    for lane in range(first, first + line.lanes):
        if line.waits[lane]:
            line.waits[lane] = False
            if line.at[lane] < line.start[lane + 1]:
                begin[begins] = lane
                begins += 1
    return begins


@inlined
def combined(own: np.uint64, received: np.uint64) -> np.uint64:
    """A number for the combination of two, in this order."""
    return (own * np.uint64(0x9E3779B97F4A7C15)) ^ (
        received * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(1)
    )


@compiled
def deliver(held: Words, target: Ints, into: Ints, values: Words, combines: Flags) -> None:
    """Values into slices of places, one after the other."""
    for number in range(len(values)):
        own = held[target[number]]
        slice_, value = into[number], values[number]
        own[slice_] = combined(own[slice_], value) if combines[number] else value
