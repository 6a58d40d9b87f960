"""The cycles of a line of rows, in compiled loops; between them `collc.cost.rows` follows the code.

In reading order: the state, `advance`, what a cycle is made of, links that several lanes use, and
what repeats, which is leapt over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from collc.compiled import compiled

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# Of a lane: to which lane it sends and from which it receives, the links between, and the cycles
# until what was sent to it has arrived; elements that its operations have left to take (or to let
# pass) and to send; those at its router, those that can be taken, and those that there is room for
# on the way; those in its output queue, and those of them that may go up the ramp; where in the
# PE's list its operations are; what its input queue holds, whether it can be used or not; and of
# those that share links, their number, where the links begin and end, and elements on their way.
(
    TARGET, SOURCE, HOPS, DELAY, LEFT, PASSING, SENDS, LANDING, ARRIVED, ROOM, QUEUED, LEAVING,
    TAKING, SENDING, HELD, CROSSES, FIRST_LINK, END_LINK, FIRST_DUE, FLYING,
) = range(20)  # fmt: skip
LANE_FIELDS = 20
# Of a place: the slots that an instruction of its code has left, when the code goes on and how long
# it waits then, whether it runs; how many operations are under way, and whose turn it is; which
# lane goes down and up the ramp first.
SLOTS, READY, WAIT, ACTIVE, THREADS, TURN, GOES_DOWN, GOES_UP = range(8)
PLACE_FIELDS = 8
# Of the agenda: elements that reach the router, that there is room for again, that may go up the
# ramp, and that can be used; and in the row of marks how many entries a cycle has.
LANDS, FREED, RISES, USABLE = range(4)
KINDS = 4
# Of the machine: cycles and wavelets; `GROUP` are taken by one instruction. And the elements that
# all operations have left at least, when repetition is looked for.
RAMP, HOP, OUTPUT_QUEUE, INPUT_QUEUE, GROUP, WORTH = range(6)
# Of the clock: the cycle, that of the latest move, lanes times cycles that may be followed yet,
# entries in the table of taken links, and elements on their way over such links.
NOW, LATEST, BUDGET, STORED, FLYING_ALL = range(5)
# What `advance` ends with.
EVENTS, OVER, FULL, SPENT, STUCK = range(5)

UP = 2  # cycles from the instruction that writes an element to its way up the ramp
NONE = -1
LOOKS, PERIOD = 128, 100  # cycles from one look for repetition to the next, and in which it is seen
FIRST_LOOK = 32  # after so many cycles in which no operation ended
SPREAD = 0x9E3779B97F4A7C1  # times this, numbers that follow each other fall far apart
NEVER = 1 << 62


class Arrays(NamedTuple):
    """The state of a line. Lanes are numbered place * lanes of a place + lane."""

    machine: Ints
    clock: Ints
    lanes: Ints  # [field, lane]
    places: Ints  # [field, place]
    agenda: Ints  # [kind, cycle modulo its depth, a power of two, lane]
    marks: Ints  # [cycle modulo that depth]
    links: Ints  # [0, n] links that lanes share, [1, n] how many hops behind the sender they are
    taken: Ints  # [0, entry] a link and [1, entry] a cycle in which it is taken: a hashed table
    due: Ints  # [lane that shares links, n] the cycles in which elements arrive, in a ring
    high: Bools  # lanes that have the slot of their PE to receive or to let pass
    low: Bools  # and to send
    able: Bools
    ended: Ints  # lanes that an operation has ended of, in this cycle
    coding: Ints  # places whose code goes on, in this cycle


@compiled
def advance(line: Arrays) -> tuple[int, int, int]:
    """Run the cycles from the clock's on until an operation ends or code goes on. Returns what it
    ended with, and how many lanes in `ended` and places in `coding` something has happened to in
    the cycle that the clock shows then."""
    clock = line.clock
    seen, lanes, places, agenda = NONE, line.lanes, line.places, line.agenda
    for quiet in range(NEVER):
        end = _end(line)
        if end != NONE:
            return end, 0, 0
        coded, coding, ended = _cycle(line)
        if ended or coding:
            return EVENTS, ended, coding
        if coded or clock[LATEST] == clock[NOW]:
            clock[NOW] += 1
        elif not _sleep(line):
            return STUCK, 0, 0
        if quiet % LOOKS == FIRST_LOOK:
            seen = NONE
            if _is_steady(line):
                seen = clock[NOW]
                lanes, places = line.lanes.copy(), line.places.copy()
                agenda = line.agenda.copy()
        elif _is_as(line, seen, lanes, places, agenda):
            _leap(line, seen, lanes)
            seen = NONE
    return SPENT, 0, 0


@compiled
def _end(line: Arrays) -> int:
    """Why there is no further cycle."""
    if not _goes_on(line):
        return OVER
    if line.clock[BUDGET] < 0:
        return SPENT
    stored = line.clock[STORED] + line.links.shape[1]
    return FULL if line.due.size and 2 * stored > line.taken.shape[1] else NONE


@compiled
def _goes_on(line: Arrays) -> bool:
    """Whether code runs or operations are under way."""
    for place in range(line.places.shape[1]):
        if line.places[ACTIVE, place]:
            return True
    for lane in range(line.lanes.shape[1]):
        if line.lanes[LEFT, lane] > 0 or line.lanes[SENDS, lane] > 0:
            return True
    return False


@compiled
def _sleep(line: Arrays) -> bool:
    """Go on with the cycle in which something arrives, or code goes on; whether there is one."""
    now, depth = line.clock[NOW], len(line.marks)
    wakes = np.int64(NEVER)
    for place in range(line.places.shape[1]):
        if line.places[ACTIVE, place]:
            wakes = min(wakes, line.places[READY, place])
    for lane in range(line.lanes.shape[1] * (line.clock[FLYING_ALL] > 0)):
        if line.lanes[FLYING, lane]:
            wakes = min(wakes, line.due[line.lanes[CROSSES, lane], line.lanes[FIRST_DUE, lane]])
    for cycle in range(now + 1, min(wakes, now + depth)):
        if line.marks[cycle & (depth - 1)]:
            wakes = np.int64(cycle)
            break
    line.clock[NOW] = max(now + 1, wakes)
    return bool(wakes < NEVER)


@compiled
def _cycle(line: Arrays) -> tuple[bool, int, int]:
    """One cycle; whether code has had a slot, and how many are in `coding` and `ended`."""
    _arrive(line)
    if line.machine[GROUP] == 1:
        _land(line)
    _go_up(line)
    coded, coding = _slots(line)
    ended = _move(line)
    if line.machine[GROUP] > 1:
        _land(line)
    line.clock[BUDGET] -= line.lanes.shape[1]
    return coded, coding, ended


@compiled
def _arrive(line: Arrays) -> None:
    """What was due in this cycle is there."""
    lanes, agenda, due, now = line.lanes, line.agenda, line.due, line.clock[NOW]
    cycle = now & (len(line.marks) - 1)
    if line.marks[cycle]:
        line.marks[cycle] = 0
        for lane in range(lanes.shape[1]):
            lanes[LANDING, lane] += agenda[LANDS, cycle, lane]
            lanes[ROOM, lane] += agenda[FREED, cycle, lane]
            lanes[LEAVING, lane] += agenda[RISES, cycle, lane]
            lanes[ARRIVED, lane] += agenda[USABLE, cycle, lane]
            for kind in range(KINDS):
                agenda[kind, cycle, lane] = 0
    for lane in range(lanes.shape[1] * (line.clock[FLYING_ALL] > 0)):
        if lanes[FLYING, lane] and due[lanes[CROSSES, lane], lanes[FIRST_DUE, lane]] == now:
            lanes[LANDING, lanes[TARGET, lane]] += 1
            lanes[FLYING, lane] -= 1
            line.clock[FLYING_ALL] -= 1
            lanes[FIRST_DUE, lane] = (lanes[FIRST_DUE, lane] + 1) % due.shape[1]


@compiled
def _enter(line: Arrays, kind: int, cycles: int, lane: int, elements: int) -> None:
    """Something is due in a lane so many cycles from now."""
    cycle = (line.clock[NOW] + cycles) & (len(line.marks) - 1)
    line.agenda[kind, cycle, lane] += elements
    line.marks[cycle] += 1


@compiled
def _land(line: Arrays) -> None:
    """Elements go down the ramp, one in a cycle, while there is room in the queue of their lane.

    Where an instruction takes two elements it waits for the second, so that a queue counts what it
    holds before it can be used.
    """
    lanes, alone = line.lanes, line.machine[GROUP] == 1
    holds = ARRIVED if alone else HELD
    for lane in range(lanes.shape[1]):
        room = lanes[holds, lane] < line.machine[INPUT_QUEUE]
        line.able[lane] = lanes[LANDING, lane] > 0 and room
    _one_of_each(line, GOES_DOWN)
    for lane in range(lanes.shape[1]):
        if line.able[lane]:
            lanes[LANDING, lane] -= 1
            lanes[holds, lane] += 1
            line.clock[LATEST] = line.clock[NOW]
            if not alone:
                _enter(line, USABLE, line.machine[RAMP], lane, 1)


@compiled
def _go_up(line: Arrays) -> None:
    """Elements of output queues go up the ramp, one in a cycle, while there is room ahead."""
    lanes = line.lanes
    for lane in range(lanes.shape[1]):
        line.able[lane] = lanes[LEAVING, lane] > 0 and lanes[ROOM, lane] > 0
    _one_of_each(line, GOES_UP)
    for lane in range(lanes.shape[1]):
        if line.able[lane]:
            lanes[LEAVING, lane] -= 1
            lanes[QUEUED, lane] -= 1
            lanes[ROOM, lane] -= 1
            line.clock[LATEST] = line.clock[NOW]
            target = lanes[TARGET, lane]
            if lanes[CROSSES, lane] == NONE:
                _enter(line, LANDS, lanes[DELAY, target], target, 1)
            else:
                _cross(line, lane)


@compiled
def _one_of_each(line: Arrays, first: int) -> None:
    """Of two lanes of a PE that are able one, that of field `first`; the other one is the next."""
    if line.lanes.shape[1] == line.places.shape[1]:
        return
    for place in range(line.places.shape[1]):
        if line.able[2 * place] and line.able[2 * place + 1]:
            line.able[2 * place + 1 - line.places[first, place]] = False
            line.places[first, place] = 1 - line.places[first, place]


@compiled
def _slots(line: Arrays) -> tuple[bool, int]:
    """Who has the slot of each PE: what receives or lets pass, then the code, then what only sends.
    Returns whether code has had a slot, and for how many places it was an instruction's last."""
    lanes, places, high, low = line.lanes, line.places, line.high, line.low
    each, now = lanes.shape[1] // places.shape[1], line.clock[NOW]
    group, coded, last = line.machine[GROUP], False, 0
    for place in range(places.shape[1]):
        own = range(place * each, place * each + each)
        used = False
        for lane in own:
            room = lanes[ROOM, lane] if line.due.size else line.machine[OUTPUT_QUEUE]
            free = lanes[QUEUED, lane] + group <= room
            there = lanes[LEFT, lane] > 0 and lanes[ARRIVED, lane] >= group
            high[lane] = there and (free or not lanes[PASSING, lane])
            low[lane] = free and lanes[SENDS, lane] > 0
            used |= high[lane]
        if places[ACTIVE, place] and places[READY, place] <= now and not used:
            used = coded = True
            places[SLOTS, place] -= 1
            if places[SLOTS, place] <= 0:
                line.coding[last] = place
                last += 1
        for lane in own:
            low[lane] = low[lane] and not used
        if each == 2:
            _in_turns(line, high, place, TAKING)
            _in_turns(line, low, place, SENDING)
    return coded, last


