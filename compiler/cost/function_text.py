"""Texts of functions as fabsim's front end writes them, and what fits in the place of their calls.

fabsim puts functions of up to 45 instructions in the place of their calls, one after the other, and
stops at the first with which the function that calls it would have `MOST` (docs/machine.md, section
4.1). A function that is put there brings its instructions, and one for each of its variables, which
is set. The numbers are counted in the functions of `templates/collectives_pe.csl.j2` and those
around it, without what they call but for `configure`; constants, and the end of each block, are
instructions, too. `tests/cost/test_text_size.py` compares their sums with what fabsim has
(`Program.inlined`), the same on both targets.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from collc.base.columns import Bools
from collc.base.values import dataclass
from collc.cost.predict import Times

# A function with those in the place of its calls has fewer instructions: `LARGE * 2` of
# `fabsim/lowering/src/inline.rs`, a guess (docs/machine.md, section 4.1).
MOST = 8000


@dataclass(frozen=True)
class Text:
    """A function with all that is in the place of its calls: its instructions, and its variables,
    which are set first where it is in the place of a call; both [x, y], or the same for all PEs."""

    instructions: Times | int
    variables: Times | int

    @property
    def in_place(self) -> Times | int:
        """Its instructions where it is in the place of a call."""
        return self.instructions + self.variables

    def calls(self, *callees: Text) -> Text:
        """The same with functions in the place of its calls, however long that makes it."""
        added = sum(one.in_place for one in callees)
        variables = sum(one.variables for one in callees)
        return Text(self.instructions + added, self.variables + variables)


# What sets the routers of a phase, of which each function is called at one place or is short.
ROUTER = Text(140, 33)  # `configure` of a color with all that it calls
ROUTER_OUTPUTS = Text(22, 7)  # more with several outputs
ROUTER_SWITCHED = Text(48, 18)  # more where switch positions change in some phase
ROUTER_MOVING = Text(51, 17)  # and in this one
CONFIGURE, SETS = Text(3, 0), 1  # of a phase; for each router
# What a PE calls to come to a phase, on colors of its own or torn down; what begins it then.
BEGIN, BEGIN_TORN_DOWN, START = Text(4, 0), Text(16, 5), Text(10, 4)
LOADS = Text(6, 2)  # registers of a phase, with its call
OPERATION = Text(17, 5)  # the first of a phase, with the functions on the way there
NOTHING = Text(10, 1)  # a PE without one says that its part is over
AFTER, RUN = Text(7, 2), Text(8, 1)  # goes on to the next phase; begins a collective
PREPARE, PREPARE_TOKEN = Text(10, 5), Text(6, 2)  # takes its buffer, or a barrier's token
ENDS = Text(4, 4)  # the task at the end of a part
OTHERS = Text(3, 4)  # one that several phases have
EACH = 7  # for each phase that such a task asks for
SENT, SENT_LAST, STORED = Text(14, 3), Text(5, 0), Text(16, 3)  # behind an operation
# Behind a collective: in one round or several; before that, where calls are joined, what counts
# them down.
CALLED, CALLED_ROUND, MISSING = Text(16, 4), Text(31, 4), Text(15, 4)
FINISHED = Text(4, 0)  # the host may go on
# What chooses the turn: more for each turn, and for each buffer a call is told of.
NEXT, TURN, POINTER, POINTER_OF_ROUND = Text(3, 4), 7, 1, 8
LAUNCH = Text(10, 2)  # the host's call
# Of an exchange: its beginning, its steps on one lane and on two; what prepares a row, more with a
# stage and with slices of unequal length; what begins one that sends and receives, or does either.
EXCHANGE, STEPS, STEPS_OF_LANES = Text(14, 2), Text(22, 6), Text(28, 9)
PREPARE_BOTH, PREPARE_ROW, PREPARE_STAGE, PREPARE_SIZE = Text(68, 22), Text(49, 11), 12, 11
START_BOTH, START_COMBINES, START_STAGES = Text(18, 3), Text(29, 5), Text(72, 7)
START_ROW, START_ROW_STAGES = Text(27, 6), Text(58, 7)
# The beginning of a phase that streams; the task behind a row, of two lanes with what goes on.
STREAMS, NEXT_ROW, NEXT_OF_LANES, GO_ON = Text(52, 10), Text(4, 0), Text(26, 6), Text(28, 6)
CLOSE, FINISH, RESTORE = Text(6, 1), Text(5, 1), Text(9, 4)  # its end, and the sign turned back
NEGATE = Text(5, 0)  # the vector, before the first phase


@dataclass(frozen=True)
class RowText:
    """Of an exchange, by lane: what prepares a row, and what begins one; without instructions where
    that is called anyway, since it is too long itself or the lane has no rows."""

    prepare: list[Text]
    start: list[Text]

    def steps(self, close: Text) -> Text:
        """What begins a step, or calls `close` behind the last."""
        if len(self.start) == 1:
            return STEPS.calls(*self.prepare, *self.start, close)
        lanes = range(len(self.start))
        return STEPS_OF_LANES.calls(*self.start, *map(self._go_on, lanes), close)

    def _go_on(self, lane: int) -> Text:
        prepare = self.prepare[lane]
        return GO_ON.calls(prepare, self.start[lane], prepare) if prepare.instructions else prepare

    def task(self, lane: int, close: Text) -> Text:
        """What the task of a lane calls behind a row."""
        if len(self.start) == 1:
            return NEXT_ROW.calls(self.steps(close))
        return NEXT_OF_LANES.calls(self.start[lane], self._go_on(lane), self.steps(close))


@dataclass(frozen=True)
class Inlined:
    """A function with what is in the place of its calls, and for each of these, in order, the PEs
    on which it is left, [x, y]: from the first on by which the function would become too long."""

    text: Text
    left: list[Bools]


def inlined(own: Text, callees: Iterable[tuple[Bools, Text]], shape: tuple[int, int]) -> Inlined:
    """The function `own` on a grid of this shape, with those of its callees in the place of their
    calls that a PE has (`callees` say which do) and that there is room for, in order."""
    instructions = np.full(shape, own.instructions, dtype=np.int64)
    variables = np.full(shape, own.variables, dtype=np.int64)
    room, left = np.ones(shape, dtype=np.bool_), list[Bools]()
    for on, body in callees:
        room &= (instructions + body.instructions < MOST) | ~on
        left.append(on & ~room)
        instructions += np.where(on & room, body.in_place, 0)
        variables += np.where(on & room, body.variables, 0)
    return Inlined(Text(instructions, variables), left)
