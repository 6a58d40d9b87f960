"""One call stream of a program: what its calls take on every PE, phase by phase.

A PE begins its next phase when its own part of the one before is done and, where colors are torn
down, when the teardowns of those that it sets have come to its router. A program without joined
calls is one call stream.
"""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from collc.base.columns import Bools
from collc.base.values import dataclass
from collc.cost.calls import Call, Calls
from collc.cost.dispatch import (
    Dispatch,
    before_rows,
    combining,
    dispatches,
    sends_combined,
    sends_control,
    sends_first,
)
from collc.cost.ends import Ends, Part, by_control
from collc.cost.operations import Costs
from collc.cost.phase_entry import by_role, code_of_start, work_of
from collc.cost.phase_timing import ends_of
from collc.cost.predict import Times
from collc.cost.processor import Piece, Processor, Stall, Stretch, Work, restricted
from collc.cost.register_loads import loads
from collc.cost.stretches import last
from collc.cost.switched import Begun, Switched, switched_of
from collc.cost.text_size import CallsLeft, CallStreamText, restores
from collc.cost.use_costs import costs_of_use
from collc.lowering.shared_phases import SharedPhase, is_quick, shared_of
from collc.plan.form import Form, form_of
from collc.plan.plan import ProgramPlan, Use

MOST_FOLLOWED = 6  # times that tasks which put each other off are followed
BETWEEN = 2  # a task between two operations of a phase: it issues the second, and returns
RAISED = 1  # cycles from where a teardown may leave a router to where its handler may start


