"""What repeats in a line of rows is leapt over, in compiled functions.

Long rows move one element after the other, in the same way every few cycles. In reading order:
whether that may be so, what is kept then, whether all is as some cycles ago, and the leap.
"""

from __future__ import annotations

from collc.compiled import compiled_in_place
from collc.cost.line_state import (
    ACTIVE,
    COUNT_DUE,
    FIRST_DUE,
    KINDS,
    LANE_FIELDS,
    LEFT,
    NEVER,
    NOW,
    PLACE_FIELDS,
    READY,
    RING,
    RING_SIZE,
    SEEN,
    SENDS,
    SHARES,
    WORTH,
    Arrays,
)

PERIOD = 100  # the cycles in which repetition is seen


@compiled_in_place
def is_steady(line: Arrays) -> bool:
    """Whether operations have much left, and all code waits for a slot."""
    if line.machine[SHARES]:
        return False  # links that are taken are not compared
    now, some = line.clock[NOW], False
    for place in range(len(line.places)):
        waits = line.places[place, READY] <= now and line.wakes[place] == now
        if line.places[place, ACTIVE] and not waits:
            return False
    for lane in range(len(line.lanes)):
        for field in (LEFT, SENDS):
            left = line.lanes[lane, field]
            some |= left > 0
            if 0 < left < line.machine[WORTH]:
                return False
    return some


@compiled_in_place
def keep(line: Arrays) -> None:
    """What there is in this cycle is kept, for later ones to be compared with."""
    for lane in range(len(line.lanes)):
        for field in range(LANE_FIELDS):
            line.lanes_kept[lane, field] = line.lanes[lane, field]
    for place in range(len(line.places)):
        for field in range(PLACE_FIELDS):
            line.places_kept[place, field] = line.places[place, field]
    for kind in range(KINDS):
        for entry in range(line.dues.shape[1]):
            line.dues_kept[kind, entry] = line.dues[kind, entry]


@compiled_in_place
def is_as(line: Arrays, seen: int) -> bool:
    """Whether all that decides what comes next is as it was in cycle `seen`, when it was kept. No
    operation has ended since, so what operations have left need not be the same."""
    lanes, places = line.lanes_kept, line.places_kept
    if line.clock[NOW] - seen > PERIOD or not is_steady(line):
        return False
    for place in range(len(places)):
        for field in range(PLACE_FIELDS):
            if field != SEEN and line.places[place, field] != places[place, field]:
                return False
    for lane in range(len(lanes)):
        for field in range(LANE_FIELDS):
            moves = field in (LEFT, SENDS) or FIRST_DUE <= field < FIRST_DUE + KINDS
            if not moves and line.lanes[lane, field] != lanes[lane, field]:
                return False
    return _are_due_as(line, seen)


@compiled_in_place
def _are_due_as(line: Arrays, seen: int) -> bool:
    """Whether the same is due after the same time; as much is."""
    lanes, dues, later = line.lanes_kept, line.dues_kept, line.clock[NOW] - seen
    for lane in range(len(lanes)):
        ring, size = lanes[lane, RING], lanes[lane, RING_SIZE]
        for kind in range(KINDS):
            for number in range(lanes[lane, COUNT_DUE + kind]):
                before = ring + (lanes[lane, FIRST_DUE + kind] + number) % size
                entry = ring + (line.lanes[lane, FIRST_DUE + kind] + number) % size
                if line.dues[kind, entry] != dues[kind, before] + later:
                    return False
    return True


@compiled_in_place
def leap(line: Arrays, seen: int) -> None:
    """Go on with the cycle as many repetitions later as no operation ends in; what was in cycle
    `seen` is kept."""
    lanes, before, clock, turns = line.lanes, line.lanes_kept, line.clock, NEVER
    for lane in range(len(lanes)):
        for field in (LEFT, SENDS):
            gone = before[lane, field] - lanes[lane, field]
            if gone > 0:
                turns = min(turns, (lanes[lane, field] - 1) // gone)
    if turns == NEVER:
        return
    for lane in range(len(lanes)):
        for field in (LEFT, SENDS):
            lanes[lane, field] -= turns * (before[lane, field] - lanes[lane, field])
    over = turns * (clock[NOW] - seen)
    clock[NOW] += over
    for kind in range(KINDS):
        for entry in range(line.dues.shape[1]):
            line.dues[kind, entry] += over  # of what is over it does not matter
    for place in range(len(line.wakes)):
        line.places[place, SEEN] += over
        line.wakes[place] += over * (line.wakes[place] < NEVER)