@compiled
def _in_turns(line: Arrays, able: Bools, place: int, at: int) -> None:
    """Of two operations of a PE that are able the next one in its list goes first, after the one
    that went last; field `at` of the lanes says where in the list they are."""
    lanes, places, first, second = line.lanes, line.places, 2 * place, 2 * place + 1
    if able[first] and able[second]:
        count = places[THREADS, place]
        turn = places[TURN, place] % count
        sooner = (lanes[at, first] - turn) % count < (lanes[at, second] - turn) % count
        able[first], able[second] = sooner, not sooner
    for lane in (first, second):
        if able[lane]:
            places[TURN, place] = lanes[at, lane] + 1


@compiled
def _move(line: Arrays) -> int:
    """Elements are taken and sent; how many operations end with it, those that take first."""
    lanes, high, low = line.lanes, line.high, line.low
    group, ended = line.machine[GROUP], 0
    for lane in range(lanes.shape[1]):
        if high[lane]:
            source = lanes[SOURCE, lane]
            lanes[LEFT, lane] -= group
            lanes[ARRIVED, lane] -= group
            lanes[HELD, lane] -= group * (group > 1)
            _enter(line, FREED, 1 + lanes[HOPS, source], source, group)
        if low[lane]:
            lanes[SENDS, lane] -= group
        if low[lane] or (high[lane] and lanes[PASSING, lane]):
            lanes[QUEUED, lane] += group
            _enter(line, RISES, UP, lane, group)
        if high[lane] or low[lane]:
            line.clock[LATEST] = line.clock[NOW]
    for lane in range(lanes.shape[1]):
        if high[lane] and lanes[LEFT, lane] == 0:
            line.ended[ended] = lane
            ended += 1
            _leave(line, lane, TAKING)
    for lane in range(lanes.shape[1]):
        if low[lane] and lanes[SENDS, lane] == 0:
            line.ended[ended] = lane
            ended += 1
            _leave(line, lane, SENDING)
    return ended


