"""Evaluation of a phase made of steps along one line: its rows, run cycle by cycle.

A PE has one slot in a cycle. What receives or lets pass goes first, then the code, then what only
sends; equals take turns. What is written waits in the lane's output queue for the ramp, which all
lanes of a PE share, and for room on its way, which comes back when the receiver takes an element.
A latency later it is at the other end's ramp, goes down it as soon as the lane's input queue has
room, and can be used. What code does, and how long it takes, says `collc.cost.row_code`. All lanes
of a line move at once; cycles in which nothing moves are passed over.
"""

from __future__ import annotations

import numpy as np

from collc.cost.operations import Costs
from collc.cost.row_code import CODE, PASS, SEND, WAIT
from collc.cost.row_moves import LEAVE, begin, task
from collc.cost.steady import EVERY, PERIOD, leap, snapshot
from collc.cost.timeline import WRITTEN, Bools, Code, Line, Timeline, timeline
from collc.unrolled import Ints

MOST = 1_500_000_000  # that are evaluated, of cycles times lanes; a cycle is as much as 1000 lanes
ROW = 70  # about what a row costs besides its elements, in cycles


def run_timeline(costs: Costs, of: Line, called: Ints, deep: Ints) -> Timeline:
    """Run all rows; at `called[p]` the code of place p, `deep[p]` functions deep, calls the
    phase."""
    line = timeline(costs, of, called)
    for place, returns in enumerate(deep.tolist()):
        code = line.code[place]
        if code.lanes:
            code.moves = begin(line, code, returns)
            line.active[place] = True
    now = int(line.ready.min(initial=0))
    most = MOST // (1000 + len(line.target))
    middle, before = (0, 0.0), None
    for cycle in range(most):
        if not line.active.any() and not (line.left > 0).any() and not (line.sends > 0).any():
            return line
        if cycle == most // 2:
            middle = now, _progress(line)
        now = _cycle(line, now)
        if cycle % EVERY == 0:
            before = snapshot(line, now)
        elif before and now - before.now <= PERIOD:
            now = leap(line, before, now)
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


def _cycle(line: Timeline, now: int) -> int:
    """One cycle; the next one in which something can happen."""
    mask = len(line.sent) - 1
    line.landing += line.sent[(now - line.delay) & mask, line.source]
    line.room += line.taken[(now - 1 - line.hops) & mask, line.target]
    for lane in line.links.arriving.pop(now, ()):
        line.landing[lane] += 1
    line.leaving += line.written[(now - WRITTEN) & mask, :-1]
    if line.costs.group > 1:
        line.arrived += line.entered[(now - line.costs.ramp) & mask, :-1]
    else:
        _land(line, now)
    _go_up(line, now)
    group = line.costs.group
    free = line.queued + group <= (line.room if len(line.crossing) else line.costs.output_queue)
    high = (line.left > 0) & (line.arrived >= group) & (~line.passing | free)
    low = (line.sends > 0) & free
    lanes = range(line.rows.lanes)
    highs, lows = ([able[n :: len(lanes)] for n in lanes] for able in (high, low))
    used = highs[0] if len(lanes) == 1 else highs[0] | highs[1]
    coding = line.active & (line.ready <= now) & ~used
    busy = used | coding
    for own in lows:
        np.logical_and(own, ~busy, out=own)
    if len(lanes) > 1:
        _in_turns(line, highs, line.taking)
        _in_turns(line, lows, line.sending)
    moves = bool(high.any() or low.any())
    passed = high & line.passing
    line.written[now & mask, :-1] = (low | passed) * group
    line.taken[now & mask, :-1] = high * group
    if moves:
        _move(line, now, high, low, passed)
    if group > 1:
        line.held -= high * group
        _enter(line, now)
    if coding.any():
        line.slots -= coding
        for place in np.flatnonzero(coding & (line.slots <= 0)).tolist():
            _go_on(line, place, now)
    elif not moves:
        return _next(line, now)
    return now + 1


def _land(line: Timeline, now: int) -> None:
    """Elements go down the ramp, one in a cycle, while there is room in the queue of their lane."""
    able = (line.landing > 0) & (line.arrived < line.costs.input_queue)
    if not able.any():
        return
    _one_of_each(line, able, line.favoured)
    line.landing -= able
    line.arrived += able
    line.last = now


