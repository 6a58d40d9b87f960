"""Between two phases of a program: the code of a PE from the end of one to the beginning of the
next, as `templates/collectives_pe.csl.j2` and those around it print it.

In reading order: from the end of a part to the call of
the next phase; setting routers; the end of a part.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.constants import Code
from collc.cost.operations import Costs
from collc.program import ProgramPlan, Use
from collc.spec import Collective, ContractKind
from collc.unrolled import Ints

PATIENCE = 16  # how often a PE looks before it waits for the task: the text says so


def finished(plan: ProgramPlan) -> int:
    """From the end of the last part until the host may go on: the tests whether it was the last."""
    return 0 if _plain(plan) else plan.target.code.finished


def _plain(plan: ProgramPlan) -> bool:
    """Whether a program is one call with a length of the run, which is made at once."""
    program = plan.program
    return len(program.calls) == 1 and program.rounds == 1 and bool(program.lengths)


@dataclass(frozen=True)
class Calls:
    """What the code of a program takes."""

    plan: ProgramPlan
    torn_down: bool
    joined: bool  # whether calls may be in flight at the same time; teardowns are told at once then

    @property
    def code(self) -> Code:
        """What its pieces take."""
        return self.plan.target.code

    def to_turn(self, turn: int, *, launch: bool, new_round: bool) -> int:
        """From the end of a part, or from the launch, to where the first collective of a turn is
        called."""
        code = self.code
        if launch:
            behind = code.program_launch + code.launch_round * (self.plan.program.rounds > 1)
        else:
            complete = code.complete_joined if self.joined else code.complete
            behind = complete * self.torn_down + code.next_call
            behind += code.new_round * new_round + code.next_missing * self.joined
        return behind + self._asked(turn) + code.count_missing * self.joined

    def _asked(self, turn: int) -> int:
        """The tests which turn is next."""
        return 0 if _plain(self.plan) else self.code.other_turn * turn + self.code.this_turn

    def to_run(self, costs: Costs, collective: Collective) -> int:
        """From there to where its first phase begins."""
        code = self.code
        pointer = code.pointer_of_round if self.plan.program.rounds > 1 else code.pointer
        barrier = collective.contract.kind is ContractKind.BARRIER
        if collective.grid.width * collective.grid.height == 1:
            return (
                pointer * (not barrier) + code.begin_nothing
            )  # there is nothing to prepare, or to begin
        prepared = code.token if barrier else pointer + code.set_buffer
        if costs.negates:
            prepared += costs.negated_cycles
        blocked = code.blocked * (not self.joined) * self.torn_down
        return prepared + code.begin_phases + blocked

    def through(self, costs: Costs) -> int:
        """From there to the end of a part where a collective of one PE has nothing to do, but for
        the returns of what called it."""
        inner = self.code.other_use * len(self._inner())
        return self.code.tell + costs.task + inner + self.code.last_use

    def _inner(self) -> list[Use]:
        """The uses behind which the same collective has another."""
        return [use for use in self.plan.uses if use.phase < self._last(use)]

    def looked(self, colors: Ints) -> Ints:
        """From one look at registers to the next, while one of them is not torn down."""
        return self.code.look + self.code.look_color * colors

    def opened(self, colors: Ints, moving: Ints) -> Ints:
        """From calling what looks to the call of what starts the phase, where all are torn down."""
        code = self.code
        in_place = code.opened_in_place * bool(self.plan.program.selections)
        return code.opened + code.opened_color * colors + code.opened_moving * moving - in_place

    def by_task(self, index: int) -> int:
        """From a teardown to the look behind it, if the PE has stopped looking."""
        tasks = 2 * self.plan.target.cycles.engine.task_start
        return tasks + self.code.by_task + self.code.other_use * index

    def to_end(self, use: Use) -> int:
        """In the task that is told of the end of a part: which phase it was."""
        code, inner = self.code, self._inner()
        if use in inner:
            return code.other_use * inner.index(use) + code.this_use
        return code.other_use * len(inner) + code.last_use

    def _last(self, use: Use) -> int:
        return len(self.plan.plans[use.collective].phases) - 1
