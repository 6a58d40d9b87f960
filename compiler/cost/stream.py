"""One call stream of a program: what its calls take on every PE, phase by phase.

A PE begins its next phase when its own part of the one before is done and, where colors are torn
down, when the teardowns of those that it sets have come to its router. A program without joined
calls is one call stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from collc.cost.calls import Calls, Routers
from collc.cost.operations import Costs, depth_of
from collc.cost.phase_entry import code_of_start, places_of, work_of
from collc.cost.phase_timing import Ends, Part, ends_of, parts_of
from collc.cost.predict import Mask, Times
from collc.cost.processor import Piece, Processor, Stretch
from collc.lowering.configuration import is_switched
from collc.lowering.shared_phases import SharedPhase, is_quick, loads_at_start, shared_of
from collc.plan import BY_WAVELET, ColorUse, Phase, Role
from collc.plan.placement import received_colors, sent_colors
from collc.plan.program import ProgramPlan, Use
from collc.spec import ContractKind
from collc.spec.arithmetic import arithmetic_of
from collc.spec.simd import PAIR, WIDE

RAISED = 4  # cycles from where a teardown is in a router to where its handler may start [fit]


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
class Switched:
    """The colors that a phase finds torn down, by name and number; by PE: which its router has,
    and what it sets."""

    colors: tuple[tuple[str, int], ...]
    used: tuple[Mask, ...]
    routers: Routers


@dataclass
class CallStream:
    """`switching` is by how many cycles setting routers has put off the last PE's beginnings.
    `told` are handlers of teardowns that have not run, `due` is when the last task was that ended a
    phase. Where there are such handlers, or other calls may be in flight, the `processor` says what
    waits for what."""

    plan: ProgramPlan
    calls: Calls
    given: list[SharedPhase]
    loads: list[Times]  # cycles in which each use loads registers when it begins
    switched: list[Switched]  # by each use
    told: list[Piece] = field(default_factory=list)
    switching: int = 0
    processor: Processor | None = None
    due: Times = field(default_factory=lambda: np.zeros((1, 1), dtype=np.int64))

    def beside(self, others: list[Stretch], work: list[Stretch]) -> CallStream:
        """The call stream as it is, to try what it does beside code and work of others."""
        start = self.plan.target.cycles.engine.task_start
        processor = Processor(others, start, others_work=work)
        return replace(self, processor=processor)

    def has(self, number: int) -> bool:
        """Whether a color is the call stream's."""
        return any(color.number == number for color in self.plan.colors)

    def call(self, call: Call) -> Times:
        """Follow a call phase by phase; when the part of each PE is over."""
        over = reached = call.reached
        code, depth = self.plan.target.code, call.depth
        uses = list(self.plan.uses_of(call.index))
        for position, use in uses:
            begun, waits = self._begun(position, reached, depth)
            self.switching += int(begun.max() - reached.max())
            ready = begun + code.start + self.loads[position]
            if self.processor is not None:
                first = ready + code_of_start(self.plan, use, call.costs)
                if position != uses[0][0]:
                    stops = np.where(waits, self._stopped(reached, depth), first)
                    self.processor.hold(self.due, over, stops + code.frames_within)
                by_handler = np.where(waits, first + code.frames_of_start, begun)
                self.processor.hold(begun, begun, by_handler)
            self.told = [replace(piece, on=piece.on & ~waits) for piece in self.told]
            depth = np.where(waits, code.frames_of_start, depth)
            part = _part(self, position, use, call.costs, ready, depth)
            over = self._over(position, use, part)
            reached = over + code.next_phase
            depth = np.full_like(depth, code.frames_within)
        return over if uses else self._through(call)

    def _begun(self, position: int, reached: Times, depth: Times) -> tuple[Times, Mask]:
        """When PEs that have come to a phase have set their routers, and which of them have waited
        for a teardown."""
        switched, waits = self.switched[position], np.zeros_like(reached, dtype=np.bool_)
        if not switched.colors:
            return reached.copy(), waits
        used = {k: mask for mask, (_, k) in zip(switched.used, switched.colors, strict=True)}
        for piece in self.told:
            waits |= piece.on & used.get(piece.color, waits)
        begun = reached + self.plan.target.code.awaited * (switched.routers.colors > 0)
        if waits.any():
            handled = self._handled(used, self._stopped(reached, depth))
            due = handled + self.plan.target.cycles.engine.scalar
            runs = due if self.processor is None else self.processor.first_free(due)
            begun = np.where(waits, handled + (runs - due) + self.calls.started(position), begun)
        return begun + self.calls.opened(switched.routers), waits

    def _stopped(self, reached: Times, depth: Times) -> Times:
        """When the code has returned of PEs that have come to a phase and wait for a teardown."""
        code = self.plan.target.code
        return reached + code.awaited + np.maximum(depth - code.frames_of_start, 0)

    def _handled(self, used: dict[int, Mask], free: Times) -> Times:
        """When the handlers of the colors that a phase uses have run, one behind the other, on PEs
        that are free from some cycle on."""
        code, start = self.plan.target.code, self.plan.target.cycles.engine.task_start
        due = np.stack([piece.due for piece in self.told])
        on = np.stack([piece.on for piece in self.told])
        asked = np.stack(
            [used.get(piece.color, np.zeros_like(free, np.bool_)) for piece in self.told]
        )
        time, last, ran = free, free, np.zeros_like(free, dtype=np.bool_)
        for one in np.argsort(due, axis=0, kind="stable")[:, None]:
            when, here, awaited = (
                np.take_along_axis(of, one, axis=0)[0] for of in (due, on, asked)
            )
            begin = np.maximum(when, time)
            if self.processor is not None:
                begin = self.processor.first_free(begin)
            follows = ran & (when <= time)
            end = begin + code.told + start * ~follows
            time, ran = np.where(here, end, time), ran | here
            last = np.where(here & awaited, end, last)
        return last

    def left_over(self, over: Times) -> list[Piece]:
        """The tasks that tell of teardowns and have not begun when the turn is over."""
        assert self.processor is not None, "one that has no others beside it leaves none"
        begun = self.processor.would_take(self.told) if self.told else []
        return [
            replace(piece, on=piece.on & (begin >= over))
            for piece, begin in zip(self.told, begun, strict=True)
        ]

    def code(self) -> list[Stretch]:
        """When its code has run, and is going to."""
        if self.processor is None:
            return []
        after = self.processor.tried()
        if self.told:
            after.take(self.told)
        return after.as_others()

    def work(self) -> list[Stretch]:
        """What its phases have the processors do."""
        return self.processor.work if self.processor is not None else []

    def _over(self, position: int, use: Use, part: Part) -> Times:
        """When the part of each PE of a phase is over."""
        ends = ends_of(self.plan, use, part)
        if self.processor is not None and (np.stack(ends.due) >= 0).any():
            ends = self._between(position, use, part, ends)
        over = ends.over + self.calls.to_end(use) * ends.by_task
        if self.processor is not None:
            late = self.processor.put_off(part.begun, over)
            work = work_of(self.plan, use, part.costs, over - part.begun)
            self.processor.work.append((part.begun, over + late, work))
            over += late
            ends = replace(ends, torn={name: torn + late for name, torn in ends.torn.items()})
        if self.processor is None:
            return over
        task = self.plan.target.cycles.engine.task_start + self.calls.to_end(use)
        length = np.where(ends.by_task, task, part.costs.task + part.costs.code.last_control)
        return self._told_of_end(over - length, length, self._teardowns(position, ends))

    def _through(self, call: Call) -> Times:
        """When the part of each PE is over if it has nothing to do but to say so."""
        task = self.calls.through(call.costs)
        due = call.reached + call.depth - call.costs.code.frames_of_nothing
        if self.processor is not None:
            return self._told_of_end(due, np.full_like(due, task), [])
        return due + task

    def _told_of_end(self, due: Times, length: Times, teardowns: list[Piece]) -> Times:
        """When a part is over whose last task is due in a cycle. Tasks that tell of earlier
        teardowns run before; the others wait for what begins behind the end."""
        assert self.processor is not None, "one that has no others beside it does not wait"
        earlier = [replace(piece, on=piece.on & (piece.due <= due)) for piece in teardowns]
        self.due = due
        pieces = [
            Piece(due, length + self.plan.target.code.ended, np.ones_like(due, dtype=np.bool_)),
            *self.told,
            *earlier,
        ]
        self.told = [replace(piece, on=piece.on & (piece.due > due)) for piece in teardowns]
        return self.processor.take(pieces)[0] + length

    def _teardowns(self, position: int, ends: Ends) -> list[Piece]:
        """The handlers of the teardowns behind a phase."""
        switched, cycles = self.switched[position], self.plan.target.cycles
        told = np.full_like(ends.over, cycles.engine.task_start + self.plan.target.code.told)
        return [
            Piece(ends.torn[name] + RAISED, told, used, system=True, color=k)
            for (name, k), used in zip(switched.colors, switched.used, strict=True)
        ]

    def _between(self, position: int, use: Use, part: Part, ends: Ends) -> Ends:
        """What comes of a phase if the tasks between its operations wait for other code."""
        processor = self.processor
        assert processor is not None, "one that has no others beside it does not wait"
        late = [np.zeros_like(ends.over), np.zeros_like(ends.over)]
        for number in (0, 1):
            due, on = ends.due[number], ends.due[number] >= 0
            if not on.any():
                continue
            length = np.full_like(due, part.costs.task + part.costs.code.between)
            length += ends.long * number
            pieces = [Piece(due, length, on), *self.told, *self._teardowns(position, ends)]
            begin = np.where(on, processor.would_take(pieces)[0], due)
            late[number] = begin - due
            if late[number].any():
                ends = ends_of(self.plan, use, replace(part, late=(late[0], late[1])))
            # where no task is told of the end, the one that sends a control wavelet is the last one
            there = on & (ends.by_task | (number == 0))
            processor.hold(due, begin, begin + length * there)
        return ends

    def returned(self, call: Call) -> Times:
        """When the code that begins a call has returned."""
        for position, use in self.plan.uses_of(call.index):
            code = call.costs.code
            begun, waits = self._begun(position, call.reached, call.depth)
            first = code_of_start(self.plan, use, call.costs)
            begun += code.start + self.loads[position] + first
            stops = self._stopped(call.reached, np.full_like(begun, code.frames_of_start))
            return np.where(waits, stops, begun) + code.begun_returns
        return call.reached + call.costs.code.nothing_returns