@compiled
def _leave(line: Arrays, lane: int, at: int) -> None:
    """An operation that has ended leaves the list of its PE; the one behind it is the next."""
    lanes, places = line.lanes, line.places
    each, gone = lanes.shape[1] // places.shape[1], lanes[at, lane]
    place = lane // each
    for other in range(place * each, place * each + each):
        for field in (TAKING, SENDING):
            if lanes[field, other] > gone:
                lanes[field, other] -= 1
    lanes[at, lane] = NONE
    places[THREADS, place] -= 1
    places[TURN, place] = gone


@compiled
def _cross(line: Arrays, lane: int) -> None:
    """An element has been sent over links that others use too. A link carries an element in a
    cycle; an element uses the links of its way one after the other, each a hop later than the one
    before, or as soon after that as the link is free."""
    lanes, due = line.lanes, line.due
    now, waited = line.clock[NOW], 0
    for way in range(lanes[FIRST_LINK, lane], lanes[END_LINK, lane]):
        at = now + line.links[1, way] * line.machine[HOP]
        waited = take(line.clock, line.taken, line.links[0, way], at + waited) - at
    last = (lanes[FIRST_DUE, lane] + lanes[FLYING, lane]) % due.shape[1]
    due[lanes[CROSSES, lane], last] = now + lanes[DELAY, lanes[TARGET, lane]] + waited
    lanes[FLYING, lane] += 1
    line.clock[FLYING_ALL] += 1


