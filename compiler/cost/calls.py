"""Between two phases of a program: the code of a PE from the end of one to the beginning of the
next, as `templates/collectives_pe.csl.j2` and those around it print it.

In reading order: from the end of a part to the call of
the next phase; setting routers; the end of a part.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.cost.operations import Costs
from collc.cost.predict import Times
from collc.plan.program import ProgramPlan, Use
from collc.plan.unrolled import Ints
from collc.spec import Collective, ContractKind
from collc.target.constants import Code


@dataclass(frozen=True)
class Routers:
    """What a phase sets, by PE: its colors that are torn down, those of them with several outputs
    and how many these have, those on which switch positions change in some phase, and in this."""

    colors: Times
    arrays: Times
    outputs: Times
    switched: Times
    moving: Times


def finished(plan: ProgramPlan) -> int:
    """From the end of the last part until the host may go on: the tests whether it was the last."""
    return 0 if _plain(plan) else plan.target.code.finished


def _plain(plan: ProgramPlan) -> bool:
    """Whether a program is one call with a dynamic length, which is made at once."""
    program = plan.program
    return len(program.calls) == 1 and program.rounds == 1 and bool(program.lengths)


@dataclass(frozen=True)
class Calls:
    """What the code of a program takes."""

    plan: ProgramPlan
    joined: bool  # whether calls may be in flight at the same time

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
            behind = code.next_call + code.new_round * new_round + code.next_missing * self.joined
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
        return prepared + code.begin_phases

    def through(self, costs: Costs) -> int:
        """From there to the end of a part where a collective of one PE has nothing to do, but for
        the returns of what called it."""
        inner = self.code.other_use * len(self._inner())
        return self.code.tell + costs.task + inner + self.code.last_use

    def _inner(self) -> list[Use]:
        """The uses behind which the same collective has another."""
        return [use for use in self.plan.uses if use.phase < self._last(use)]

    def opened(self, routers: Routers) -> Ints:
        """What sets the routers of a phase, up to the call of what starts it."""
        code = self.code
        return (
            code.opened
            + code.opened_color * routers.colors
            + code.opened_array * routers.arrays
            + code.opened_output * routers.outputs
            + code.opened_switch * routers.switched
            + code.opened_moving * routers.moving
        )

    def started(self, index: int) -> int:
        """From the end of the handler of the last color that a phase has waited for to what sets
        its routers."""
        engine, code = self.plan.target.cycles.engine, self.code
        return engine.scalar + engine.task_start + code.other_use * index + code.this_use

    def to_end(self, use: Use) -> int:
        """In the task that is told of the end of a part: which phase it was."""
        code, inner = self.code, self._inner()
        if use in inner:
            return code.other_use * inner.index(use) + code.this_use
        return code.other_use * len(inner) + code.last_use

    def _last(self, use: Use) -> int:
        return len(self.plan.plans[use.collective].phases) - 1
