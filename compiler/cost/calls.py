"""Between two phases of a program: the code of a PE from the end of one to the beginning of the
next, in instructions, as `templates/collectives_pe.csl.j2` and those around it print it.

Numbers are cycles of a scalar instruction. In reading order: from the end of a part to the call of
the next phase; setting routers; the end of a part.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.cost.operations import BUFFER, Costs
from collc.program import ProgramPlan, Use
from collc.spec import Collective, ContractKind
from collc.unrolled import Ints

TEST = 3  # a variable is read, compared, branched on
LAUNCH = 2  # the number of the call is set, what calls the first collective is called
CALLED = 7  # the number of the call is raised and tested; what calls the next one is called
MISSING = 7  # of calls in flight at the same time one less: counted, tested, what follows called
NEW_ROUND = 7  # both numbers are set and tested
POINTER = 2  # to the buffer: read, and what takes it called
POINTER_OF_ROUND = 5  # the same, computed
RUN = 4  # `prepare` called and returned from; the phase noted; what begins it called
BLOCKED = 1  # the teardown task
NEXT_PHASE = 2  # the phase noted; what begins it called
START = 2  # what starts the phase is called, and the first of its functions
LOADING = 2  # a function that loads registers is called, and returns
COMPLETE = 2  # the teardown task let go on, the caller told
IN_PLACE = 5  # less where a choice by length has the code that opens routers in its own
RETURNS = 4  # from the first of a phase's functions to what called the collective
TOLD = 23  # a task that is told of a teardown
LAST_CONTROL = 5  # a control wavelet that ends a part is issued, and what follows called
BETWEEN = 8  # the code of a task between two operations of a phase
ENDED = 10  # behind the end of a part, where that of another is missing
CALLED_AT = 2  # functions less deep, where a collective is called
NOTHING = 2  # a collective of one PE: a task is activated, and returned
FRAMES = 7  # functions deep, where the first of a phase's functions is called
FRAMES_WITHIN = 4  # the same behind another phase of the same collective
FRAMES_AT_LAUNCH = 5
PATIENCE = 16  # how often a PE looks before it waits for the task
BY_TASK = 5  # the handler, and what it activates up to the phases
ASKED = 10  # whether to look again


@dataclass(frozen=True)
class Calls:
    """The instructions of a program."""

    plan: ProgramPlan
    torn_down: bool
    joined: bool  # whether calls may be in flight at the same time; teardowns are told at once then

    def to_turn(self, turn: int, *, launch: bool, new_round: bool) -> int:
        """From the end of a part, or from the launch, to where the first collective of a turn is
        called."""
        if launch:
            behind = LAUNCH + (self.plan.program.rounds > 1)
        else:
            complete = (COMPLETE - self.joined) * self.torn_down
            behind = complete + CALLED + NEW_ROUND * new_round + MISSING * self.joined
        return behind + self._asked(turn) + self.joined

    def _asked(self, turn: int) -> int:
        """The tests which turn is next. A call with a length of the run is made at once."""
        program = self.plan.program
        at_once = len(program.calls) == 1 and program.rounds == 1 and bool(program.lengths)
        return 0 if at_once else TEST * (turn + 1)

    def to_run(self, costs: Costs, collective: Collective) -> int:
        """From there to where its first phase begins."""
        pointer = POINTER_OF_ROUND if self.plan.program.rounds > 1 else POINTER
        barrier = collective.contract.kind is ContractKind.BARRIER
        if collective.grid.width * collective.grid.height == 1:
            return pointer * (not barrier) + RUN - 1  # there is nothing to prepare, or to begin
        prepared = 1 if barrier else BUFFER
        if costs.negates:
            prepared += costs.negated_cycles
        blocked = BLOCKED * (not self.joined) * self.torn_down
        return (1 if barrier else pointer) + prepared + RUN + blocked

    def through(self, costs: Costs) -> int:
        """From there to the end of a part where a collective of one PE has nothing to do, but for
        the returns of what called it."""
        return costs.scalar + costs.task + TEST * len(self._inner()) + 1

    def _inner(self) -> list[Use]:
        """The uses behind which the same collective has another."""
        return [use for use in self.plan.uses if use.phase < self._last(use)]

    def looked(self, colors: Ints) -> Ints:
        """From one look at registers to the next, while one of them is not torn down."""
        if self.plan.target.registers_known:
            return 9 + 4 * colors + ASKED
        return 10 + 2 * colors + ASKED

    def opened(self, colors: Ints, moving: Ints) -> Ints:
        """From calling what looks to the call of what starts the phase, where all are torn down."""
        in_place = IN_PLACE * bool(self.plan.program.selections)
        if self.plan.target.registers_known:
            return 6 + 7 * colors + moving - in_place
        return 8 + 4 * colors + 2 * moving - in_place

    def by_task(self, index: int) -> int:
        """From a teardown to the look behind it, if the PE has stopped looking."""
        return 2 * self.plan.target.task_start + BY_TASK + TEST * (index + 1)

    def to_end(self, use: Use) -> int:
        """In the task that is told of the end of a part: which phase it was."""
        inner = self._inner()
        place = inner.index(use) + 1 if use in inner else len(inner)
        return TEST * place + 1

    def _last(self, use: Use) -> int:
        return len(self.plan.plans[use.collective].phases) - 1