@dataclass
class CallStream:
    """Calls of a program that follow each other, evaluated one by one; times are [x, y].

    `switching` is by how many cycles setting routers has put off the last PE's beginnings. `told`
    are handlers of teardowns that have not run. `due` is when the last task was that ended a phase;
    `by_code` says where that was a task of the phase itself, and `within` how many functions that
    are called the code behind it is in. `asked` are the collectives whose phases a PE's tasks ask
    for before its own, where that depends on a root. Where there are such handlers, or other calls
    may be in flight, the `processor` says what waits for what."""

    plan: ProgramPlan
    calls: Calls
    given: list[SharedPhase]
    loads: list[Times]  # cycles in which each use loads registers when it begins
    switched: list[Switched]  # by each use
    dispatches: list[Dispatch]
    left: CallsLeft
    told: list[Piece] = field(default_factory=list)
    switching: int = 0
    processor: Processor | None = None
    due: Times = field(default_factory=lambda: np.zeros((1, 1), dtype=np.int64))
    by_code: Bools = field(default_factory=lambda: np.zeros((1, 1), dtype=np.bool_))
    within: Times = field(default_factory=lambda: np.zeros((1, 1), dtype=np.int64))
    asked: Times = field(default_factory=lambda: np.zeros((1, 1), dtype=np.int64))

    def turns_to(self, other: CallStream) -> None:
        """Calls are those of another plan from now on, as for another root."""
        self.plan, self.given, self.asked = other.plan, other.given, other.asked
        self.loads, self.switched, self.dispatches = other.loads, other.switched, other.dispatches

    def beside(self, others: list[Stretch], work: list[Work]) -> CallStream:
        """The call stream as it is, to try what it does beside code and work of others."""
        gap = self.plan.target.cycles.engine.between_tasks
        return replace(self, processor=Processor(others, gap, others_work=work))

    def has(self, number: int) -> bool:
        """Whether a color is the call stream's."""
        return any(color.number == number for color in self.plan.colors)

    def call(self, call: Call) -> Times:
        """Follow a call phase by phase; when the part of each PE is over."""
        over = reached = call.reached
        code, depth = self.plan.target.code, call.depth
        uses = list(self.plan.uses_of(call.index))
        for position, use in uses:
            entry = self._begun(position, reached, depth)
            begun, waits = entry.at, entry.waits
            self.switching += int(begun.max() - reached.max())
            ready = begun + self.loads[position]
            stall = Stall(np.zeros_like(ready), np.zeros_like(ready))
            if self.processor is not None:
                first = ready + code_of_start(self.plan, use, call.costs) + code.frame
                left = first + np.where(waits, 0, depth - code.returns)
                if position != uses[0][0]:
                    stops = np.where(waits, self._stopped(reached, depth), left)
                    self.processor.hold(self.due, over, stops)
                for handler, end in entry.handlers:
                    self.processor.handle(handler, end)
                self.processor.hold(entry.task, entry.task, np.where(waits, first, entry.task))
            self.told = list(entry.told)
            depth = np.where(waits, code.returns + code.jump * self.left.start[position], depth)
            if self.processor is not None:
                only_sends = sends_first(self.plan, use)
                length = np.where(only_sends, call.costs.length, 0)
                begins, stall = self.processor.sends(left, length, self.told)
                depth = np.where(only_sends, depth + begins - left, depth)
            part = _part(self, position, use, call.costs, ready, depth, stall)
            over = self._over(position, use, part)
            reached = over + code.next_phase
            # where steps end, returns from several places meet
            meets = self.by_code & (form_of(self.plan.phase(use)).is_cut)
            depth = code.returns + code.jump * np.maximum(meets, self.within)
        return over if uses else self._through(call)

    def _begun(self, position: int, reached: Times, depth: Times) -> Begun:
        """What becomes of PEs that have come to a phase."""
        switched, waits = self.switched[position], np.zeros_like(reached, dtype=np.bool_)
        if not switched.colors:
            return Begun(reached.copy(), waits, reached, (), tuple(self.told))
        if self.plan.ends_torn_down:
            begun = reached + self.calls.opened(switched.routers)
            return Begun(begun, waits, reached, (), tuple(self.told))
        code = self.plan.target.code
        used = {k: mask for mask, (_, k) in zip(switched.used, switched.colors, strict=True)}
        for piece in self.told:
            waits |= piece.on & used.get(piece.color, waits)
        begun = runs = reached + code.awaited
        handlers, told = list[tuple[Times, Times]](), self.told
        if waits.any():
            due, handlers, told = self._handled(used, waits, self._stopped(reached, depth))
            runs = due if self.processor is None else self.processor.first_free(due)
            before = sum(bool(one.colors) for one in self.switched[:position])
            started = self.calls.started(before) + code.other_use * self.asked
            called = code.jump * self.left.start[position]
            begun = np.where(waits, runs + started + called, begun)
        begun = begun + self.calls.opened(switched.routers)
        return Begun(begun, waits, runs, tuple(handlers), tuple(told))

    def _stopped(self, reached: Times, depth: Times) -> Times:
        """When the code has returned of PEs that have come to a phase and wait for a teardown."""
        code = self.plan.target.code
        return reached + code.waits + code.frame + np.maximum(depth - code.returns, 0)

    def _handled(
        self, used: dict[int, Bools], waits: Bools, free: Times
    ) -> tuple[Times, list[tuple[Times, Times]], list[Piece]]:
        """When the task may begin that the handlers of the colors that a phase uses activate, on
        PEs that wait for them and are free from some cycle on: behind these, and those that are due
        till then. When they run, and which are left."""
        code, gap = self.plan.target.code, self.plan.target.cycles.engine.between_tasks
        due = np.stack([piece.due for piece in self.told])
        on = np.stack([piece.on for piece in self.told])
        asked = on & np.stack(
            [used.get(piece.color, np.zeros_like(free, np.bool_)) for piece in self.told]
        )
        order = np.argsort(due, axis=0, kind="stable")
        left = asked.sum(axis=0)
        time, handlers = free + gap, list[tuple[Times, Times]]()
        remain = on.copy()
        for one in order[:, None]:
            when, here, awaited = (
                np.take_along_axis(of, one, axis=0)[0] for of in (due, on, asked)
            )
            here = here & waits & ((left > 0) | (when <= time))
            np.put_along_axis(remain, one, np.take_along_axis(remain, one, axis=0) & ~here, axis=0)
            begin = np.maximum(when, time)
            if self.processor is not None:
                begin = self.processor.first_free(begin)
            left = left - awaited
            length = np.where(awaited & (left == 0), code.told_last, code.told)
            time = np.where(here, begin + length + gap, time)
            handlers.append((begin, np.where(here, begin + length, begin)))
        return time, handlers, restricted(self.told, remain)

    def left_over(self, over: Times) -> list[Piece]:
        """The tasks that tell of teardowns and have not begun when the turn is over."""
        assert self.processor is not None, "one that has no others beside it leaves none"
        begun = self.processor.would_take(self.told) if self.told else []
        return restricted(self.told, [begin >= over for begin in begun])

    def code(self) -> list[Stretch]:
        """When its code has run, and is going to."""
        if self.processor is None:
            return []
        after = self.processor.tried()
        if self.told:
            after.take(self.told)
        return after.as_others()

    def work(self) -> list[Work]:
        """What its phases have the processors do."""
        return self.processor.work if self.processor is not None else []

    def _over(self, position: int, use: Use, part: Part) -> Times:
        """When the part of each PE of a phase is over; sets `by_code` and `within`."""
        ends = ends_of(self.plan, use, part)
        self.by_code, left = ~ends.by_task, self.left
        ended = np.where(ends.by_task, left.end[position], left.ended[position])
        in_task = left.sent[position] | left.lanes[position]
        self.within = ended + in_task * self.by_code
        if self.processor is not None:
            self.processor.coming = ends.comes
            # call-backs keep the processor to the end
            keeps, gap = combining(self.plan, use) & part.costs.maps, self.processor.gap
            until = np.where(keeps, ends.over - gap, 0)
            self.processor.hold(np.zeros_like(until), part.begun, until)
        if self.processor is not None and (np.stack(ends.due) >= 0).any():
            part, ends = self._between(position, use, part, ends)
        if self.processor is not None and not (part.quick or part.ends_torn_down):
            ends = self._control_waits(position, use, part, ends)
        to_end = self._to_end(position, use, ends.by_task, ended)
        over: Times = ends.over + to_end
        if self.processor is not None:
            late = self.processor.put_off(part.begun, over, sends_first(self.plan, use))
            received, done = (
                work_of(self.plan, use, part.costs, over - part.begun, sending=sending)
                for sending in (False, True)
            )
            self.processor.work.append((part.begun, over + late, received, done))
            over += late
            ends = replace(ends, torn={name: torn + late for name, torn in ends.torn.items()})
        if self.processor is None:
            return over
        # where no task is told of the end, the last one is the one that ends the part
        until = np.where(ends.by_task, ends.over - gap, last(ends.code))
        self.processor.run(ends.code, last(ends.code), until)
        by_code = np.where(last(ends.code) < 0, by_control(part), over - late - last(ends.code))
        length = np.where(ends.by_task, to_end, by_code)
        return self._told_of_end(over - length, length, self._teardowns(position, ends))

    def _to_end(self, position: int, use: Use, by_task: Bools, called: Times) -> Times:
        """Cycles from the last task of a phase to what is behind it, within so many functions that
        are `called`; `by_task` where a task is told of the end."""
        passed_on, phase = self.calls.passed_on(use), self.plan.phase(use)
        jumps = self.plan.target.code.jump * called
        to_end: Times = (passed_on + self.calls.to_end(use)) * by_task + jumps
        form = form_of(phase)
        if form is Form.STREAM or (
            form is Form.STEPS and not phase.areas
        ):  # else the last row is applied behind it
            lanes, left = self.dispatches[position], self.left.lanes[position]
            to_end = to_end + before_rows(self.plan, use, lanes, left)[1]
        return to_end

    def _through(self, call: Call) -> Times:
        """When the part of each PE is over if it has nothing to do but to say so."""
        code, gap = self.plan.target.code, self.plan.target.cycles.engine.between_tasks
        task = self.calls.through()
        self.by_code = np.zeros_like(call.reached, dtype=np.bool_)
        self.within = np.zeros_like(call.reached)
        due = call.reached + code.ends + call.depth - code.returns + code.frame + gap
        if self.processor is not None:
            return self._told_of_end(due, np.full_like(due, task), [])
        return due + task

    def _told_of_end(self, due: Times, length: Times, teardowns: list[Piece]) -> Times:
        """When a part is over whose last task is due in a cycle. Tasks that tell of teardowns till
        then run before; the others wait for what begins behind the end."""
        assert self.processor is not None, "one that has no others beside it does not wait"
        if self.plan.ends_torn_down:
            for piece in teardowns:
                unblocked = np.where(piece.on, piece.due + piece.length + self.processor.gap, due)
                due = np.maximum(due, unblocked)
        self.due = due
        ended = self.plan.target.code.missing * self.calls.joined
        task = Piece(due, length + ended, np.ones_like(due, dtype=np.bool_))
        handlers = [*self.told, *teardowns]
        begin, *begun = self.processor.would_take([task, *handlers])
        self.told = restricted(handlers, [handler >= begin for handler in begun])
        earlier = restricted(handlers, [handler < begin for handler in begun])
        return self.processor.take([task, *earlier])[0] + length

    def _teardowns(self, position: int, ends: Ends) -> list[Piece]:
        """The handlers of the teardowns behind a phase."""
        switched = self.switched[position]
        code = self.plan.target.code
        length = code.end_unblocked if self.plan.ends_torn_down else code.told
        told = np.full_like(ends.over, length)
        return [
            Piece(ends.torn[name] + RAISED, told, used, system=True, color=k)
            for (name, k), used in zip(switched.colors, switched.used, strict=True)
        ]

    def _control_waits(self, position: int, use: Use, part: Part, ends: Ends) -> Ends:
        """What comes of a phase if the control wavelets that PEs wait for leave behind the handlers
        of teardowns that are due when the code has returned (D397)."""
        on = by_role(self.plan, use, sends_control) > 0
        if not on.any() or self.processor is None:
            return ends
        costs = part.costs
        late = np.zeros_like(ends.over)
        for _ in range(MOST_FOLLOWED):
            moves = ends.over - (costs.done(0, 0) - costs.dispatch) - late
            pieces = [*self.told, *self._teardowns(position, ends)]
            idle, _ = self.processor.sends(moves, np.ones_like(moves), pieces)
            before, late = late, np.where(on, idle - moves, 0)
            if (late == before).all():
                break
            ends = ends_of(self.plan, use, replace(part, late=(part.late[0], part.late[1] + late)))
        return ends

    def _between(self, position: int, use: Use, part: Part, ends: Ends) -> tuple[Part, Ends]:
        """What comes of a phase if the tasks between its operations wait for other code."""
        processor = self.processor
        assert processor is not None, "one that has no others beside it does not wait"
        late = list(part.late)
        for number in (0, 1):
            on = ends.due[number] >= 0
            if not on.any():
                continue
            length = part.dispatch[number] + BETWEEN + ends.long * (1 - number)
            for _ in range(MOST_FOLLOWED):
                due = ends.due[number]
                begin = self._begins_between(position, ends, Piece(due, length, on))
                before, late[number] = late[number], part.late[number] + begin - due
                if (late[number] == before).all():
                    break
                # what this task sends tears down later, which may put off those of other PEs
                ends = ends_of(self.plan, use, replace(part, late=(late[0], late[1])))
            # where no task is told of the end, the one that sends a control wavelet is the last one
            there = on & (ends.by_task | (number == 0))
            processor.hold(due, begin, begin + length * there)
        return replace(part, late=(late[0], late[1])), ends

    def _begins_between(self, position: int, ends: Ends, task: Piece) -> Times:
        """When a task between operations begins: behind the handlers of teardowns till then."""
        assert self.processor is not None, "one that has no others beside it does not wait"
        torn = self._teardowns(position, ends)
        begin = self.processor.would_take([task, *self.told, *torn])[0]
        return np.where(task.on, begin, task.due)

    def returned(self, call: Call) -> Times:
        """When the code that begins a call goes on behind it."""
        code = self.plan.target.code
        for position, use in self.plan.uses_of(call.index):
            entry = self._begun(position, call.reached, call.depth)
            first = entry.at + self.loads[position] + code_of_start(self.plan, use, call.costs)
            return np.where(entry.waits, call.reached + code.waits, first)
        return call.reached + code.ends


