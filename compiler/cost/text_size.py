"""Which functions of a program are called, since there is no room in the place of their calls.

A program of many calls, or of many routers, calls and returns where a shorter one goes straight on.
A PE has the functions of its roles (`collc.cost.function_text`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collc.base.columns import Bools
from collc.base.values import dataclass
from collc.cost import function_text as texts
from collc.cost.dispatch import sends_control, tasks_of
from collc.cost.function_text import RowText, Text, inlined
from collc.cost.operations import Costs, costs_of
from collc.cost.phase_entry import by_role
from collc.cost.predict import Times
from collc.cost.switched import Switched
from collc.lowering.shared_phases import SharedPhase, is_quick, loads_at_start
from collc.plan import Role
from collc.plan.form import Form, form_of
from collc.plan.plan import ProgramPlan, Use
from collc.plan.step_tables import extent_of
from collc.spec import Collective, ContractKind, Program


@dataclass(frozen=True)
class CallsLeft:
    """Calls of one call stream that are left, where a function is not put in their place: by use,
    and of each [x, y].

    `end` counts those on the way from the task at the end of the part to what is behind it, `ended`
    those on the way there from a task of the phase itself. `start` says whether what begins the
    phase behind a teardown is called; `stored` and `sent` whether what is behind storing and behind
    sending is, in tasks that several phases have; `lanes` the same of what is behind a row of an
    exchange, and `prepares` whether such a task calls what prepares the next row.
    """

    end: list[Times]
    start: list[Bools]
    stored: list[Bools]
    sent: list[Bools]
    ended: list[Times]
    lanes: list[Bools]
    prepares: list[Bools]


@dataclass(frozen=True)
class TurnCallsLeft:
    """Calls of the program that are left, [x, y]: whether the function that chooses the turn is
    called at the launch, behind a turn, and behind the last one; and by call, whether that which
    begins it is."""

    launch: Bools
    next_turn: Bools
    next_round: Bools
    begins: dict[int, Bools]

    def of_turn(self, turn: int, *, launch: bool) -> Bools:
        """Whether what chooses a turn is called on the way there."""
        return self.launch if launch else self.next_turn if turn else self.next_round


@dataclass(frozen=True)
class CallStreamText:
    """The functions of a call stream by PE, and what they depend on."""

    plan: ProgramPlan
    given: Sequence[SharedPhase]
    switched: Sequence[Switched]

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and rows."""
        grid = self.plan.plans[0].collective.grid.whole
        return grid.width, grid.height

    def is_last(self, use: Use) -> bool:
        """Whether a collective is over behind a phase."""
        return use.phase == len(self.plan.plans[use.collective].phases) - 1

    def start(self, position: int) -> Text:
        """What begins a phase when its colors are free, by PE."""
        plan, use = self.plan, self.plan.uses[position]
        routers = self.switched[position].routers
        set_all = Text(
            texts.ROUTER.instructions * routers.colors
            + texts.ROUTER_OUTPUTS.in_place * routers.arrays
            + texts.ROUTER_SWITCHED.in_place * routers.switched
            + texts.ROUTER_MOVING.in_place * routers.moving,
            texts.ROUTER.variables * routers.colors
            + texts.ROUTER_OUTPUTS.variables * routers.arrays
            + texts.ROUTER_SWITCHED.variables * routers.switched
            + texts.ROUTER_MOVING.variables * routers.moving,
        )
        first = [self._first(position, role) for role in plan.phase(use).roles]
        begun = self._by_role(use, first, texts.NOTHING)
        if not self.switched[position].colors:
            return begun
        configure = Text(texts.CONFIGURE.instructions + texts.SETS * routers.colors, 0).calls(
            set_all
        )
        return texts.START.calls(configure, begun)

    def _by_role(self, use: Use, of_roles: Sequence[Text], none: Text) -> Text:
        """The text of each PE's role in a phase; `none` of those without a part in it."""
        numbers = {id(role): number for number, role in enumerate(self.plan.phase(use).roles, 1)}
        chosen = by_role(self.plan, use, lambda role: numbers[id(role)])[None]
        instructions, variables = (
            np.stack([np.broadcast_to(one, self.shape) for one in of])
            for of in zip(*((t.instructions, t.variables) for t in (none, *of_roles)), strict=True)
        )
        return Text(
            np.take_along_axis(instructions, chosen, axis=0)[0],
            np.take_along_axis(variables, chosen, axis=0)[0],
        )

    def _first(self, position: int, role: Role) -> Text:
        """The first function of a phase for a role."""
        phase = self.plan.phase(self.plan.uses[position])
        if form_of(phase).is_cut:
            if not any(lane.table for lane in role.lanes):
                return texts.NOTHING
            if form_of(phase) is Form.STREAM:
                return texts.BEGIN.calls(texts.STREAMS)
            rows = self._exchange(position, role)
            restore = [texts.RESTORE] * self._restores(self.plan.uses[position])
            steps = rows.steps(texts.CLOSE.calls(texts.FINISH, *restore))
            return texts.BEGIN.calls(texts.EXCHANGE.calls(*rows.prepare, steps))
        if not role.ops:
            return texts.NOTHING
        return texts.OPERATION.calls(*[texts.LOADS] * loads_at_start(phase, self.given[position]))

    def _exchange(self, position: int, role: Role) -> RowText:
        """What a role has of an exchange; functions that are called anyway, since they are too long
        themselves, have no instructions here."""
        use = self.plan.uses[position]
        phase = self.plan.phase(use)
        alike = extent_of(phase) > 0
        staged, none = phase.areas > 0, Text(0, 0)
        combines = self.plan.plans[use.collective].collective.contract.operation is not None
        rows = RowText([], [])
        for lane in role.lanes:
            if not lane.table:
                rows.prepare.append(none)
                rows.start.append(none)
                continue
            sends, both = lane.sends_on is not None, None not in {lane.sends_on, lane.receives_on}
            more = texts.PREPARE_STAGE * staged + texts.PREPARE_SIZE * (not alike)
            prepare = (texts.PREPARE_BOTH if both else texts.PREPARE_ROW).calls(Text(more, 0))
            # as `Features.calls_prepare` and `calls_start` have it
            called = sends and staged and (phase.areas > 1 or not alike)
            rows.prepare.append(none if called else prepare)
            if both:
                begun = texts.START_COMBINES if combines else texts.START_BOTH
                begun = texts.START_STAGES if staged else begun
            else:
                begun = texts.START_ROW_STAGES if staged else texts.START_ROW
            own_steps = is_quick(self.plan, use, self.given[position]) and not self._restores(use)
            called = both and staged and (len(role.lanes) > 1 or own_steps) and not alike
            rows.start.append(none if called else begun)
        return rows

    def begin(self, position: int) -> Text:
        """What a PE calls to come to a phase."""
        torn_down = bool(self.switched[position].colors)
        return (texts.BEGIN_TORN_DOWN if torn_down else texts.BEGIN).calls(self.start(position))

    def run(self, index: int) -> Text:
        """What begins a collective by its index."""
        uses = list(self.plan.uses_of(index))
        if not uses:
            return texts.RUN.calls(texts.PREPARE)
        prepare = (
            texts.PREPARE if has_buffer(self.plan.plans[index].collective) else texts.PREPARE_TOKEN
        )
        if costs_of(self.plan.plans[index], alone=False).negates:
            prepare = prepare.calls(texts.NEGATE)
        return texts.RUN.calls(prepare, self.begin(uses[0][0]))

    def none_left(self) -> CallsLeft:
        """All functions are in the place of their calls."""
        none = np.zeros(self.shape, dtype=np.bool_)
        flags, counts = [none for _ in self.plan.uses], [none * 0 for _ in self.plan.uses]
        return CallsLeft(counts, flags, flags, flags, counts, flags, flags)

    def calls_left(self, called: Text) -> CallsLeft:
        """The calls that are left, if the function `called` is that behind a collective."""
        behind = [
            called if self.is_last(use) else texts.AFTER.calls(self.begin(position + 1))
            for position, use in enumerate(self.plan.uses)
        ]
        return CallsLeft(
            self._left_at_ends(called, behind),
            self._left_behind_teardowns(),
            *self._left_in_tasks(behind),
        )

    def _left_at_ends(self, called: Text, behind: Sequence[Text]) -> list[Times]:
        """By use, how many calls are left in the task at the end of its part: that of `called` is
        the last one, and also the first if a collective of one phase comes before all others."""
        uses, every = self.plan.uses, np.ones(self.shape, dtype=np.bool_)
        inner = [position for position, use in enumerate(uses) if not self.is_last(use)]
        asked_first = bool(inner) and inner[0] > 0
        asked = len(inner) + asked_first
        own = Text(texts.ENDS.instructions + texts.EACH * asked, texts.ENDS.variables)
        callees = [called] * asked_first + [behind[position] for position in inner] + [called]
        found = inlined(own, [(every, one) for one in callees], self.shape).left
        left = [one.astype(np.int64) for one in found]
        if not asked_first:
            left = [left[0] * 0, *left]
        by_inner = dict(zip(inner, left[1:-1], strict=True))
        before = inner[0] if inner else 0
        return [by_inner.get(p, left[0] if p < before else left[-1]) for p in range(len(uses))]

    def _left_behind_teardowns(self) -> list[Bools]:
        """By use, whether the task behind a teardown calls what begins the phase."""
        every = np.ones(self.shape, dtype=np.bool_)
        torn = [bool(one.colors) and not self.plan.ends_torn_down for one in self.switched]
        own = Text(texts.OTHERS.instructions + texts.EACH * sum(torn), texts.OTHERS.variables)
        starts = [(every & waits, self.start(position)) for position, waits in enumerate(torn)]
        return inlined(own, starts, self.shape).left

    def _left_in_tasks(
        self, behind: Sequence[Text]
    ) -> tuple[list[Bools], list[Bools], list[Times], list[Bools], list[Bools]]:
        """`stored`, `sent`, `ended`, `lanes` and `prepares` of `CallsLeft`, in tasks that several
        phases have."""
        uses, none = self.plan.uses, np.zeros(self.shape, dtype=np.bool_)
        stored, sent, lanes, prepares = ([none] * len(uses) for _ in range(4))
        ended = [none.astype(np.int64) for _ in uses]
        tasks: dict[int, list[tuple[int, str, Bools, Text]]] = {}
        for position, use in enumerate(uses):
            for name, (task, mask) in tasks_of(self.plan, use, self.given[position]).items():
                text, calls, prepare = self._behind_operation(position, name, behind[position])
                ended[position] = ended[position] + calls * mask
                prepares[position] = prepares[position] | (prepare & mask)
                tasks.setdefault(task, []).append((position, name, mask, text))
        for parts in tasks.values():
            own = Text(texts.OTHERS.instructions + texts.EACH * len(parts), texts.OTHERS.variables)
            left = inlined(own, [(mask, text) for *_, mask, text in parts], self.shape).left
            for (position, name, *_), called in zip(parts, left, strict=True):
                if name in {"stored", "sent"}:
                    {"stored": stored, "sent": sent}[name][position] = called
                elif name.isdigit():
                    lanes[position] = lanes[position] | called
        return stored, sent, ended, lanes, prepares

    def _restores(self, use: Use) -> bool:
        return restores(self.plan, use, costs_of(self.plan.plans[use.collective], alone=False))

    def _behind_operation(
        self, position: int, name: str, behind: Text
    ) -> tuple[Text, Times, Bools]:
        """What a task of a phase calls, how many calls are left there up to what is `behind` the
        part, and whether that of what prepares a row of an exchange is; `name` is that of the task
        in `tasks_of`, of an exchange the number of its lane."""
        plan, use, none = self.plan, self.plan.uses[position], np.zeros(self.shape, dtype=np.bool_)
        quick = is_quick(plan, use, self.given[position])
        if name.isdigit():
            on = ~none if quick and not self._restores(use) else none
            close = inlined(texts.CLOSE, [(on, behind)], self.shape)
            ended = close.left[0].astype(np.int64)
            if form_of(plan.phase(use)) is Form.STREAM:
                return texts.NEXT_ROW.calls(close.text), ended, none
            rows = [self._exchange(position, role) for role in plan.phase(use).roles]
            if int(name) or len(rows[0].start) > 1:
                tasks = [one.task(int(name), close.text) for one in rows]
                return self._by_role(use, tasks, texts.NEXT_ROW), ended, none
            nothing = Text(0, 0)
            start = self._by_role(use, [one.start[0] for one in rows], nothing)
            prepare = self._by_role(use, [one.prepare[0] for one in rows], nothing)
            steps = inlined(
                texts.STEPS, [(~none, of) for of in (start, close.text, prepare)], self.shape
            )
            there = prepare.instructions > 0  # else it is too long itself
            return texts.NEXT_ROW.calls(steps.text), ended + steps.left[1], steps.left[2] & there
        if name != "sent" or not quick:
            return texts.STORED if name == "stored" else texts.SENT, none * 0, none
        last = by_role(plan, use, sends_control) > 0
        ends = inlined(texts.SENT_LAST, [(last, behind)], self.shape)
        return ends.text, ends.left[0].astype(np.int64), none