def call_stream_of(plan: ProgramPlan, none: Times, joined: bool) -> CallStream:
    """A call stream before the launch; `none` is 0 for every PE. Calls that are `joined` are in
    flight beside those of other call streams."""
    shared = shared_of(plan)
    return CallStream(
        plan,
        Calls(plan, joined),
        shared,
        _loads(plan, shared),
        [_switched(plan, use) for use in plan.uses],
    )


def _loads(plan: ProgramPlan, shared: list[SharedPhase]) -> list[Times]:
    """By use and PE: the cycles in which registers are loaded when the phase begins; those of most
    phases have been since the program was loaded."""
    grid = plan.plans[0].collective.grid.whole
    found = []
    for use, given in zip(plan.uses, shared, strict=True):
        cycles = np.zeros((grid.width, grid.height), dtype=np.int64)
        phase = plan.phase(use)
        for part in parts_of(plan.plans[use.collective].collective.grid, cycles):
            for region, number in phase.regions:
                part[places_of(phase, region)] = _load(plan, use, phase.roles[number], given)
        found.append(cycles)
    return found


def _load(plan: ProgramPlan, use: Use, role: Role, given: SharedPhase) -> int:
    """Cycles in which a PE of a role loads the registers of a phase when that begins: for the
    fabric operand of each operation, for both where two vectors are combined, and two for a control
    wavelet, unless these are loaded behind the vector. Operations by call-back have none. Where a
    phase does not wait for its control wavelets, their registers are those of colors, and one of
    them is loaded anyway."""
    phase, maps = plan.phase(use), _maps(plan, use)
    code, load = plan.target.code, plan.target.cycles.engine.dsr_load
    ops = () if phase.exchange else role.ops
    stored = sum(op.stores for op in ops)
    sent = [op for op in ops if op.sends]
    both = sum(op.combines_from is not None for op in sent)
    control = sum(op.advance in BY_WAVELET for op in sent)
    if is_quick(plan, use, given):
        always, control = control * load, 0
    else:
        always = 0
    if not loads_at_start(phase, given):
        return always
    vectors = len(ops) - stored * maps + both * (not maps)
    control *= 0 if given.late else 2
    loads = vectors + control
    lengths = code.length_set * vectors if given.dynamic_length else 0
    return always + loads * load + lengths + code.late_load * (loads > 0)


