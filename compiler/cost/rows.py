"""Evaluation of a phase made of steps along one line: its rows, run cycle by cycle.

A PE has one slot in a cycle. What receives or lets pass goes first, then the code, then what only
sends. An element that is sent can be used a latency later, and is sent only if there is room for it
on the way, which comes back when the receiver takes one. What code does, and how long it takes,
says `collc.cost.row_code`. All lanes of a line move at once; cycles in which nothing moves are
passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from collc.cost.operations import Costs
from collc.cost.row_code import (
    APPLY,
    CHECKED,
    CODE,
    COUNTER,
    ENDS,
    FABRIC,
    OUT,
    OVER,
    PASS,
    RECEIVE,
    RECEIVES,
    TEST,
    WAIT,
    Features,
    Here,
    Move,
    prepared,
    start,
)
from collc.plan import RowKind
from collc.unrolled import NOWHERE, WALKING, Ints, Unrolled

Bools = npt.NDArray[np.bool_]

APPLIES = int(RowKind.APPLIES)
LEAVE = -1  # a further move: what follows the phase is called
MOST = 8_000_000  # cycles of PEs that are evaluated
LEAST = 5_000  # cycles that are evaluated in any case
ROW = 70  # about what a row costs besides its elements, in cycles


@dataclass
class Code:
    """The code of one PE: its moves that are left, and by lane the row under way."""

    place: int
    lanes: list[int]  # that have rows
    row: list[int]
    due: list[int]  # operations of the row under way that have not ended
    running: int = 0
    pending: list[int] = field(default_factory=list)  # lanes whose rows have ended
    last: int = 0  # the lane whose task ran last
    moves: Iterator[Move] | None = None


@dataclass
class Timeline:
    """By lane: elements that operations have left, that have arrived and been taken, that there is
    room for. By place: instructions and cycles until the code goes on. `free` is when the
    code calls what follows, `ended` the last busy cycle.
    """

    costs: Costs
    text: Features
    rows: Unrolled
    here: list[Here]
    kinds: list[list[int]]
    walks: list[list[int]]
    numbers: list[Ints]
    target: Ints
    source: Ints
    hops: Ints
    delay: Ints  # until what was sent to a lane has arrived
    left: Ints
    passing: Bools
    sends: Ints
    arrived: Ints
    room: Ints
    slots: Ints
    ready: Ints
    wait: Ints
    active: Bools
    turn: Ints
    free: Ints
    ended: Ints
    sent: Bools  # by cycle (modulo its depth) and lane, and a last one that stands for none
    taken: Bools
    code: list[Code]
    last: int = 0  # the cycle in which something was sent or taken last


@dataclass(frozen=True, eq=False)
class Line:
    """What a line runs: its rows, by lane where what it sends goes to and what its text knows."""

    text: Features
    rows: Unrolled
    target: Ints
    here: list[Here]


def run_timeline(costs: Costs, of: Line, called: Ints, deep: Ints) -> Timeline:
    """Run all rows; at `called[p]` the code of place p, `deep[p]` functions deep, calls the
    phase."""
    line = _timeline(costs, of, called)
    for place, returns in enumerate(deep.tolist()):
        code = line.code[place]
        if code.lanes:
            code.moves = _begin(line, code, returns)
            line.active[place] = True
    now = int(line.ready.min(initial=0))
    most = max(LEAST, MOST // max(1, len(line.code)))
    middle = (0, 0.0)
    for cycle in range(most):
        if not line.active.any() and not (line.left > 0).any() and not (line.sends > 0).any():
            return line
        if cycle == most // 2:
            middle = now, _progress(line)
        now = _cycle(line, now)
    _extrapolate(line, middle, now)
    return line


def _progress(line: Timeline) -> float:
    """The part of all rows that is behind the PEs, by their elements and what a row costs."""
    behind = total = 0
    for lane, numbers in enumerate(line.numbers):
        row = line.code[lane // line.rows.lanes].row[lane % line.rows.lanes]
        weights = numbers.sum(axis=1) + ROW
        behind += int(weights[: max(row, 0)].sum())
        total += int(weights.sum())
    return behind / total


def _extrapolate(line: Timeline, middle: tuple[int, float], now: int) -> None:
    """The rest is taken to go on as fast as the second half of what has been evaluated."""
    then, before = middle
    behind = _progress(line)
    pace = (now - then) / max(behind - before, 1e-9)
    end = now + round((1 - behind) * pace)
    for code in line.code:
        if code.moves is not None or any(code.due):
            line.free[code.place], line.ended[code.place] = end, end - 1


def _timeline(costs: Costs, of: Line, called: Ints) -> Timeline:
    rows, target = of.rows, of.target
    lanes, places = len(target), len(called)
    place = np.arange(lanes) // rows.lanes
    hops = np.where(target == NOWHERE, 0, np.abs(target // rows.lanes - place))
    source = np.full(lanes, NOWHERE, dtype=np.int64)
    source[target[target != NOWHERE]] = np.flatnonzero(target != NOWHERE)
    kinds, walks, numbers = [], [], []
    for lane in range(lanes):
        own = np.arange(*rows.start[lane : lane + 2])
        own = own[(rows.kind[own] & (FABRIC | APPLIES | ENDS)) > 0]
        kinds.append([*rows.kind[own].tolist(), OVER, OVER, OVER])
        walks.append([*rows.walk[own].tolist(), 0, 0, 0])
        into, out = rows.into_to - rows.into_from, rows.out_to - rows.out_from
        numbers.append(np.stack((into[own], out[own], rows.passed[own]), axis=1))
    used = [
        [n for n in range(rows.lanes) if len(numbers[p * rows.lanes + n])] for p in range(places)
    ]
    delay = costs.latency(0) + costs.hop * hops[source]
    depth = 1 << int(max(delay.max(), hops.max() + 2)).bit_length()
    log = np.zeros((depth, lanes + 1), dtype=np.bool_)
    none = np.zeros(lanes, dtype=np.int64)
    idle = np.zeros(places, dtype=np.int64)
    return Timeline(
        costs, of.text, rows, of.here, kinds, walks, numbers, target, source, hops, delay,
        none.copy(), none > 0, none.copy(), none.copy(),
        costs.router_queue * (hops + 1) + costs.output_queue + costs.input_queue,
        idle.copy(), called.copy(), idle.copy(), idle > 0, idle.copy(),
        called.copy(), called.copy(), log, log.copy(),
        [Code(p, used[p], [-1] * rows.lanes, [0] * rows.lanes) for p in range(places)],
    )  # fmt: skip


def _cycle(line: Timeline, now: int) -> int:
    """One cycle; the next one in which something can happen."""
    mask, lanes = len(line.sent) - 1, line.rows.lanes
    line.arrived += line.sent[(now - line.delay) & mask, line.source]
    line.room += line.taken[(now - 1 - line.hops) & mask, line.target]
    high = (line.left > 0) & (line.arrived > 0) & (~line.passing | (line.room > 0))
    low = (line.sends > 0) & (line.room > 0)
    used = high if lanes == 1 else high.reshape(-1, lanes).any(axis=1)
    coding = line.active & (line.ready <= now) & ~used
    low &= np.repeat(~(used | coding), lanes)
    if lanes > 1:
        _in_turns(line, high, low)
    moves = bool(high.any() or low.any())
    line.sent[now & mask, :-1] = low | (high & line.passing)
    line.taken[now & mask, :-1] = high
    if moves:
        _move(line, now, high, low)
    if coding.any():
        line.slots -= coding
        for place in np.flatnonzero(coding & (line.slots <= 0)).tolist():
            _go_on(line, place, now)
    elif not moves:
        return _next(line, now)
    return now + 1


def _in_turns(line: Timeline, high: Bools, low: Bools) -> None:
    """Of two lanes of a PE that are able the one whose turn it is goes first."""
    for able in (high, low):
        pairs = able.reshape(-1, 2)
        both = pairs.all(axis=1)
        pairs[both, 1 - line.turn[both]] = False
        line.turn[pairs[:, 0]] = 1
        line.turn[pairs[:, 1]] = 0


def _move(line: Timeline, now: int, high: Bools, low: Bools) -> None:
    """Elements are taken and sent."""
    line.left -= high
    line.arrived -= high
    line.sends -= low
    line.room -= low | (high & line.passing)
    line.last = now
    over = np.flatnonzero((high & (line.left == 0)) | (low & (line.sends == 0)))
    for lane in over.tolist():
        line.ended[lane // line.rows.lanes] = now
        _ended(line, lane, now)


def _ended(line: Timeline, lane: int, now: int) -> None:
    """An operation has ended, and with it perhaps its row."""
    code = line.code[lane // line.rows.lanes]
    code.due[lane % line.rows.lanes] -= 1
    if code.due[lane % line.rows.lanes]:
        return
    code.pending.append(lane % line.rows.lanes)
    if not line.active[code.place]:
        _take_up(line, code, now)


def _take_up(line: Timeline, code: Code, now: int) -> None:
    """The next task that is due starts."""
    if code.last in code.pending and len(code.pending) > 1:
        code.pending.remove(code.last)
        code.pending.append(code.last)
    lane = code.pending.pop(0)
    code.last = lane
    code.moves = _task(line, code, lane)
    line.active[code.place] = True
    line.ready[code.place] = now + 1 + line.costs.task
    line.slots[code.place] = line.wait[code.place] = 0


def _next(line: Timeline, now: int) -> int:
    """The next cycle in which something can happen; nothing is sent until then."""
    depth = len(line.sent)
    if now - line.last <= depth:
        return now + 1  # something is on its way
    if not line.active.any():
        raise AssertionError("rows that the checks let pass come to their end")
    return max(now + 1, int(line.ready[line.active].min()))


def _go_on(line: Timeline, place: int, now: int) -> None:
    """The code of a PE has had the last slot of an instruction, or the first one of the next."""
    if line.slots[place] < 0:
        line.slots[place] = 0
        _moves(line, place, now)
        if not line.slots[place]:
            return
        line.slots[place] -= 1
        if line.slots[place]:
            return
    waits = int(line.wait[place])
    line.ready[place], line.wait[place] = now + 1 + waits, 0
    if not waits:
        _moves(line, place, now)


def _moves(line: Timeline, place: int, now: int) -> None:
    """What the code does at once, up to its next instruction; or its end."""
    code = line.code[place]
    assert code.moves is not None
    for what, number in code.moves:
        if what == CODE:
            if number:
                line.slots[place] = number
                return
        elif what == WAIT:
            line.slots[place], line.wait[place] = 1, number - 1
            return
        elif what == LEAVE:
            line.free[place] = now
            line.ended[place] = max(int(line.ended[place]), now - 1)
        else:
            _issue(line, what, number, now)
    code.moves = None
    line.active[place] = False
    if code.pending:
        _take_up(line, code, now)


def _issue(line: Timeline, what: int, lane: int, now: int) -> None:
    """An operation starts."""
    into, out, passed = line.numbers[lane][
        line.code[lane // line.rows.lanes].row[lane % line.rows.lanes]
    ]
    if what == RECEIVE:
        line.left[lane], line.passing[lane] = into, False
    elif what == PASS:
        line.left[lane], line.passing[lane] = passed, True
    else:
        line.sends[lane] = out


# --- the code, as moves


def _begin(line: Timeline, code: Code, deep: int) -> Iterator[Move]:
    """The phase is called; `deep` functions return behind it."""
    text = line.text
    yield CODE, (8 if text.backward else 3) if text.walks else 0
    for lane in code.lanes:
        yield CODE, 1 + _prepared(line, code, lane)
    yield from _steps(line, code)
    yield CODE, 1 + deep


def _lane(line: Timeline, code: Code, lane: int) -> int:
    return code.place * line.rows.lanes + lane


def _prepared(line: Timeline, code: Code, lane: int) -> int:
    """Instructions that prepare the row behind the one under way."""
    at = _lane(line, code, lane)
    return prepared(line.text, line.here[at], line.kinds[at][code.row[lane] + 1])


def _start(line: Timeline, code: Code, lane: int) -> Iterator[Move]:
    """The prepared row becomes the one under way."""
    code.row[lane] += 1
    at, row = _lane(line, code, lane), code.row[lane]
    kind = line.kinds[at][row]
    code.due[lane] = (kind & OUT > 0) + (kind & RECEIVES > 0)
    for what, number in start(line.text, line.here[at], kind, line.walks[at][row]):
        if what == APPLY:
            yield CODE, _applying(line, int(line.numbers[at][row][0]), number > 0)
        else:
            yield what, at if what > WAIT else number


def _applying(line: Timeline, size: int, combines: bool) -> int:
    """Cycles to take what is staged to the vector."""
    costs = line.costs
    if combines and costs.maps:
        return size * costs.combine
    return -(-size // (costs.apply_rate if combines else costs.move_rate))


def _prepares(line: Timeline, code: Code, lane: int) -> Iterator[Move]:
    """Behind a start: the next row is prepared, unless the one under way goes on by itself."""
    at, row = _lane(line, code, lane), code.row[lane]
    yield CODE, CHECKED * line.text.walks
    if line.walks[at][row + 1] < WALKING:
        yield CODE, _prepared(line, code, lane)


def _continued(line: Timeline, code: Code, lane: int) -> Iterator[Move]:
    """`go_on`, with call and return."""
    kinds, test = line.kinds[_lane(line, code, lane)], 1 + TEST
    yield CODE, 1
    yield from _prepares(line, code, lane)
    yield CODE, test
    if not kinds[code.row[lane]] & FABRIC:
        yield CODE, test
        while not kinds[code.row[lane]] & (FABRIC | ENDS):
            yield from _start(line, code, lane)
            yield from _prepares(line, code, lane)
            yield CODE, 1 + test
        yield CODE, test
        if not kinds[code.row[lane]] & FABRIC:
            yield CODE, COUNTER
            code.running -= 1
    yield CODE, 1


def _task(line: Timeline, code: Code, lane: int) -> Iterator[Move]:
    """A row has ended."""
    at, text = _lane(line, code, lane), line.text
    if text.lanes > 1:
        yield CODE, 1 + TEST
    elif text.walks:
        yield CODE, CHECKED
        if line.walks[at][code.row[lane] + 1] >= WALKING:
            yield from _start(line, code, lane)
            yield from _prepares(line, code, lane)
            yield CODE, 1
            return
    if line.kinds[at][code.row[lane]] & ENDS:
        yield CODE, COUNTER + 1
        code.running -= 1
    else:
        yield from _start(line, code, lane)
        yield from _continued(line, code, lane)
    yield CODE, CHECKED
    if code.running == 0:
        yield from _steps(line, code)
    yield CODE, 1


def _steps(line: Timeline, code: Code) -> Iterator[Move]:
    """Steps begin until one is under way, with call and return."""
    lanes = line.text.lanes
    yield CODE, 1 + CHECKED
    while code.running == 0:
        yield CODE, 2 * lanes - 1 + TEST
        first = _lane(line, code, code.lanes[0])
        if line.kinds[first][code.row[code.lanes[0]] + 1] & OVER & ~ENDS:
            yield CODE, 1
            yield LEAVE, 0
            break
        yield CODE, 1
        code.running = len(code.lanes)
        for lane in code.lanes:
            yield from _start(line, code, lane)
        for lane in code.lanes:
            yield from _continued(line, code, lane)
        yield CODE, 1 + CHECKED
    yield CODE, 1
