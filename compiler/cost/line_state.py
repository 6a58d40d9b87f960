"""The state of a line of rows while it is run: what `collc.cost.cycles` and `row_moves` work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

# Of what is due in a later cycle at a lane: elements that reach its router, that there is room for
# again, that may go up the ramp, and that can be used. The first fields of a lane count what has
# come of each kind.
LANDS, FREED, RISES, USABLE = range(4)
KINDS = 4
# Of a lane: elements at its router, that there is room for on the way, that may go up the ramp, and
# that can be taken; those that its operations have left to take (or to let pass) and to send; those
# in its output queue, and what its input queue holds, whether it can be used or not; where in the
# PE's list its operations are. Its row under way, how many operations of that have not ended, and
# whether it has ended and its task not begun. By kind, where in the ring of what is due the first
# is, and how many there are.
(
    LANDING, ROOM, LEAVING, ARRIVED, LEFT, PASSING, SENDS, QUEUED, HELD, TAKING, SENDING,
    ROW, RUNS, PENDING, FIRST_DUE, COUNT_DUE,
) = (*range(15), 14 + KINDS)  # fmt: skip
# And what stays: its place, to which lane it sends and from which it receives, the links between,
# and the cycles until what was sent to it has arrived; whether some of the links are others', too,
# and where they begin and end; its part of the rings, its rows, whether it has any, and how many
# registers of it are loaded when the phase begins.
(
    PLACE, TARGET, SOURCE, HOPS, DELAY, CROSSES, FIRST_LINK, END_LINK, RING, RING_SIZE, FIRST_ROW,
    HAS_ROWS, LOADS,
) = range(14 + 2 * KINDS, 27 + 2 * KINDS)  # fmt: skip
LANE_FIELDS = 27 + 2 * KINDS
# Of a place: the slots that an instruction of its code has left, when the code goes on and how long
# it waits then, whether it runs; how many operations are under way, and whose turn it is; which
# lane goes down and up the ramp first. The cycle in which it was looked at last: its code has had
# the slots since. How many lanes are within a step, which lane's task ran last, the next move of
# the code, and how many there are; when what follows was called, the last busy cycle, and when it may have another task.
(
    SLOTS, READY, WAITS, ACTIVE, THREADS, TURN, GOES_DOWN, GOES_UP, SEEN, RUNNING, LAST, NEXT_MOVE,
    MOVES, FREE, ENDED, IDLE,
) = range(16)  # fmt: skip
PLACE_FIELDS = 16
# Of a row: its operations, whether it ends its lane's part in a step, whether there are no more
# steps; the instructions that prepare it, its piece of code, the cycles in which what is staged is
# applied; elements that come in, go out, and are let pass.
OPERATIONS, ENDS, OVER, PREPARED, PIECE, PIECE_END, APPLYING, INTO, OUT, PASSED = range(10)
ROW_FIELDS = 10
# Of the machine: cycles and wavelets; `GROUP` are taken by one instruction. The elements that all
# operations have left at least, when repetition is looked for. The lanes of a place, whether some
# share links; cycles until a task begins, those of the code that begins a phase, and those of a
# register's load. What is written goes up the ramp so many cycles later, and then there is what
# pieces of code take that are part of no row's (`collc.target.constants.Code`).
(
    RAMP, HOP, OUTPUT_QUEUE, INPUT_QUEUE, GROUP, WORTH, LANES, SHARES, TASK, BEGINNING, LOAD, RISE,
    SEND_START, BETWEEN, FRAME, OWN_BIT_SET, OWN_BIT_CLEAR, IS_TRUE, IS_FALSE, OVER_ELSE, LOOP_BACK,
    COUNTER, LANE_BEGUN, OTHER_LANE, GOES_ON, STEP_BEGUN, STEP_OVER,
) = range(27)  # fmt: skip
# Of the clock: the cycle, what may be looked at yet, entries in the table of taken links, and how
# many operations and codes are under way.
NOW, BUDGET, STORED, UNDER_WAY = range(4)

NONE = -1
NEVER = 1 << 62


class Arrays(NamedTuple):
    """The state of a line. Lanes are numbered place * lanes of a place + lane."""

    machine: Ints
    clock: Ints
    lanes: Ints  # [lane, field]
    places: Ints  # [place, field]
    wakes: Ints  # [place] the cycle in which something may happen there
    dues: Ints  # [kind, n] cycles in which something is due: a ring for each lane
    links: Ints  # [0, n] links that lanes share, [1, n] how many hops behind the sender they are
    taken: Ints  # [0, entry] a link and [1, entry] a cycle in which it is taken: a hashed table
    rows: Ints  # [row, field], one lane's after the other's, each with some that are over behind
    pieces: Ints  # [n, 0] and [n, 1] a move of a piece of code, as in `collc.cost.row_moves`
    moves: Ints  # [place, n, 0 to 2] the moves of the code that runs, each with its lane
    lanes_kept: Ints  # and what they were in an earlier cycle
    places_kept: Ints
    dues_kept: Ints