def call_stream_of(
    plan: ProgramPlan, turns: tuple[tuple[int, ...], ...], buffers: int, *, joined: bool
) -> CallStream:
    """A call stream before the launch, of a program in whose `turns` so many calls are told of
    `buffers`. Calls that are `joined` are in flight beside those of other call streams."""
    shared, switched = shared_of(plan), [switched_of(plan, use) for use in plan.uses]
    return CallStream(
        plan,
        Calls(plan, turns, joined, buffers),
        shared,
        loads(plan, shared),
        switched,
        dispatches(plan, shared),
        CallStreamText(plan, shared, switched).none_left(),
    )


def _part(  # noqa: PLR0913, PLR0917 - what a phase is, and how PEs come to it
    call_stream: CallStream,
    position: int,
    use: Use,
    costs: Costs,
    ready: Times,
    depth: Times,
    stall: Stall,
) -> Part:
    """What is evaluated: a PE may be quick only if all colors of the phase are torn down."""
    given = call_stream.given[position]
    phases = call_stream.plan.plans[use.collective].phases
    phase, quick = phases[use.phase], is_quick(call_stream.plan, use, given)
    dispatch, left = call_stream.dispatches[position], call_stream.left
    lanes = before_rows(call_stream.plan, use, dispatch, left.lanes[position])
    shared = costs_of_use(call_stream.plan, use, costs, given, lanes, left.prepares[position])
    other = costs.code.other_use * call_stream.asked
    stored, sent = (costs.code.jump * of[position] for of in (left.stored, left.sent))
    tasks = dispatch.stored + other + stored, dispatch.sent + other + sent
    by_map = costs.maps & by_role(call_stream.plan, use, sends_combined) > 0
    late = tasks[0] + stored, np.where(by_map, 0, tasks[1] + sent * (not quick))
    processor = call_stream.processor
    others = (
        processor.beside(ready, call_stream.told) if processor and form_of(phase).is_cut else None
    )
    return Part(
        phase,
        shared,
        ready,
        depth,
        bool(given.torn_down),
        quick,
        restores(call_stream.plan, use, costs),
        late,
        tasks,
        stall,
        others,
        given.ends_torn_down,
    )
