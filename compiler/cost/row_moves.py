"""The code of a PE that runs rows, in compiled functions.

A move of it is so many cycles, each of which takes the PE's one slot, or the start of an operation. All
moves of a task are written down when it starts; what is noted of its lanes then is asked for by
later tasks of the same PE only. The moves of a row are those of `collc.cost.row_code`. In reading
order: what the code does in a cycle, what an operation's end leads to, the moves of a task.
"""

from __future__ import annotations

from collc.compiled import compiled_in_place, inlined
from collc.cost.line_state import (
    ACTIVE,
    APPLYING,
    BEGINNING,
    BETWEEN,
    COUNTER,
    ENDED,
    ENDS,
    FIRST_ROW,
    FRAME,
    FREE,
    GOES_ON,
    HAS_ROWS,
    IDLE,
    INTO,
    IS_FALSE,
    IS_TRUE,
    LANE_BEGUN,
    LANES,
    LAST,
    LEFT,
    LOAD,
    LOADS,
    LOOP_BACK,
    MOVES,
    NEXT_MOVE,
    NOW,
    OPERATIONS,
    OTHER_LANE,
    OUT,
    OVER,
    OVER_ELSE,
    OWN_BIT_CLEAR,
    OWN_BIT_SET,
    PASSED,
    PASSING,
    PENDING,
    PIECE,
    PIECE_END,
    PREPARED,
    READY,
    ROW,
    RUNNING,
    RUNS,
    SENDING,
    SENDS,
    SLOTS,
    STEP_BEGUN,
    STEP_OVER,
    TAKING,
    TASK,
    THREADS,
    UNDER_WAY,
    Arrays,
    Ints,
)

CODE, RECEIVE, SEND, PASS, APPLY, LEAVE = range(6)  # the last: what follows is called


@inlined
def go_on(line: Arrays, place: int) -> None:
    """The code of a PE has had the last slot of an instruction, or the first one of the next."""
    own = line.places[place]
    if own[SLOTS] < 0:
        own[SLOTS] = 0
        _move(line, place)
        if own[SLOTS] == 0:
            return
        own[SLOTS] -= 1
        if own[SLOTS] > 0:
            return
    own[READY] = line.clock[NOW] + 1
    _move(line, place)


@inlined
def _move(line: Arrays, place: int) -> None:
    """What the code does at once, up to its next instruction; or its end."""
    own, now = line.places[place], line.clock[NOW]
    while own[NEXT_MOVE] < own[MOVES]:
        move = line.moves[place, own[NEXT_MOVE]]
        what, lane, number = move[0], move[1], move[2]
        own[NEXT_MOVE] += 1
        if what == CODE:
            own[SLOTS] = number
            return
        if what == LEAVE:
            own[FREE], own[ENDED] = now, max(own[ENDED], now - 1)
        else:
            _issue(line, own, line.lanes[lane], what, number)
    own[ACTIVE] = 0
    own[IDLE] = now + 1 + line.machine[BETWEEN]
    line.clock[UNDER_WAY] -= 1
    _take_up(line, place)


@inlined
def _issue(line: Arrays, place: Ints, lane: Ints, what: int, elements: int) -> None:
    """An operation starts, and joins the list of its PE."""
    if what == SEND:
        lane[SENDS], lane[SENDING] = elements, place[THREADS]
    else:
        lane[LEFT], lane[TAKING] = elements, place[THREADS]
        lane[PASSING] = what == PASS
    place[THREADS] += 1
    line.clock[UNDER_WAY] += 1


@inlined
def operation_ended(line: Arrays, place: int, lane: int) -> None:
    """An operation has ended, and with it perhaps its row."""
    line.clock[UNDER_WAY] -= 1
    line.places[place, ENDED] = line.clock[NOW]
    line.lanes[lane, RUNS] -= 1
    if line.lanes[lane, RUNS] == 0:
        line.lanes[lane, PENDING] = 1
        if not line.places[place, ACTIVE]:
            _take_up(line, place)


@compiled_in_place
def _take_up(line: Arrays, place: int) -> None:
    """The task of a row that has ended starts, if there is one: of two not the one that was last
    again."""
    own, lanes = line.places[place], line.machine[LANES]
    for turn in range(1, 1 + lanes):
        index = (own[LAST] + turn) % lanes
        lane = place * lanes + index
        if line.lanes[lane, PENDING]:
            line.lanes[lane, PENDING] = 0
            own[LAST], own[ACTIVE], own[SLOTS] = index, 1, 0
            own[READY] = max(line.clock[NOW] + 1 + line.machine[TASK], own[IDLE])
            line.clock[UNDER_WAY] += 1
            own[NEXT_MOVE] = own[MOVES] = 0
            _task(line, place, lane)
            return


@compiled_in_place
def begin(line: Arrays, deep: Ints) -> None:
    """The phase is called at every place that has rows; `deep[place]` functions return behind."""
    lanes = line.machine[LANES]
    for place in range(len(deep)):
        some = False
        for lane in range(place * lanes, place * lanes + lanes):
            some |= line.lanes[lane, HAS_ROWS] > 0
        if not some:
            continue
        line.places[place, ACTIVE] = 1
        line.clock[UNDER_WAY] += 1
        _code(line, place, line.machine[BEGINNING])
        for lane in range(place * lanes, place * lanes + lanes):
            if line.lanes[lane, HAS_ROWS]:
                _code(line, place, line.machine[LOAD] * line.lanes[lane, LOADS])
                prepared = line.rows[_row(line, lane, 1), PREPARED]
                _code(line, place, line.machine[LANE_BEGUN] + prepared)
        if lanes == 1:
            _rows(line, place, place)
        else:
            _steps(line, place)
        _code(line, place, line.machine[FRAME] + deep[place])