def _enter(line: Timeline, now: int) -> None:
    """Where an instruction takes two elements it waits for the second, so it counts that a queue
    holds what comes down the ramp before it can be used."""
    able = (line.landing > 0) & (line.held < line.costs.input_queue)
    entered = line.entered[now & (len(line.entered) - 1), :-1]
    entered[:] = 0
    if not able.any():
        return
    _one_of_each(line, able, line.favoured)
    line.landing -= able
    line.held += able
    entered += able
    line.last = now


def _go_up(line: Timeline, now: int) -> None:
    """Elements of output queues go up the ramp, one in a cycle, while there is room ahead."""
    able = (line.leaving > 0) & (line.room > 0)
    line.sent[now & (len(line.sent) - 1), :-1] = False
    if not able.any():
        return
    _one_of_each(line, able, line.goes_up)
    line.leaving -= able
    line.queued -= able
    line.room -= able
    line.sent[now & (len(line.sent) - 1), :-1] = able
    line.last = now
    if len(line.crossing):
        _cross(line, now)


def _one_of_each(line: Timeline, able: Bools, favoured: Ints) -> None:
    """Of two lanes of a PE one; the one that has to wait goes first the next time."""
    if line.rows.lanes == 1:
        return
    first, second = able[0::2], able[1::2]
    both = first & second
    if both.any():
        first &= ~(both & (favoured == 1))
        second &= ~(both & (favoured == 0))
        favoured[both] = 1 - favoured[both]


def _in_turns(line: Timeline, able: list[Bools], place: Ints) -> None:
    """Of the operations of a PE that are able the next one in its list goes first, after the one
    that went last; `place` says where in the list they are."""
    first, second = able
    both = np.flatnonzero(first & second)
    if len(both):
        count, turn = line.threads[both], line.turn[both] % line.threads[both]
        waits = [(place[n::2][both] - turn) % count for n in (0, 1)]
        first[both] = waits[0] < waits[1]
        second[both] = waits[0] > waits[1]
    for n in (0, 1):
        np.putmask(line.turn, able[n], place[n::2] + 1)


def _begins(line: Timeline, lane: int, place: Ints) -> None:
    """An operation of a lane joins the list of its PE."""
    pe = lane // line.rows.lanes
    place[lane] = line.threads[pe]
    line.threads[pe] += 1


def _leaves(line: Timeline, lane: int, place: Ints) -> None:
    """An operation that has ended leaves the list; the one behind it is the next."""
    lanes = line.rows.lanes
    pe, gone = lane // lanes, int(place[lane])
    for other in (line.taking, line.sending):
        others = other[pe * lanes : pe * lanes + lanes]
        others -= others > gone
    place[lane] = -1
    line.threads[pe] -= 1
    line.turn[pe] = gone


def _move(line: Timeline, now: int, high: Bools, low: Bools, passed: Bools) -> None:
    """Elements are taken and sent."""
    group = line.costs.group
    line.left -= high * group
    line.arrived -= high * group
    line.sends -= low * group
    line.queued += (low | passed) * group
    line.last = now
    for able, left, place in (
        (high, line.left, line.taking),
        (low, line.sends, line.sending),
    ):
        for lane in np.flatnonzero(able & (left == 0)).tolist():
            line.ended[lane // line.rows.lanes] = now
            _leaves(line, lane, place)
            _ended(line, lane, now)


def _cross(line: Timeline, now: int) -> None:
    """What has been sent over links that others use too is on its way."""
    mask = len(line.sent) - 1
    for lane in line.crossing[line.sent[now & mask, line.crossing]].tolist():
        to = int(line.target[lane])
        line.links.send(lane, to, now, int(line.delay[to]))


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
    code.moves = task(line, code, lane)
    line.active[code.place] = True
    line.ready[code.place] = now + 1 + line.costs.task
    line.slots[code.place] = line.wait[code.place] = 0


def _next(line: Timeline, now: int) -> int:
    """The next cycle in which something can happen; nothing is sent until then."""
    depth = len(line.sent)
    if now - line.last <= depth or line.links.arriving:
        return now + 1  # something is on its way
    if not line.active.any():
        raise AssertionError("rows that the checks let pass come to their end")
    return max(now + 1, int(line.ready[line.active].min()))


def _go_on(line: Timeline, place: int, now: int) -> None:
    """The code of a PE has had the last slot of an instruction, or the first one of the next."""
    line.moves += 1
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
    if what == SEND:
        line.sends[lane] = out
        _begins(line, lane, line.sending)
        return
    line.left[lane] = passed if what == PASS else into
    line.passing[lane] = what == PASS
    _begins(line, lane, line.taking)
