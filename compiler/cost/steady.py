"""Long operations of a line: what repeats is not run cycle by cycle.

When all elements on their way, all room and all turns are as they were a few cycles ago, and no
code has had a slot, then the same few cycles follow again and again, until an operation is about to
end or
code goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from collc.cost.timeline import Bools, Timeline
from collc.unrolled import Ints

EVERY = 128  # cycles from one look to the next
PERIOD = 100  # cycles in which what repeats has to
WORTH = 200  # elements that all operations have left at least, when it is looked for


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What decides what comes next, and in which cycle it was so; `left` and `sends` only by
    whether they are 0."""

    now: int
    moves: int
    slots: Ints
    left: Ints
    sends: Ints
    queued: Ints
    leaving: Ints
    goes_up: Ints
    landing: Ints
    favoured: Ints
    arrived: Ints
    room: Ints
    turn: Ints
    written: Ints
    sent: Bools
    taken: Ints
    entered: Ints
    held: Ints


def snapshot(line: Timeline, now: int) -> Snapshot | None:
    """How it is; None if operations are about to end, or code waits for more than a slot."""
    if (line.active & (line.ready > now)).any() or len(line.crossing):
        return None
    counts = np.concatenate((line.left[line.left > 0], line.sends[line.sends > 0]))
    if not len(counts) or counts.min() < WORTH:
        return None
    return Snapshot(
        now,
        line.moves,
        line.slots.copy(),
        line.left.copy(),
        line.sends.copy(),
        line.queued.copy(),
        line.leaving.copy(),
        line.goes_up.copy(),
        line.landing.copy(),
        line.favoured.copy(),
        line.arrived.copy(),
        line.room.copy(),
        line.turn.copy(),
        _by_age(line.written, now),
        _by_age(line.sent, now),
        _by_age(line.taken, now),
        _by_age(line.entered, now),
        line.held.copy(),
    )


def _by_age(log: npt.NDArray[Any], now: int) -> npt.NDArray[Any]:
    return np.roll(log, -(now % len(log)), axis=0)


def leap(line: Timeline, before: Snapshot, now: int) -> int:
    """The cycle to go on with: as many repetitions later as no operation ends in."""
    if not _same(line, before, now):
        return now
    gone = before.left - line.left, before.sends - line.sends
    turns = min(
        int(((count[moved > 0] - 1) // moved[moved > 0]).min(initial=1 << 60))
        for count, moved in zip((line.left, line.sends), gone, strict=True)
    )
    if not (gone[0].any() or gone[1].any()):
        return now
    line.left -= turns * gone[0]
    line.sends -= turns * gone[1]
    over = turns * (now - before.now)
    line.written[...] = np.roll(line.written, over % len(line.written), axis=0)
    line.sent[...] = np.roll(line.sent, over % len(line.sent), axis=0)
    line.taken[...] = np.roll(line.taken, over % len(line.taken), axis=0)
    line.entered[...] = np.roll(line.entered, over % len(line.entered), axis=0)
    line.last += over
    return now + over


def _same(line: Timeline, before: Snapshot, now: int) -> bool:
    same = np.array_equal
    return (
        line.moves == before.moves
        and same(line.slots, before.slots)
        and same(line.queued, before.queued)
        and same(line.leaving, before.leaving)
        and same(line.goes_up, before.goes_up)
        and same(line.landing, before.landing)
        and same(line.favoured, before.favoured)
        and same(line.arrived, before.arrived)
        and same(line.room, before.room)
        and same(line.turn, before.turn)
        and same(line.left > 0, before.left > 0)
        and same(line.sends > 0, before.sends > 0)
        and same(_by_age(line.written, now), before.written)
        and same(_by_age(line.sent, now), before.sent)
        and same(_by_age(line.taken, now), before.taken)
        and same(_by_age(line.entered, now), before.entered)
        and same(line.held, before.held)
    )
