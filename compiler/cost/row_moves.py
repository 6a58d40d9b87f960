"""The code of a PE that runs rows, from where it is on, as moves (`collc.cost.row_code`)."""

from __future__ import annotations

from collections.abc import Iterator

from collc.cost.row_code import (
    APPLY,
    CHECKED,
    CODE,
    COUNTER,
    ENDS,
    FABRIC,
    OUT,
    OVER,
    RECEIVES,
    TEST,
    WAIT,
    Move,
    prepared,
    start,
)
from collc.cost.timeline import Code, Timeline
from collc.unrolled import WALKING

BACKWARD = 4  # instructions that find the vector from its last element on
ANEW = 3  # and those that find the slice with which all begins anew
CUTS, CUT = 60, 12  # a vector is cut into slices, and what each of them takes
LEAVE = -1  # a further move: what follows the phase is called


def begin(line: Timeline, code: Code, deep: int) -> Iterator[Move]:
    """The phase is called; `deep` functions return behind it."""
    text = line.text
    yield CODE, BACKWARD * text.backward + (ANEW + text.backward) * text.walks
    if text.cuts:
        yield CODE, CUTS + CUT * text.cuts  # as after another length
    for lane in code.lanes:
        yield CODE, 1 + _prepared(line, code, lane)
    yield from _steps(line, code)
    yield CODE, 1 + deep


def _lane(line: Timeline, code: Code, lane: int) -> int:
    return code.place * line.rows.lanes + lane


def _prepared(line: Timeline, code: Code, lane: int) -> int:
    """Instructions that prepare the row behind the one under way."""
    at = _lane(line, code, lane)
    return prepared(line.text, line.here[at], line.planned[at][code.row[lane] + 1])


def _start(line: Timeline, code: Code, lane: int) -> Iterator[Move]:
    """The prepared row becomes the one under way."""
    code.row[lane] += 1
    at, row = _lane(line, code, lane), code.row[lane]
    kind = line.kinds[at][row]
    code.due[lane] = (kind & OUT > 0) + (kind & RECEIVES > 0)
    for what, number in start(line.text, line.here[at], kind, line.walks[at][row]):
        if what == APPLY:
            size = int(line.numbers[at][row][0]) * line.costs.per_wavelet
            yield CODE, _applying(line, size, number > 0)
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


def task(line: Timeline, code: Code, lane: int) -> Iterator[Move]:
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
