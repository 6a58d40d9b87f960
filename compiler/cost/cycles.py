"""The cycles of a line of rows, in compiled functions.

A PE is looked at only in cycles in which something may happen there: something arrives, its code
comes to the end of an instruction, or something has happened in the cycle before. What happens in a
cycle depends on no other PE, and is for others in a later one. In reading order: `advance`, what a
cycle of a PE is made of, what is due later, links that several lanes use.
"""

from __future__ import annotations

from collc.compiled import compiled_in_place, inlined
from collc.cost.line_state import (
    ACTIVE,
    ARRIVED,
    BUDGET,
    COUNT_DUE,
    CROSSES,
    DELAY,
    END_LINK,
    FIRST_DUE,
    FIRST_LINK,
    FREED,
    GOES_DOWN,
    GOES_UP,
    GROUP,
    HELD,
    HOP,
    HOPS,
    INPUT_QUEUE,
    KINDS,
    LANDING,
    LANDS,
    LANES,
    LEAVING,
    LEFT,
    NEVER,
    NONE,
    NOW,
    OUTPUT_QUEUE,
    PASSING,
    PLACE,
    QUEUED,
    RAMP,
    READY,
    RING,
    RING_SIZE,
    RISE,
    RISES,
    ROOM,
    SEEN,
    SEND_START,
    SENDING,
    SENDS,
    SHARES,
    SLOTS,
    SOURCE,
    STORED,
    TAKING,
    TARGET,
    THREADS,
    TURN,
    UNDER_WAY,
    USABLE,
    Arrays,
    Ints,
)
from collc.cost.repetition import is_as, is_steady, keep, leap
from collc.cost.row_moves import go_on, operation_ended

FINISHED, FULL, SPENT, STUCK = range(4)  # what `advance` ends with

LOOKS = 128  # cycles from one look for repetition to the next
FIRST_LOOK = 32  # after so many cycles in which no code went on and no operation ended
SCANNED = 32  # places that are asked whether they wake cost about what a look at one does
SPREAD = 0x9E3779B97F4A7C1  # times this, numbers that follow each other fall far apart


@compiled_in_place
def advance(line: Arrays) -> int:
    """Run cycles from the clock's on, until all is over or this cannot go on; returns why."""
    clock, seen, quiet = line.clock, NONE, 0
    while True:
        end = _end(line)
        if end != NONE:
            return end
        if _cycle(line):
            seen, quiet = NONE, 0
        clock[NOW] = _first(line.wakes)
        if quiet % LOOKS == FIRST_LOOK:
            seen = NONE
            if is_steady(line):
                seen = clock[NOW]
                keep(line)
        elif seen != NONE and is_as(line, seen):
            leap(line, seen)
            seen = NONE
        quiet += 1


@inlined
def _end(line: Arrays) -> int:
    """Why there is no further cycle, or none of these."""
    clock = line.clock
    if clock[UNDER_WAY] == 0:
        return FINISHED
    if clock[NOW] == NEVER:
        return STUCK
    if clock[BUDGET] < 0:
        return SPENT
    stored = clock[STORED] + line.links.shape[1]
    return FULL if line.machine[SHARES] and 2 * stored > line.taken.shape[1] else NONE


@inlined
def _first(cycles: Ints) -> int:
    """The first of some cycles."""
    first = NEVER
    for place in range(len(cycles)):
        first = min(first, cycles[place])
    return first


@inlined
def _cycle(line: Arrays) -> bool:
    """One cycle; whether code has gone on, or an operation ended."""
    now, changed = line.clock[NOW], False
    line.clock[BUDGET] -= len(line.wakes) // SCANNED
    for place in range(len(line.wakes)):
        if line.wakes[place] <= now:
            changed |= _look(line, place)
            line.clock[BUDGET] -= 1
    return changed