def has_buffer(collective: Collective) -> bool:
    """Whether a collective is told where its vector is."""
    return collective.contract.kind is not ContractKind.BARRIER


def restores(plan: ProgramPlan, use: Use, costs: Costs) -> bool:
    """Whether a phase changes the sign of the result when it is over."""
    phases = plan.plans[use.collective].phases
    combining = [n for n, one in enumerate(phases) if one.kind is not ContractKind.BROADCAST]
    return costs.negates and use.phase == max(combining, default=-1)


def text_of_turns(
    streams: Sequence[CallStreamText], program: Program, *, called: bool
) -> tuple[Text, TurnCallsLeft]:
    """The function that all call streams call behind a collective, and which calls are left on the
    way to the next turn. If what chooses the turn is too long, it is `called` wherever it is, and
    `Calls.to_turn` has those calls."""
    shape = streams[0].shape
    every, none = np.ones(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    runs = {
        plan.collective.name: (stream.run(index), has_buffer(plan.collective))
        for stream in streams
        for index, plan in enumerate(stream.plan.plans)
    }
    pointer = texts.POINTER_OF_ROUND if program.rounds > 1 else texts.POINTER
    calls, length = list[tuple[Bools, Text]](), texts.TURN * len(program.turns)
    order = [call for turn in program.turns for call in turn]
    for call in order:
        name = program.calls[call]
        begun, buffers = zip(
            *(runs[one] for one in program.alternatives.get(name, (name,))), strict=True
        )
        length += pointer * any(buffers)
        calls.append((every, begun[0] if len(begun) == 1 else texts.RUN.calls(*begun)))
    variables = texts.NEXT.variables * (2 if program.rounds > 1 else 1)
    turn = inlined(Text(texts.NEXT.instructions + length, variables), calls, shape)
    begins = dict(zip(order, turn.left, strict=True))
    own = (texts.CALLED_ROUND if program.rounds > 1 else texts.CALLED).calls(texts.FINISHED)
    if called:
        behind, left = own, TurnCallsLeft(none, none, none, begins)
    else:
        places = [(every, turn.text)] * (2 if program.rounds > 1 else 1)
        found = inlined(own, places, shape)
        launch = inlined(texts.LAUNCH, places[:1], shape).left[0]
        behind, left = found.text, TurnCallsLeft(launch, found.left[0], found.left[-1], begins)
    return (texts.MISSING.calls(behind) if len(streams) > 1 else behind), left