@compiled_in_place
def _task(line: Arrays, place: int, lane: int) -> None:
    """A row has ended."""
    machine = line.machine
    if machine[LANES] == 1:
        _rows(line, place, lane)
    else:
        ends = line.rows[_row(line, lane, 0), ENDS]
        _code(line, place, machine[OWN_BIT_SET if ends else OWN_BIT_CLEAR])
        if ends:
            _code(line, place, machine[COUNTER] + machine[OVER_ELSE])
            line.places[place, RUNNING] -= 1
        else:
            _start(line, place, lane)
            _continue(line, place, lane)
        _check(line, place)
        if line.places[place, RUNNING] == 0:
            _steps(line, place)
    _code(line, place, machine[FRAME])


@inlined
def _check(line: Arrays, place: int) -> None:
    """Whether no lane is within the step any more."""
    none = line.places[place, RUNNING] == 0
    _code(line, place, line.machine[IS_TRUE if none else IS_FALSE])


@compiled_in_place
def _rows(line: Arrays, place: int, lane: int) -> None:
    """Rows of a place's only lane begin until one is under way."""
    machine = line.machine
    while True:
        over = line.rows[_row(line, lane, 1), OVER]
        _code(line, place, machine[OWN_BIT_SET if over else OWN_BIT_CLEAR])
        if over:
            _code(line, place, machine[STEP_OVER])
            _write(line, place, LEAVE, lane, 0)
            break
        _start(line, place, lane)
        _prepare(line, place, lane)
        waits = line.lanes[lane, RUNS] > 0
        _code(line, place, machine[OWN_BIT_SET if waits else OWN_BIT_CLEAR])
        if waits:
            break
        _code(line, place, machine[LOOP_BACK])


@compiled_in_place
def _steps(line: Arrays, place: int) -> None:
    """Steps begin until one is under way."""
    machine, lanes = line.machine, line.machine[LANES]
    first = place * lanes
    leader = first if line.lanes[first, HAS_ROWS] else first + 1
    _check(line, place)
    while line.places[place, RUNNING] == 0:
        over = line.rows[_row(line, leader, 1), OVER]
        _code(line, place, machine[OTHER_LANE] * (lanes - 1))
        _code(line, place, machine[OWN_BIT_SET if over else OWN_BIT_CLEAR])
        if over:
            _code(line, place, machine[STEP_OVER])
            _write(line, place, LEAVE, leader, 0)
            break
        _code(line, place, machine[STEP_BEGUN])
        for lane in range(leader, first + lanes):
            if line.lanes[lane, HAS_ROWS]:
                line.places[place, RUNNING] += 1
                _start(line, place, lane)
        for lane in range(leader, first + lanes):
            if line.lanes[lane, HAS_ROWS]:
                _continue(line, place, lane)
        _code(line, place, machine[LOOP_BACK])
        _check(line, place)


@compiled_in_place
def _start(line: Arrays, place: int, lane: int) -> None:
    """The prepared row becomes the one under way."""
    line.lanes[lane, ROW] += 1
    row = line.rows[_row(line, lane, 0)]
    line.lanes[lane, RUNS] = row[OPERATIONS]
    for entry in range(row[PIECE], row[PIECE_END]):
        what, number = line.pieces[entry, 0], line.pieces[entry, 1]
        if what == CODE:
            _code(line, place, number)
        elif what == APPLY:
            _code(line, place, row[APPLYING])
        else:
            field = OUT if what == SEND else PASSED if what == PASS else INTO
            _write(line, place, what, lane, row[field])


@inlined
def _prepare(line: Arrays, place: int, lane: int) -> None:
    """Behind a start: the next row is prepared."""
    _code(line, place, line.rows[_row(line, lane, 1), PREPARED])


@compiled_in_place
def _continue(line: Arrays, place: int, lane: int) -> None:
    """`go_on`, with call and return."""
    machine = line.machine
    _code(line, place, machine[GOES_ON])
    _prepare(line, place, lane)
    while line.lanes[lane, RUNS] == 0:
        _code(line, place, machine[OWN_BIT_CLEAR])
        ends = line.rows[_row(line, lane, 0), ENDS] > 0
        _code(line, place, machine[OWN_BIT_SET if ends else OWN_BIT_CLEAR])
        if ends:
            _code(line, place, machine[COUNTER])
            line.places[place, RUNNING] -= 1
            break
        _start(line, place, lane)
        _prepare(line, place, lane)
        _code(line, place, machine[LOOP_BACK])
    if line.lanes[lane, RUNS] > 0:
        _code(line, place, machine[OWN_BIT_SET])


@inlined
def _row(line: Arrays, lane: int, later: int) -> int:
    """The number of the row under way, or of one so many rows later."""
    return int(line.lanes[lane, FIRST_ROW] + line.lanes[lane, ROW] + later)


@inlined
def _code(line: Arrays, place: int, cycles: int) -> None:
    """Cycles of code, counted together with those before them."""
    last = line.places[place, MOVES] - 1
    if last >= 0 and line.moves[place, last, 0] == CODE:
        line.moves[place, last, 2] += cycles
    elif cycles > 0:
        _write(line, place, CODE, 0, cycles)


@inlined
def _write(line: Arrays, place: int, what: int, lane: int, number: int) -> None:
    """A move behind the others of the task."""
    entry = line.moves[place, line.places[place, MOVES]]
    entry[0], entry[1], entry[2] = what, lane, number
    line.places[place, MOVES] += 1
