"""Evaluation of a phase made of steps along one line: its rows, run cycle by cycle.

A PE has one slot in a cycle. What receives or lets pass goes first, then the code, then what only
sends; equals take turns. What is written waits in the lane's output queue for the ramp, which all
lanes of a PE share, and for room on its way, which comes back when the receiver takes an element.
A latency later it is at the other end's ramp, goes down it as soon as the lane's input queue has
room, and can be used. Cycles are run by `collc.cost.cycles`; what code does between them, and how
long it takes, says `collc.cost.row_code`.
"""

from __future__ import annotations

from collc.cost.cycles import (
    ACTIVE,
    BUDGET,
    EVENTS,
    FULL,
    LEFT,
    NOW,
    OVER,
    PASSING,
    READY,
    SENDING,
    SENDS,
    SLOTS,
    STUCK,
    TAKING,
    THREADS,
    WAIT,
    advance,
)
from collc.cost.links import rebuilt
from collc.cost.operations import Costs
from collc.cost.row_code import CODE, PASS, SEND
from collc.cost.row_code import WAIT as WAITS
from collc.cost.row_moves import LEAVE, begin, task
from collc.cost.timeline import Code, Line, Timeline, timeline
from collc.unrolled import Ints

MOST = 2_000_000_000  # that are followed, of cycles times lanes
OF_CODE = 1000  # of them are about what the code between two cycles takes
ROW = 70  # about what a row costs besides its elements, in cycles


def run_timeline(costs: Costs, of: Line, called: Ints, deep: Ints) -> Timeline:
    """Run all rows; at `called[p]` the code of place p, `deep[p]` functions deep, calls the
    phase."""
    line = timeline(costs, of, called)
    for place, returns in enumerate(deep.tolist()):
        code = line.code[place]
        if code.lanes:
            code.moves = begin(line, code, returns)
            line.state.places[ACTIVE, place] = True
    line.state.clock[BUDGET] = MOST // 2
    if _run(line):
        return line
    middle = line.now, _progress(line)
    line.state.clock[BUDGET] = MOST // 2
    if not _run(line):
        _extrapolate(line, middle)
    return line


def _run(line: Timeline) -> bool:
    """Run cycles, and the code between them, until all is over (true) or the budget is spent."""
    while True:
        end, ended, coding = advance(line.state)
        if end == EVENTS:
            now = line.now
            for lane in line.state.ended[:ended].tolist():
                _ended(line, lane, now)
            for place in line.state.coding[:coding].tolist():
                _go_on(line, place, now)
            line.state.clock[NOW] += 1
            line.state.clock[BUDGET] -= OF_CODE
        elif end == FULL:
            line.state = rebuilt(line.state)
        else:
            assert end != STUCK, "rows that the checks let pass come to their end"
            return bool(end == OVER)


def _progress(line: Timeline) -> float:
    """The part of all rows that is behind the PEs, by their elements and what a row costs."""
    behind = total = 0
    for lane, numbers in enumerate(line.numbers):
        row = line.code[lane // line.rows.lanes].row[lane % line.rows.lanes]
        weights = [sum(elements) + ROW for elements in numbers]
        behind += sum(weights[: max(row, 0)])
        total += sum(weights)
    return behind / total


def _extrapolate(line: Timeline, middle: tuple[int, float]) -> None:
    """The rest is taken to go on as fast as the second half of what has been evaluated."""
    then, before = middle
    behind = _progress(line)
    pace = (line.now - then) / max(behind - before, 1e-9)
    end = line.now + round((1 - behind) * pace)
    for code in line.code:
        if code.moves is not None or any(code.due):
            line.free[code.place], line.ended[code.place] = end, end - 1


def _ended(line: Timeline, lane: int, now: int) -> None:
    """An operation has ended, and with it perhaps its row."""
    place, own = divmod(lane, line.rows.lanes)
    code = line.code[place]
    line.ended[place] = now
    code.due[own] -= 1
    if code.due[own]:
        return
    code.pending.append(own)
    if not line.state.places[ACTIVE, place]:
        _take_up(line, code, now)


def _take_up(line: Timeline, code: Code, now: int) -> None:
    """The next task that is due starts."""
    if code.last in code.pending and len(code.pending) > 1:
        code.pending.remove(code.last)
        code.pending.append(code.last)
    lane = code.pending.pop(0)
    code.last = lane
    code.moves = task(line, code, lane)
    line.state.places[[ACTIVE, READY, SLOTS, WAIT], code.place] = 1, now + 1 + line.costs.task, 0, 0


def _go_on(line: Timeline, place: int, now: int) -> None:
    """The code of a PE has had the last slot of an instruction, or the first one of the next."""
    places = line.state.places
    if places[SLOTS, place] < 0:
        places[SLOTS, place] = 0
        _moves(line, place, now)
        if not places[SLOTS, place]:
            return
        places[SLOTS, place] -= 1
        if places[SLOTS, place]:
            return
    waits = int(places[WAIT, place])
    places[READY, place], places[WAIT, place] = now + 1 + waits, 0
    if not waits:
        _moves(line, place, now)


def _moves(line: Timeline, place: int, now: int) -> None:
    """What the code does at once, up to its next instruction; or its end."""
    code = line.code[place]
    assert code.moves is not None
    for what, number in code.moves:
        if what == CODE:
            if number:
                line.state.places[SLOTS, place] = number
                return
        elif what == WAITS:
            line.state.places[SLOTS, place], line.state.places[WAIT, place] = 1, number - 1
            return
        elif what == LEAVE:
            line.free[place] = now
            line.ended[place] = max(int(line.ended[place]), now - 1)
        else:
            _issue(line, what, number)
    code.moves = None
    line.state.places[ACTIVE, place] = False
    if code.pending:
        _take_up(line, code, now)


def _issue(line: Timeline, what: int, lane: int) -> None:
    """An operation starts, and joins the list of its PE."""
    place, own = divmod(lane, line.rows.lanes)
    into, out, passed = line.numbers[lane][line.code[place].row[own]]
    if what == SEND:
        line.state.lanes[SENDS, lane] = out
    else:
        line.state.lanes[LEFT, lane] = passed if what == PASS else into
        line.state.lanes[PASSING, lane] = what == PASS
    line.state.lanes[SENDING if what == SEND else TAKING, lane] = line.state.places[THREADS, place]
    line.state.places[THREADS, place] += 1
