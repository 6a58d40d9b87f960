"""Between two phases of a program: the code of a PE from the end of one to the beginning of the
next, as `templates/collectives_pe.csl.j2` and those around it print it.

In reading order: from the end of a part to the call of the next phase; setting routers; the end of
a part.
"""

from __future__ import annotations

import numpy as np

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.cost.operations import Costs
from collc.cost.predict import Times
from collc.plan.plan import ProgramPlan, Use
from collc.spec import Collective, ContractKind
from collc.target.constants import Code

# Instructions of `next` in `templates/collectives_pe.csl.j2`, but constants and copies; functions
# of up to `INLINED` are put in the place of their calls (docs/machine.md, section 4.1).
INLINED = 45
TEST, RETURN = 3, 1  # which turn it is; behind a turn
CALL, POINTER, POINTER_OF_ROUND = 1, 1, 4  # of a turn; more for its buffer

LOADED = 1  # the task that begins a phase reads which colors are in use


@dataclass(frozen=True)
class Call:
    """A call of a collective of a call stream, by its index: the cycle in which the code of a PE
    comes to its first phase, and what it takes to return behind that, with what the code does
    before it lets operations have the PE."""

    index: int
    costs: Costs
    reached: Times
    depth: Times


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
    code, program = plan.target.code, plan.program
    if _plain(plan):
        return 0
    missing = code.next_missing * bool(plan.call_streams)
    return missing + code.finished + code.finished_round * (program.rounds > 1)


def _plain(plan: ProgramPlan) -> bool:
    """Whether a program is one call with a dynamic length, which is made at once."""
    program = plan.program
    return len(program.calls) == 1 and program.rounds == 1 and bool(program.lengths)


@dataclass(frozen=True)
class Calls:
    """What the code of a program takes."""

    plan: ProgramPlan
    turns: tuple[tuple[int, ...], ...]  # of the program
    joined: bool  # whether calls may be in flight at the same time
    buffers: int  # how many calls are told where a vector is; those of barriers are not

    @property
    def code(self) -> Code:
        """What its pieces take."""
        return self.plan.target.code

    @property
    def called(self) -> bool:
        """Whether the function that chooses the turn is too long to be put in the place of its
        calls: its instructions are those of each turn's test, of each call and of returns."""
        program = self.plan.program
        rounds = program.rounds > 1
        pointers = self.buffers * (POINTER_OF_ROUND if rounds else POINTER)
        # behind the last turn of calls one after the other only the function's own end returns
        tests = (TEST + self.joined + RETURN) * len(self.turns) + self.joined
        return tests + CALL * sum(map(len, self.turns)) + pointers > INLINED

    def to_turn(self, turn: int, *, launch: bool) -> int:
        """From the end of a part, or from the launch, to where the first collective of a turn is
        called."""
        code = self.code
        rounds = self.plan.program.rounds > 1
        if launch:
            behind = code.program_launch + code.launch_round * rounds
        else:
            behind = (code.next_call if turn else code.new_round) + code.next_missing * self.joined
        return behind + self._asked(turn) + code.count_missing * self.joined

    def _asked(self, turn: int) -> int:
        """The tests which turn is next; which is the first of a round is known."""
        code = self.code
        if _plain(self.plan) or not (turn or self.called):
            return 0
        return code.other_turn * turn + code.this_turn + code.turns_called * self.called

    def behind(self, turn: int, *, launch: bool) -> int:
        """What the code takes beside a return from where the last collective of a turn is begun."""
        if self.called:
            return self.code.jump * (1 + (self.joined and not launch))
        if launch or _plain(self.plan):
            return 0
        last = turn == len(self.turns) - 1
        jumps = self.joined + (turn > 0 and (self.joined or not last))
        return self.code.jump * jumps

    def _pointer(self, first_of: int | None, *, launch: bool) -> int:
        """What it takes to find the buffer; of a call that is the `first_of` a turn, or of none."""
        code = self.code
        if self.plan.program.rounds == 1 or (launch and first_of == 0 and not self.called):
            return code.pointer
        counted = first_of == 0 and not self.called
        return code.pointer_of_next if counted else code.pointer_of_round

    def to_run(
        self, costs: Costs, collective: Collective, first_of: int | None, *, launch: bool
    ) -> int:
        """From there to where its first phase begins."""
        code, pointer = self.code, self._pointer(first_of, launch=launch)
        barrier = collective.contract.kind is ContractKind.BARRIER
        if collective.grid.width * collective.grid.height == 1:
            copied = costs.first_pass_cycles(alone=True)
            return pointer * (not barrier) + copied + code.begin_phases
        prepared = code.token if barrier else pointer + code.set_buffer
        return prepared + costs.first_pass_cycles(alone=False) + code.begin_phases

    def through(self) -> int:
        """From the task behind a collective of one PE to the end of the part."""
        inner = self._inner()
        if not inner:
            return 0
        asked = len(inner) + (self.plan.uses.index(inner[0]) > 0)
        return self.code.phase_read + self.code.other_use * asked

    def _inner(self) -> list[Use]:
        """The uses behind which the same collective has another."""
        return [use for use in self.plan.uses if use.phase < self._last(use)]

    def opened(self, routers: Routers) -> Ints:
        """What sets the routers of a phase, up to the call of what starts it."""
        code, scalar = self.code, self.plan.target.cycles.engine.scalar
        none: Ints = np.asarray(routers.colors == 0, dtype=np.int64)
        noted = 0 if self.plan.ends_torn_down else code.opened - scalar * none
        return (
            noted
            + code.opened_color * routers.colors
            + code.opened_array * routers.arrays
            + code.opened_output * routers.outputs
            + code.opened_switch * routers.switched
            + code.opened_moving * routers.moving
        )

    def started(self, index: int) -> int:
        """In the task that begins a phase: whose it is, and the colors in use are read."""
        code = self.code
        return code.phase_read + code.other_use * index + code.this_use + LOADED

    def to_end(self, use: Use) -> int:
        """In the task that is told of the end of a part: which phase it was."""
        return self.code.end_blocked * self.plan.ends_torn_down + self._phase_asked(use)

    def passed_on(self, use: Use) -> int:
        """In the tasks that the end of a part passes before, where it waits for teardowns: one for
        each color of the collective's but the first, with what is between two tasks."""
        if not self.plan.ends_torn_down:
            return 0
        uses = (one for one in self.plan.uses if one.collective == use.collective)
        torn = [k for k, color in enumerate(self.plan.colors) if color.torn_down]
        last = max((k for one in uses for _, k in one.positions if k in torn), default=0)
        code, gap = self.code, self.plan.target.cycles.engine.between_tasks
        each = code.end_blocked + code.ends + code.frame + gap
        return each * max(0, sum(k <= last for k in torn) - 1)

    def _phase_asked(self, use: Use) -> int:
        code, inner = self.code, self._inner()
        if not inner:
            return 0
        first = self.plan.uses.index(inner[0])  # those before it are asked for together
        if (use.collective, use.phase) < (inner[0].collective, inner[0].phase):
            return code.phase_read + code.this_use * (first > 0)
        asked = code.phase_read + code.other_use * (first > 0)
        if use in inner:
            return asked + code.other_use * inner.index(use) + code.this_use
        return asked + code.other_use * len(inner)

    def _last(self, use: Use) -> int:
        return len(self.plan.plans[use.collective].phases) - 1