@inlined
def _look(line: Arrays, place: int) -> bool:
    """The cycle of a place, and when the next one is; whether code has gone on, or an operation
    ended."""
    own, alone = line.places[place], line.machine[GROUP] == 1
    now = line.clock[NOW]
    if own[ACTIVE]:
        own[SLOTS] -= max(0, now - max(own[SEEN] + 1, own[READY]))
    own[SEEN] = now
    _arrive(line, place)
    moved = _land(line, place) if alone else False
    moved |= _go_up(line, place)
    lane, takes, coded = _slot(line, place)
    ended = False
    if lane != NONE:
        moved, ended = True, _move(line, lane, takes)
    if not alone:
        moved |= _land(line, place)
    if ended:
        _leave(line, place, lane, TAKING if takes else SENDING)
        operation_ended(line, place, lane)
    went_on = coded and own[SLOTS] <= 0
    if went_on:
        go_on(line, place)
    line.wakes[place] = now + 1 if moved or went_on else _next(line, place)
    return ended or went_on


@inlined
def _next(line: Arrays, place: int) -> int:
    """The next cycle in which something may happen where nothing could in this one."""
    wakes, own = NEVER, line.places[place]
    if own[ACTIVE]:
        wakes = max(own[READY], line.clock[NOW] + 1) + max(own[SLOTS] - 1, 0)
    for lane in range(place * line.machine[LANES], (place + 1) * line.machine[LANES]):
        fields = line.lanes[lane]
        for kind in range(KINDS):
            if fields[COUNT_DUE + kind]:
                wakes = min(wakes, line.dues[kind, fields[RING] + fields[FIRST_DUE + kind]])
    return wakes


@inlined
def _land(line: Arrays, place: int) -> bool:
    """An element goes down the ramp, if there is room in the queue of its lane; whether one does.

    Where an instruction takes two elements it waits for the second, so that a queue counts what it
    holds before it can be used.
    """
    alone, each = line.machine[GROUP] == 1, line.machine[LANES]
    holds = ARRIVED if alone else HELD
    able = 0
    for index in range(each):
        fields = line.lanes[place * each + index]
        room = fields[holds] < line.machine[INPUT_QUEUE]
        able |= (fields[LANDING] > 0 and room) << index
    if able == 0:
        return False
    lane = place * each + _one(line.places[place], able, GOES_DOWN)
    line.lanes[lane, LANDING] -= 1
    line.lanes[lane, holds] += 1
    if not alone:
        _enter(line, USABLE, line.machine[RAMP], lane)
    return True


@inlined
def _go_up(line: Arrays, place: int) -> bool:
    """An element of an output queue goes up the ramp, if there is room ahead; whether one does."""
    each, able = line.machine[LANES], 0
    for index in range(each):
        fields = line.lanes[place * each + index]
        able |= (fields[LEAVING] > 0 and fields[ROOM] > 0) << index
    if able == 0:
        return False
    lane = place * each + _one(line.places[place], able, GOES_UP)
    fields = line.lanes[lane]
    fields[LEAVING] -= 1
    fields[QUEUED] -= 1
    fields[ROOM] -= 1
    target = fields[TARGET]
    waits = _waits_on_links(line, fields) if fields[CROSSES] else 0
    _enter(line, LANDS, line.lanes[target, DELAY] + waits, target)
    return True


@inlined
def _one(place: Ints, able: int, first: int) -> int:
    """Of the lanes of a PE whose bits are set one; of two that of field `first`, and next time the
    other."""
    chosen = able >> 1
    if able == 3:
        chosen = int(place[first])
        place[first] = 1 - chosen
    return chosen


@inlined
def _slot(line: Arrays, place: int) -> tuple[int, bool, bool]:
    """Who has the slot of a PE: its code, while it is in a task, then what receives or lets pass,
    then what only sends. The lane that has it, or none; whether to take; and whether the code has
    it."""
    own, each, group = line.places[place], line.machine[LANES], line.machine[GROUP]
    if own[ACTIVE] and own[READY] <= line.clock[NOW]:
        own[SLOTS] -= 1
        return NONE, False, True
    takes, sends = 0, 0
    for index in range(each):
        fields = line.lanes[place * each + index]
        room = fields[ROOM] if line.machine[SHARES] else line.machine[OUTPUT_QUEUE]
        free = fields[QUEUED] + group <= room
        there = fields[LEFT] > 0 and fields[ARRIVED] >= group
        takes |= (there and (free or not fields[PASSING])) << index
        sends |= (free and fields[SENDS] > 0) << index
    if takes:
        return place * each + _in_turn(line, place, takes, TAKING), True, False
    if sends:
        return place * each + _in_turn(line, place, sends, SENDING), False, False
    return NONE, False, False