def _maps(plan: ProgramPlan, use: Use) -> bool:
    """Whether elements are combined by a call-back."""
    contract = plan.plans[use.collective].collective.contract
    return arithmetic_of(contract.element, contract.operation).kind == "map"


def _part(  # noqa: PLR0913, PLR0917 - what a phase is, and how PEs come to it
    call_stream: CallStream, position: int, use: Use, costs: Costs, ready: Times, depth: Times
) -> Part:
    """What is evaluated: a PE may be quick only if all colors of the phase are torn down."""
    given = call_stream.given[position]
    phases = call_stream.plan.plans[use.collective].phases
    phase, quick = phases[use.phase], is_quick(call_stream.plan, use, given)
    combining = [i for i, one in enumerate(phases) if one.kind is not ContractKind.BROADCAST]
    restores = costs.negates and use.phase == max(combining, default=-1)
    shared = _costs(call_stream, position, use, costs)
    in_time = np.zeros_like(ready), np.zeros_like(ready)
    return Part(phase, shared, ready, depth, bool(given.torn_down), quick, restores, in_time)


def _costs(call_stream: CallStream, position: int, use: Use, costs: Costs) -> Costs:
    """The costs with the queues of the phase's colors, and tasks that phases have in turn, if they
    have not tasks of their own."""
    plan = call_stream.plan
    phase, positions = plan.phase(use), dict(use.positions)
    received = {plan.colors[positions[c]] for role in phase.roles for c in received_colors(role)}
    sent = {plan.colors[positions[c]] for role in phase.roles for c in sent_colors(role)}
    words = plan.target
    earlier = sum(_has_first_task(plan.phase(other)) for other in plan.uses[:position])
    dynamic_length = plan.program.has_lengths  # then phases have tasks of their own if they suffice
    own_tasks = dynamic_length and (
        len(plan.uses) == 1 or any(g.first.tasks for g in call_stream.given)
    )
    given = call_stream.given[position]
    code = costs.code
    dispatch = code.own_task if own_tasks else code.other_use * earlier + code.this_use
    return replace(
        costs,
        output_queue=min(depth_of(words.output_queue_words, c.output_queue) for c in sent),
        input_queue=min(depth_of(words.input_queue_words, c.input_queue) for c in received),
        task=costs.task + dispatch,
        dispatch=dispatch,
        frames=costs.code.returns,
        length=costs.elements // PAIR if phase.paired else costs.elements,
        group=WIDE if phase.wide else 1,
        control_load=2 * costs.load if given.late and not is_quick(plan, use, given) else 0,
    )