@compiled
def take(clock: Ints, taken: Ints, link: int, cycle: int) -> int:
    """The first cycle from `cycle` on in which the link is free; it is taken then."""
    mask = taken.shape[1] - 1
    entry = _entry(link, cycle) & mask
    while taken[0, entry] != NONE:
        if taken[0, entry] == link and taken[1, entry] == cycle:
            cycle += 1
            entry = _entry(link, cycle) & mask
        else:
            entry = (entry + 1) & mask
    taken[0, entry], taken[1, entry] = link, cycle
    clock[STORED] += 1
    return cycle


@compiled
def _entry(link: int, cycle: int) -> int:
    """Where in a table an entry is looked for first."""
    mixed = (link * SPREAD + cycle) * SPREAD
    return mixed ^ (mixed >> 32)


@compiled
def _is_steady(line: Arrays) -> bool:
    """Whether operations have much left, and no code waits for more than a slot."""
    if line.due.size:
        return False  # links that are taken are not compared
    for place in range(line.places.shape[1]):
        if line.places[ACTIVE, place] and line.places[READY, place] > line.clock[NOW]:
            return False
    some = False
    for lane in range(line.lanes.shape[1]):
        for field in (LEFT, SENDS):
            some |= line.lanes[field, lane] > 0
            if 0 < line.lanes[field, lane] < line.machine[WORTH]:
                return False
    return some


@compiled
def _is_as(line: Arrays, seen: int, lanes: Ints, places: Ints, agenda: Ints) -> bool:
    """Whether all that decides what comes next is as it was in cycle `seen`. No operation has ended
    since, so what operations have left need not be the same."""
    now, depth = line.clock[NOW], len(line.marks)
    if seen == NONE or now - seen > PERIOD:
        return False
    for field in range(PLACE_FIELDS):
        if not _same(line.places[field], places[field]):
            return False
    for field in range(LANE_FIELDS):
        goes = field in (LEFT, SENDS)
        if not goes and not _same(line.lanes[field], lanes[field]):
            return False
    for kind in range(KINDS):
        for cycle in range(depth):
            before = agenda[kind, (seen + cycle) & (depth - 1)]
            if not _same(line.agenda[kind, (now + cycle) & (depth - 1)], before):
                return False
    return True


@compiled
def _same(some: Ints, others: Ints) -> bool:
    different = 0
    for index in range(len(some)):
        different += some[index] != others[index]
    return different == 0


@compiled
def _leap(line: Arrays, seen: int, before: Ints) -> None:
    """Go on with the cycle as many repetitions later as no operation ends in; `before` are the
    lanes in cycle `seen`."""
    lanes, clock, depth = line.lanes, line.clock, len(line.marks)
    turns = np.int64(NEVER)
    for field in (LEFT, SENDS):
        for lane in range(lanes.shape[1]):
            gone = before[field, lane] - lanes[field, lane]
            if gone > 0:
                turns = min(turns, (lanes[field, lane] - 1) // gone)
    if turns == NEVER:
        return
    for field in (LEFT, SENDS):
        for lane in range(lanes.shape[1]):
            lanes[field, lane] -= turns * (before[field, lane] - lanes[field, lane])
    over = turns * (clock[NOW] - seen)
    agenda, marks = line.agenda.copy(), line.marks.copy()
    for cycle in range(depth):
        later = (cycle + over) & (depth - 1)
        line.marks[later] = marks[cycle]
        for kind in range(KINDS):
            for lane in range(lanes.shape[1]):
                line.agenda[kind, later, lane] = agenda[kind, cycle, lane]
    clock[NOW] += over
    clock[LATEST] += over