@inlined
def _in_turn(line: Arrays, place: int, able: int, at: int) -> int:
    """Of the lanes of a PE whose bits are set one; of two the one whose operation comes first in
    the PE's list, after the one that went last. Field `at` says where they are."""
    chosen, own, first = able >> 1, line.places[place], place * line.machine[LANES]
    if able == 3:
        count = own[THREADS]
        turn = own[TURN] % count
        ahead = (line.lanes[first, at] - turn) % count
        chosen = 0 if ahead < (line.lanes[first + 1, at] - turn) % count else 1
    own[TURN] = line.lanes[first + chosen, at] + 1
    return chosen


@inlined
def _move(line: Arrays, lane: int, takes: bool) -> bool:
    """Elements of a lane are taken or sent; whether its operation ends with it."""
    fields, group = line.lanes[lane], line.machine[GROUP]
    at = LEFT if takes else SENDS
    fields[at] -= group
    if takes:
        fields[ARRIVED] -= group
        fields[HELD] -= group * (group > 1)
        source = fields[SOURCE]
        _enter(line, FREED, 1 + line.lanes[source, HOPS], source)
    if not takes or fields[PASSING]:
        fields[QUEUED] += group
        starts = 0 if takes else line.machine[SEND_START]
        _enter(line, RISES, line.machine[RISE] + starts, lane)
    return bool(fields[at] == 0)


@inlined
def _leave(line: Arrays, place: int, lane: int, at: int) -> None:
    """An operation that has ended leaves the list of its PE; the one behind it is the next."""
    each, gone = line.machine[LANES], line.lanes[lane, at]
    for other in range(place * each, place * each + each):
        for field in (TAKING, SENDING):
            if line.lanes[other, field] > gone:
                line.lanes[other, field] -= 1
    line.lanes[lane, at] = NONE
    line.places[place, THREADS] -= 1
    line.places[place, TURN] = gone


@inlined
def _enter(line: Arrays, kind: int, cycles: int, lane: int) -> None:
    """Something is due at a lane so many cycles from now."""
    fields, cycle = line.lanes[lane], line.clock[NOW] + cycles
    entry = fields[FIRST_DUE + kind] + fields[COUNT_DUE + kind]
    entry -= fields[RING_SIZE] * (entry >= fields[RING_SIZE])
    line.dues[kind, fields[RING] + entry] = cycle
    fields[COUNT_DUE + kind] += 1
    line.wakes[fields[PLACE]] = min(line.wakes[fields[PLACE]], cycle)


@inlined
def _arrive(line: Arrays, place: int) -> None:
    """What was due in this cycle is there."""
    each, now = line.machine[LANES], line.clock[NOW]
    for lane in range(place * each, place * each + each):
        fields = line.lanes[lane]
        for kind in range(KINDS):
            first = fields[FIRST_DUE + kind]
            if fields[COUNT_DUE + kind] and line.dues[kind, fields[RING] + first] == now:
                elements = line.machine[GROUP] if kind in (FREED, RISES) else 1
                fields[LANDING + kind] += elements
                fields[COUNT_DUE + kind] -= 1
                fields[FIRST_DUE + kind] = first + 1 if first + 1 < fields[RING_SIZE] else 0


@compiled_in_place
def _waits_on_links(line: Arrays, lane: Ints) -> int:
    """An element is sent over links that others use too: how many cycles longer it takes. A link
    carries an element in a cycle; an element uses the links of its way one after the other, each a
    hop later than the one before, or as soon after that as the link is free."""
    now, waited = line.clock[NOW], 0
    for way in range(lane[FIRST_LINK], lane[END_LINK]):
        at = now + line.links[1, way] * line.machine[HOP]
        waited = take(line.clock, line.taken, line.links[0, way], at + waited) - at
    return waited


@compiled_in_place
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


@inlined
def _entry(link: int, cycle: int) -> int:
    """Where in a table an entry is looked for first."""
    mixed = (link * SPREAD + cycle) * SPREAD
    return mixed ^ (mixed >> 32)