def _has_first_task(phase: Phase) -> bool:
    """Whether all PEs of a phase have the first of the tasks that phases share."""
    ops = (op for role in phase.roles for op in role.ops)
    return phase.exchange is None and not any(op.stores for op in ops)


def _switched(plan: ProgramPlan, use: Use) -> Switched:
    """What a use finds torn down."""
    grid = plan.plans[use.collective].collective.grid
    phase = plan.phase(use)
    shape = (grid.whole.width, grid.whole.height)
    of_use = ((name, plan.colors[k]) for name, k in use.positions)
    colors = tuple((name, color.number) for name, color in of_use if color.torn_down)
    names = [name for name, _ in colors]
    used = [np.zeros(shape, dtype=np.bool_) for _ in names]
    counts = np.zeros((*shape, 4), dtype=np.int64)  # arrays, outputs, switched, moving
    changing = {name for name, k in use.positions if name in names and is_switched(plan, k)}
    for count, *parts in zip(*(parts_of(grid, of) for of in (counts, *used)), strict=True):
        for region, number in phase.regions if names else ():
            places = places_of(phase, region)
            for color in phase.roles[number].colors:
                if color.color in names:
                    parts[names.index(color.color)][places] = True
                    count[places] += _counted(color, color.color in changing)
    torn: Times = np.sum(used, axis=0, dtype=np.int64) if names else counts[..., 0]
    return Switched(colors, tuple(used), Routers(torn, *np.moveaxis(counts, -1, 0)))


def _counted(use: ColorUse, switched: bool) -> tuple[int, int, int, int]:
    """What a router adds to `Routers`, but for itself."""
    outputs = len(use.positions[0].send)
    several = outputs > 1
    return several, outputs * several, switched, len(use.positions) > 1
