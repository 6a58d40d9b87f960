"""What the code of PEs does, from the model that the templates print: the scripts of the machine
with a clock.

A function of the text is a list of acts, those of what it calls among them; what a task begins is a
code of its own. Which function follows which is read from the names that the templates print. In
reading order: what instructions take, words, a PE, all PEs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.emit.lanes.acts import (
    BIT,
    COUNTED,
    INDEX,
    LEAVE,
    LOADED,
    POSITION,
    READ,
    ROUTES,
    SIDE,
    STORE,
    STORE_CONSTANT,
    SWITCH,
    UNROLLED,
    Acts,
    Takes,
    code,
    do,
    load,
    wait,
)
from collc.emit.lanes.classes import Act, in_stage
from collc.emit.lanes.model import (
    CLOSING_TASK,
    OWN_TASK,
    ClassModel,
    CollectiveModel,
    JoinModel,
    LibraryModel,
    PhaseModel,
    PlacedAct,
    SectionModel,
    SlotModel,
    TornDownModel,
)
from collc.emit.lanes.numbers import Key
from collc.emit.lanes.phases import in_blocks
from collc.emit.lanes.rates import Rates, depth_of, rates_of
from collc.emit.lanes.row_text import (
    BEHIND,
    ENDS,
    FABRIC,
    RECEIVES,
    RELAYS,
    SENDS,
    Facts,
    Given,
    Row,
    RowText,
    rows_at,
)
from collc.machine.given import Given as GivenCalls
from collc.machine.given import PhaseGiven
from collc.machine.reading import (
    Calls,
    Color,
    calls_of_plan,
    calls_of_program,
    given_of,
    roles_and_places,
)
from collc.machine.segments import segments_of
from collc.machine.timed import NO_COLOR, Script, TimedOp
from collc.plan import Action, Advance, Phase, Plan, filters_of
from collc.plan.plan import ProgramPlan
from collc.spec.simd import PAIR, WIDE


class UntimedError(Exception):
    """Something that the text has and the clock does not, in words."""


def words_at(
    plan: Plan, phase: Phase, placed: PlacedAct, place: int, given: int | None
) -> tuple[int, ...]:
    """The wavelets of an operation at a place, where calls have `given` a vector of so many words,
    or none; of turns those that are sent, turn by turn."""
    act = placed.act
    if act.command is not Advance.NOTHING:
        return (1,)
    if act.turns is not None:
        return _turns_at(plan, phase, act.op.slices.first.at(place), act)
    parts, words = PAIR if phase.paired else 1, plan.collective.contract.element.words
    if act.op.elements is not None:
        return (act.op.elements.at(place) * words // parts,)
    slicing = phase.slicing
    if slicing.count == 1:
        length = slicing.size(0) * words if given is None else given
        return (length // parts * placed.rounds,)
    first, count = act.first_at(place), act.op.slices.count.at(place)
    if act.last is not None:
        last = act.last.slices
        count = last.first.at(place) + last.count.at(place) - first
    if act.sieve is not None and not act.is_local:
        return (count * act.sieve.period.number_at(place) * slicing.size(0) * words // parts,)
    return (slicing.size(first, count) * act.op.slices.blocks * words // parts,)


def _turns_at(plan: Plan, phase: Phase, first: int, act: Act) -> tuple[int, ...]:
    assert act.turns is not None
    parts, words = PAIR if phase.paired else 1, plan.collective.contract.element.words
    sizes = np.diff(phase.slicing.bounds) * words // parts
    turns = np.arange(act.turns.count)
    found = sizes[(first + turns * act.turns.shift) % phase.slicing.count]
    return tuple(found[:1].tolist() if phase.slicing.even else found.tolist())


Numbered = tuple[int, ...]  # a slot, or what is received in its turns
Words = Mapping[Numbered, tuple[int, ...]]


def received_in(key: Key) -> Numbered:
    """What is received in the turns of a slot."""
    return (*key, -1)


@dataclass(frozen=True)
class _Common:
    """What PEs have in common: the program and its library; for each collective the index that the
    machine has for each color, the rates of its operations in memory, and the words of a vector."""

    program: ProgramPlan
    library: LibraryModel
    colors: tuple[Mapping[str, int], ...]
    rates: tuple[Rates, ...]
    lengths: tuple[int, ...]
    takes: Takes
    index: Mapping[int, int]  # by the numbers of colors what the machine calls them

    @property
    def torn_down(self) -> Iterator[tuple[int, TornDownModel]]:
        """Colors that are torn down between phases, with what the machine calls them."""
        for color in self.library.torn_down:
            number = self.library.colors[color.position]
            if number in self.index:
                yield self.index[number], color

    def model(self, of: int) -> CollectiveModel:
        """The model of a plan with a number, of those that have code of their own."""
        name = self.program.plans[of].collective.name
        return next(one for one in self.library.collectives if one.name == name)

    @property
    def rounds(self) -> int:
        """How many there are."""
        return 1 if self.program.alone else self.program.program.rounds

    def task(self, position: int) -> int:
        """The id of a task."""
        return self.library.task_ids[position]


Sets = tuple[tuple[int, int, int], ...]  # colors of routers, by how many sides, other positions


@dataclass(frozen=True)
class _Part:
    """A PE's part in a phase, which has a number: what it does in which slot, the wavelets and the
    first slice of each, how many ends sections have, whether signs are turned back, which routers
    it sets, and rows of step tables; empty if it has none."""

    number: int
    phase: PhaseModel
    plan_phase: Phase
    acts: Mapping[Key, PlacedAct]
    words: Words
    firsts: Mapping[Numbered, int]
    ends: tuple[int, ...]
    restores: bool
    sets: Sets
    rows: Mapping[Key, tuple[Row, ...]]


class _Pe:
    """Makes the script of PEs that do the same; `parts` are theirs in the phases of collectives."""

    def __init__(
        self, common: _Common, parts: Sequence[Sequence[_Part]], calls: tuple[int, ...]
    ) -> None:
        self.calls = calls
        self.common, self.parts, self.takes = common, parts, common.takes
        self.codes: list[Acts] = []
        # code that has a number and is still to be made: tasks follow each other by the hundred,
        # too many to make one within the other
        self.due: list[tuple[int, Callable[[], Acts]]] = []
        self.ops: list[TimedOp] = []
        self.op_numbers: dict[object, int] = {}
        self.places: dict[int, Place] = {}  # by operation where its number of words is from
        self.code_numbers: dict[object, int] = {}
        self.counters = 0
        self.turns: list[tuple[int, ...]] = []
        self.known_codes: dict[object, int] = {}
        self.blocked = 0
        self.inputs: dict[int, int] = {}
        self.outputs: list[int] = []
        self.taking_part = {
            name
            for of in parts
            for part in of
            if part.acts
            for name in (
                part.phase.name,
                *(f"{part.phase.name}.{s.field}" for s in part.phase.fields if s.key in part.acts),
            )
        }

    def script(self) -> Script:
        """The whole of it."""
        self.codes.append([])
        self.codes[0] = self._launched()
        while self.due:
            number, acts = self.due.pop()
            self.codes[number] = acts()
        handlers = tuple(self._handlers())
        return Script(
            tuple(map(tuple, self.codes)),
            tuple(self.ops),
            tuple(self._depth("output", queue) for queue in self.outputs),
            tuple(self.inputs.items()),
            self.blocked,
            self.counters,
            tuple(self.turns),
            handlers,
        )

    def _handlers(self) -> Iterator[tuple[int, int]]:
        """What is done behind the teardown of each color."""
        start = self.common.library.start_task
        for index, color in self.common.torn_down:
            if color.task >= 0:
                task = self.common.task(color.task)
                self.blocked |= 1 << task
                acts = [*code(1), do("unblock", task)]
            else:
                told = do("told", index, self.common.task(start))
                acts = [*code(2 * READ + 2 + STORE), told, *self.takes.taken]
                acts += code(READ + 1 + STORE)
            yield index, self.same_code(acts)

    def _depth(self, kind: str, queue: int) -> int:
        words: tuple[int, ...] = getattr(self.common.program.target, f"{kind}_queue_words")
        return depth_of(words, queue)

    def holds(self, condition: str) -> bool:
        """Whether a condition on what takes part, as it is printed, is true of the PE."""
        if " and " in condition:
            return all(map(self.holds, condition.split(" and ")))
        if " or " in condition:
            return any(map(self.holds, condition.split(" or ")))
        if condition.startswith("!"):
            return not self.holds(condition[1:])
        if condition in {"true", "false", ""}:
            return condition == "true"
        if condition.endswith(" > 0)"):
            return condition[1 : -len(" > 0)")] in self.taking_part
        return condition.removesuffix(".takes_part") in self.taking_part

    # the program around the collectives: `pe_program.csl`, or `program_pe.csl`

    def _launched(self) -> Acts:
        """What the launch begins."""
        call = self.calls[0]
        if self.common.program.alone:
            return _Call(self, 0, 0, call).begin()
        several = len(self.calls) * self.common.rounds > 1
        counts = code(STORE_CONSTANT + STORE * (self.common.rounds > 1)) if several else []
        counts += self._length(call)
        return [do("mark", 0), *counts, *_Call(self, 0, 0, call).begin()]

    def _length(self, call: int) -> Acts:
        """The length of a round is read, if it is not known."""
        return code(READ) if self.common.model(call).run_length else []

    def called(self, turn: int, call: int) -> Acts:
        """What follows the end of a call, in the first round, or in one of the others."""
        calls, rounds = self.calls, self.common.rounds
        if self.common.program.alone:
            return [do("mark", len(self.common.library.phases)), do("done")]
        mark = do("mark", turn * len(calls) + call + 1)
        if len(calls) * rounds == 1:
            return [mark, do("done")]
        counted = [mark, *code(READ + 1 + STORE + 1)]
        if call + 1 < len(calls):
            return [*counted, *self.takes.passed, *self._chosen(turn, call + 1)]
        counted += self.takes.taken
        if rounds == 1:
            return [*counted, do("done")]
        again = self.code("next round", self._next_round)
        counted += code(STORE_CONSTANT + READ + 1 + STORE + 1)
        if turn == 0:
            return [*counted, *self.takes.passed, *self._next_round()]
        counter, self.counters = self.counters, self.counters + 1
        jumps = [
            do("again", counter, rounds - 1, again),
            *wait(self.takes.jump - self.takes.no_jump),
        ]
        return [*counted, *self.takes.passed, *jumps, do("done")]

    def _chosen(self, turn: int, call: int) -> Acts:
        """The call is found by halving; behind it code jumps to where returns meet."""
        calls, takes = self.calls, self.takes
        found, ends = Acts(), Acts()
        first, behind = 0, len(calls)
        while behind - first > 1:
            middle = first + (behind - first + 1) // 2
            left = call < middle
            found += [*code(1), *(takes.passed if left else takes.taken)]
            ends += takes.taken if left else []
            first, behind = (first, middle) if left else (middle, behind)
        begun = self._pointers(turn, call, code(READ + INDEX))
        begun += _Call(self, turn, call, calls[call]).begin()
        return [*found, *begun, *ends, *takes.taken]

    def _next_round(self) -> Acts:
        begun = self._pointers(1, 0, code(INDEX))
        return [*begun, *_Call(self, 1, 0, self.calls[0]).begin(), *self.takes.taken]

    def _pointers(self, turn: int, call: int, acts: Acts) -> Acts:
        """Where the vectors of a round are."""
        of = self.calls[call]
        if self.common.rounds == 1 or not self.common.model(of).buffer:
            return self._length(of)
        return [*acts, *self._length(of)]

    def code(self, key: object, acts: Callable[[], Acts]) -> int:
        """The number of a task's code."""
        if key not in self.code_numbers:
            self.code_numbers[key] = len(self.codes)
            self.codes.append([])
            self.due.append((self.code_numbers[key], acts))
        return self.code_numbers[key]

    def same_code(self, acts: Acts) -> int:
        """The number of code that others may have, too."""
        key = tuple(acts)
        if key not in self.known_codes:
            self.known_codes[key] = len(self.codes)
            self.codes.append(acts)
        return self.known_codes[key]

    def turn(self, codes: Sequence[int]) -> Acts:
        """One after the other of several codes, each time it is come to."""
        self.turns.append(tuple(codes))
        return [do("turn", len(self.turns) - 1)]

    def counter(self) -> int:
        """A counter of its own."""
        self.counters += 1
        return self.counters - 1

    def op(
        self, key: object, make: Callable[[], TimedOp], place: Place | None = None
    ) -> int:
        """The number of an operation, whose words are those of a place."""
        if key not in self.op_numbers:
            self.op_numbers[key] = len(self.ops)
            self.ops.append(make())
            if place is not None:
                self.places[self.op_numbers[key]] = place
        return self.op_numbers[key]

    def output(self, queue: int) -> int:
        """The place of an output queue among those of the PE."""
        if queue not in self.outputs:
            self.outputs.append(queue)
        return self.outputs.index(queue)


NOWHERE = TimedOp(NO_COLOR, NO_COLOR, 0, (1,), 1, False, False, "nothing", False, ("", 0))


class _Call:
    """A call of a collective: its functions, by the names that the text has for them."""

    def __init__(self, pe: _Pe, turn: int, call: int, of: int) -> None:
        self.pe, self.number, self.of = pe, (turn, call), of
        self.takes, self.common = pe.takes, pe.common
        self.model = pe.common.model(of)
        self.plan, self.rates = pe.common.program.plans[of], pe.common.rates[of]
        self.pointed: set[object] = set()
        self.base = "vector"  # what is known to be in the variable that has the caller's vector
        self.reads = 0
        self.functions: dict[str, Callable[[], Acts]] = {
            "done": lambda: pe.called(turn, call),
            "finish": self._finish,
            f"{self.model.prefix}over": self._over,
        }
        for part in pe.parts[of]:
            for section in part.phase.sections:
                self._name_functions(part, section)
            if part.phase.multiplexed:
                self.functions[part.phase.begin] = partial(self._open, part)
                self.functions[f"close_{part.phase.name}"] = partial(self._close, part)
        alone = pe.common.program.alone
        self.phases = {one.begin: at for at, one in enumerate(self.model.phases) if alone}
        if self.model.restored:
            self.functions[f"{self.model.prefix}restore"] = self._restore

    def _name_functions(self, part: _Part, section: SectionModel) -> None:
        for slot in section.slots:
            self.functions[f"{slot.name}.start"] = partial(self._start, part, slot)
            self.functions[f"begin_{slot.name}"] = partial(self._begin_slot, part, slot)
        if not section.is_one_chain:
            self.functions[section.begin] = partial(self._begin_section, part, section)
        for join in section.joins:
            if join.activates >= 0:
                task = self.common.task(join.activates)
                self.functions[join.then] = partial(_activate, task)

    # routers that are set as a phase begins

    def _open(self, part: _Part) -> Acts:
        phase, common = part.phase, self.common
        if phase.closing:
            return [*self._awaits_teardowns(part), *self._set(part), *self.run(phase.first)]
        if not part.sets:
            return self._opened(part)
        body = self.task(f"opened {phase.name}", lambda: self._opened(part))
        starts = self.pe.same_code([*code(READ), *self.takes.taken, *self.pe.turn([body])])
        waits = self.pe.same_code([*self.takes.taken, *code(STORE_CONSTANT)])
        colors = sum(1 << color for color, _, _ in part.sets)
        return [
            do("follow", common.task(common.library.start_task), starts),
            *code(READ + 1 + STORE + 1), do("await", colors, waits), *self.takes.passed,
            *self._opened(part), *self.takes.taken,
        ]  # fmt: skip

    def _opened(self, part: _Part) -> Acts:
        return [*code(1 + STORE), *self._set(part), *self.run(part.phase.first)]

    def _awaits_teardowns(self, part: _Part) -> Acts:
        """Tasks that wait for teardowns: the end of the phase activates the last of them, that the
        one before it, the first what comes next."""
        common, acts = self.common, Acts()
        own = {color for color, _, _ in part.sets}
        before = -1
        for index, color in common.torn_down:
            if color.task not in part.phase.closing:
                continue
            task = common.task(color.task)
            if index not in own:
                acts += [*code(1), do("unblock", task)]
            follows = self.task(
                f"closed {part.phase.name} {color.task}",
                partial(self._closed, part, task, before),
            )
            acts.append(do("follow", task, follows))
            before = task
        return [*acts, *code(STORE_CONSTANT * (len(common.library.closed) > 1))]

    def _closed(self, part: _Part, task: int, before: int) -> Acts:
        blocks = [*code(1), do("block", task)]
        if before >= 0:
            return [*blocks, *_activate(before)]
        return [*blocks, *self._called(part.phase.closed, len(self.common.library.closed) > 1)]

    def _close(self, part: _Part) -> Acts:
        return _activate(self.common.task(part.phase.closing[-1]))

    def _set(self, part: _Part) -> Acts:
        """The routers of the PE are set for a phase."""
        acts, colors = Acts(), self.common.colors[self.of]
        switched = {colors[one.name]: one.switched == "true" for one in part.phase.multiplexed}
        for color, sides, others in part.sets:
            count = ROUTES + (SIDE * sides - 1) * (sides > 1)
            count += (SWITCH + POSITION * others) * switched[color] + LEAVE
            acts += [*code(count), do("set", color, part.number)]
        return acts

    def run(self, name: str) -> Acts:
        """What a function does; where a phase of a collective by itself begins, a mark."""
        mark = [do("mark", self.phases[name])] if name in self.phases else []
        return mark + self.functions[name]()

    def task(self, name: str, acts: Callable[[], Acts]) -> int:
        """The number of the code of a task, which knows nothing of what code before it has read."""

        def alone() -> Acts:
            before = self.base, self.pointed
            self.base, self.pointed = "", set()
            found = acts()
            self.base, self.pointed = before
            return found

        return self.pe.code((self.number, name), alone)

    # a call

    def begin(self) -> Acts:
        """The collective's function."""
        model, parts = self.model, self.pe.parts[self.of]
        takes_part = any(part.acts or part.sets for part in parts)
        acts = code(READ + STORE) if model.has_word else []
        if (model.site.takes_part or not model.phases) and not takes_part:
            return acts + self.run("finish")
        if model.first_pass:
            acts += self._first_pass()
        if model.base:
            acts += code(STORE_CONSTANT)
        acts += self._loads(early=True)
        acts += self.run(model.first)
        return acts + self._loads(early=False)

    def _first_pass(self) -> Acts:
        rate = self.rates.copy if self.model.input else self.rates.negate
        cycles = ceil(self.common.lengths[self.of] / rate)
        return [*code(2), *self._in_memory("first pass", 2, cycles)]

    def _in_memory(self, what: str, loads: int, cycles: int) -> Acts:
        """An operation in memory: its registers are loaded, and code executes it."""
        op = self.pe.op((self.number, what), lambda: NOWHERE)
        return [*load(loads, op), do("settle", op), *code(cycles)]

    def _restore(self) -> Acts:
        acts: Acts = []
        if any(part.restores for part in self.pe.parts[self.of]):
            cycles = ceil(self.common.lengths[self.of] / self.rates.negate)
            acts = [*code(1), *self._in_memory("restore", 1, cycles)]
        return acts + self.run(self.model.restored)

    def _finish(self) -> Acts:
        task = self.common.task(len(self.common.library.task_ids) - 1)
        follows = self.task("finished", lambda: self.run("done"))
        return [do("follow", task, follows), *code(1), do("activate", task)]

    def _over(self) -> Acts:
        """A PE that only sets its router may be here before the function has returned."""
        return self.run("done" if any(part.acts for part in self.pe.parts[self.of]) else "finish")

    def _loads(self, *, early: bool) -> Acts:
        """The registers that the call loads before the first operation, or behind it."""
        acts: Acts = []
        loaded = {slot.name for slot in self.model.loaded}
        for part, slot in self._slots():
            now = self.pe.holds(slot.begins) if early else not self.pe.holds(slot.begins)
            printed = slot.begins if early else slot.begins != "true"
            if not (printed and now and slot.name in loaded):
                continue
            if not self._shares(slot):
                acts += self._load(part, slot)
        return acts

    def _slots(self) -> Iterator[tuple[_Part, SlotModel]]:
        for part in self.pe.parts[self.of]:
            for section in part.phase.sections:
                yield from ((part, slot) for slot in section.slots)

    def _shares(self, slot: SlotModel) -> bool:
        return bool(slot.shares_register) and self.pe.holds(slot.shares_register)

    def _load(self, part: _Part, slot: SlotModel, *, again: bool = False) -> Acts:
        """What `load` of a slot's module does, the registers being others' before if `again`."""
        placed = part.acts.get(slot.key)
        if placed is None:
            return []
        if placed.act.turns is not None:
            out, into = (self._turn_op(part, slot, placed, way) for way in (True, False))
            fabric = again and part.plan_phase.slicing.even
            loads = [*load(1, out), *load(1, into)] if fabric else []
            return [*loads, *self._base(again), *code(1 + STORE)]
        if placed.act.table is not None:
            return self._load_table(part, slot, again)
        if in_blocks(placed.act):
            return [*self._base(again), *self._pointed(part, placed), *code(STORE)]
        if placed.act.is_local or self._calls_back(placed.act):
            kept = bool(self.model.run_length) + STORE
            return [*self._base(again), *self._pointed(part, placed), *code(kept)]
        return self._load_registers(part, slot, placed, again)

    def _load_registers(self, part: _Part, slot: SlotModel, placed: PlacedAct, again: bool) -> Acts:
        act, varies = placed.act, bool(self.model.run_length)
        tells, (receives, sends) = act.command is not Advance.NOTHING, _sides(act)
        staged, op, acts = _is_staged(act), self._op(part, slot, placed), Acts()
        if varies and not tells:
            acts += [*code(receives + sends), *load(receives + sends, op)]
        elif again:
            acts += load(sends + (receives and placed.rounds == 1) + tells + staged, op)
        if placed.rounds > 1:
            return [*self._base(again), *acts, *code(1 + STORE)]
        combines = act.op.action is Action.COMBINE
        count = (not sends and not staged) + combines + (not receives and not staged)
        if tells or not count:
            return acts
        read = self._base(again)
        return [*read, *acts, *self._pointed(part, placed), *code(varies), *load(count, op)]

    def _load_table(self, part: _Part, slot: SlotModel, again: bool) -> Acts:
        lane = _RowLane(self, part, slot)
        facts, ops, acts = lane.facts, lane.ops, Acts()
        if again:
            acts += load(1, ops["out"]) if facts.out_extent else []
            acts += load(1, ops["in"]) if facts.in_extent and facts.some_receive else []
        acts += self._base(again)
        for used, extent in (
            (facts.some_move, facts.out_extent),
            (facts.some_receive or facts.some_apply, facts.in_extent),
        ):
            if used:
                of = self.base or "vector", slot.name, extent
                acts += code((of not in self.pointed) + STORE)
                self.pointed.add(of)
        return acts

    def _base(self, again: bool) -> Acts:
        """The variable that has the caller's vector is read, unless code knows what is there."""
        if not again or self.base:
            return []
        self.reads += 1
        self.base = f"base {self.reads}"
        return code(READ)

    def _pointed(self, part: _Part, placed: PlacedAct) -> Acts:
        """A descriptor points at the vector, then at some element, unless the code has one that
        does."""
        (words, *_), op = part.words[placed.key], placed.act.op
        of = self.base or "vector", words, op.slices.backward and placed.act.last is None
        begins = *of, part.firsts.get(placed.key)
        new = [one for one in (of, begins) if one not in self.pointed]
        self.pointed.update(new)
        return code(len(new))

    # functions

    def _begin_slot(self, part: _Part, slot: SlotModel) -> Acts:
        acts: Acts = []
        placed = part.acts.get(slot.key)
        if slot.shares_task and placed is not None and (slot.turns or placed.end == OWN_TASK):
            acts += code(STORE_CONSTANT)
        if slot.shares_register and self._shares(slot):
            acts += self._load(part, slot, again=True)
        return acts + self._start(part, slot)

    def _begin_section(self, part: _Part, section: SectionModel) -> Acts:
        starts = [name for name, holds in section.begins if self.pe.holds(holds)]
        if not starts:
            return self.run(section.next)
        if section.alone:
            return _Steps(self, part, section).begin()
        acts: Acts = []
        at = part.phase.sections.index(section)
        for join in section.joins:
            if at < len(part.ends) and part.ends[at] > join.least:
                acts += self._join(join)
        for name in starts:
            acts += self.run(name)
        return acts

    def _join(self, join: JoinModel) -> Acts:
        task = self.common.task(join.task)
        self.pe.blocked |= 1 << task
        follows = self.task(
            join.name,
            lambda: [*code(1), do("block", task), *self._called(join.then, join.shares_task)],
        )
        return [do("follow", task, follows), *code(STORE_CONSTANT * join.shares_task)]

    def _start(self, part: _Part, slot: SlotModel) -> Acts:
        placed = part.acts.get(slot.key)
        if placed is None:
            return self.run(slot.then)
        act = placed.act
        if act.turns is not None:
            return self._begin_turns(part, slot, placed)
        if act.is_local:
            return self._settle(part, slot, placed)
        if self._calls_back(act):
            return self._call_back(part, slot, placed)
        acts = [*self._follows(part, slot, placed), *self._issue(part, slot, placed)]
        goes_on = placed.goes_on and not self._shares(slot)
        return [*acts, *(self.run(slot.then) if goes_on else [])]

    def _silent(self, slot: SlotModel, placed: PlacedAct) -> bool:
        """Whether nothing follows the end of an operation."""
        return placed.act.is_silent or (placed.goes_on and not self._shares(slot))

    def _calls_back(self, act: Act) -> bool:
        """Whether code combines elements one by one."""
        combines = act.op.action is Action.COMBINE and act.command is Advance.NOTHING
        return self.rates.maps and combines

    def _issue(self, part: _Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        number = self._op(part, slot, placed)
        passes = placed.rounds > 1
        self.base = ""  # what operations write is read again
        loads = 3 if passes else 2 if in_blocks(placed.act) else 0
        return [*load(loads, number), do("issue", number)]

    def _called(self, name: str, by_pointer: bool) -> Acts:
        """A function, or what a variable points at."""
        return self._in_turn(lambda: self.run(name)) if by_pointer else self.run(name)

    def _in_turn(self, function: Callable[[], Acts]) -> Acts:
        """A function is called that is known when the program runs only; the way back is a jump."""
        return [*code(READ), *self.takes.taken, *function(), *self.takes.taken]

    def _follows(self, part: _Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        """What the end of an operation begins, if nothing else waits for it, too."""
        if self._silent(slot, placed) or placed.end != OWN_TASK:
            return []
        task = self.common.task(slot.task)
        follows = self.task(slot.name, lambda: self._ended(part, slot, placed))
        return [do("follow", task, follows)]

    def _ended(self, part: _Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        if slot.shares_task:
            then = partial(self._ended, part, replace(slot, shares_task=False), placed)
            return self._in_turn(then)
        if placed.repeats == 1:
            return self.run(slot.then)
        again = self.task(f"{slot.name} again", lambda: self._issue(part, slot, placed))
        counter = self.pe.counter()
        return [
            *code(READ + 1 + STORE + 1), *self.takes.passed,
            do("again", counter, placed.repeats, again),
            *wait(self.takes.jump - self.takes.no_jump), *code(STORE_CONSTANT),
            *self.run(slot.then),
        ]  # fmt: skip

    def _settle(self, part: _Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        combines = placed.act.op.action is Action.COMBINE
        operands = part.words[slot.key][0] * (PAIR if part.plan_phase.paired else 1)
        loads, cycles = self.in_memory_at(operands, combines=combines)
        return [*self._in_memory(slot.name, loads, cycles), *self.run(slot.then)]

    def in_memory_at(self, operands: int, *, combines: bool) -> tuple[int, int]:
        """How many registers an operation in memory has, and its cycles."""
        if combines and self.rates.maps:
            return (
                3,
                operands // self.plan.collective.contract.element.words * self.rates.combine - 1,
            )
        rate = self.rates.combines if combines else self.rates.moves
        return 2, ceil(operands / rate)

    def _call_back(self, part: _Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        number, rates = self._op(part, slot, placed), self.rates
        acts, rounds = Acts(), placed.repeats * placed.rounds
        for left in reversed(range(rounds)):
            acts += [
                *load(3, number),
                do("settle", number),
                do("call", number, rates.answer, rates.last_answer),
            ]
            if rounds > UNROLLED:
                acts += [*code(2), *(self.takes.taken if left else self.takes.passed)]
        self.base = ""
        return acts + ([] if placed.act.is_silent else self.run(slot.then))

    # turns

    def _begin_turns(self, part: _Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        task, turns = self.common.task(slot.task), placed.act.turns
        assert turns is not None
        go = self.task(f"{slot.name} go", lambda: self._go(part, slot, placed))
        counter = self.pe.counter()

        def ended() -> Acts:
            return [
                *code(READ + 1), *self.takes.passed, do("again", counter, turns.count, go),
                *wait(self.takes.jump - self.takes.no_jump), *self.run(slot.then),
            ]  # fmt: skip

        follows = self.task(
            slot.name, (lambda: self._in_turn(ended)) if slot.shares_task else ended
        )
        begun = code(STORE_CONSTANT + READ + 2 * (1 + STORE))
        if not part.plan_phase.slicing.even:
            begun += code(2 * STORE_CONSTANT)
        return [do("follow", task, follows), *begun, *self._go(part, slot, placed, begins=True)]

    def _go(self, part: _Part, slot: SlotModel, placed: PlacedAct, *, begins: bool = False) -> Acts:
        turns, differs = placed.act.turns, not part.plan_phase.slicing.even
        assert turns is not None
        self.base = ""
        combines = turns.receive.action is Action.COMBINE
        sent, received = (self._turn_op(part, slot, placed, way) for way in (True, False))
        acts, size = Acts(), code(1 if begins else READ + 1)
        if differs:
            acts += [
                *size,
                *load(1, sent),
                *size,
                *load(1, received),
                *code(2 * (READ + 1 + STORE)),
            ]
        return [
            *acts, *load(1, sent), *load(1 + combines, received),
            *code(1), do("block", self.common.task(slot.task)),
            do("issue", sent), do("issue", received), *self._next_turn(part, placed, differs),
        ]  # fmt: skip

    def _next_turn(self, part: _Part, placed: PlacedAct, differs: bool) -> Acts:
        """What is prepared for the next turn while the words of this one are under way."""
        entry = [*code(INDEX), *code(READ), *wait(LOADED)]
        size = [*code(INDEX - 1), *code(READ), *wait(LOADED), *code(STORE)]
        acts = code(READ + 1 + STORE)
        if _passes_on(part, placed):
            acts += code((READ + STORE) * (1 + differs))
        else:
            acts += [*code(READ), *entry, *code(1 + STORE), *(size if differs else [])]
        return [*acts, *code(READ), *entry, *code(1 + STORE), *(size if differs else [])]

    def _turn_op(self, part: _Part, slot: SlotModel, placed: PlacedAct, sends: bool) -> int:
        turns = placed.act.turns
        assert turns is not None
        op, key = (placed.act.op, slot.key) if sends else (turns.receive, received_in(slot.key))
        color = op.sends_on if sends else op.receives_on
        assert color is not None
        return self.pe.op(
            (self.number, slot.name, sends),
            lambda: self._timed(
                part, slot,
                receive="" if sends else color, send=color if sends else "",
                words=part.words[key],
                end=("unblock" if sends else "activate", self.common.task(slot.task)),
            ),
        )  # fmt: skip

    # operations

    def _op(self, part: _Part, slot: SlotModel, placed: PlacedAct) -> int:
        divisor = placed.rounds if self._calls_back(placed.act) else 1
        place = part.number, slot.key, divisor
        return self.pe.op((self.number, slot.name), lambda: self._made(part, slot, placed), place)

    def _made(self, part: _Part, slot: SlotModel, placed: PlacedAct) -> TimedOp:
        act = placed.act
        tells, words = act.command is not Advance.NOTHING, part.words[slot.key]
        piece = words[0] // placed.rounds if placed.rounds > 1 and words[0] else 0
        if self._calls_back(act):
            words, piece = tuple(one // placed.rounds for one in words), 0
        end = ("", 0)
        if not self._silent(slot, placed):
            at = {OWN_TASK: slot.task, CLOSING_TASK: max(part.phase.closing, default=-1)}
            task = self.common.task(at.get(placed.end, placed.end))
            end = ("unblock" if placed.unblocks else "activate", task)
        return self._timed(
            part,
            slot,
            receive="" if tells else act.op.receives_on or "",
            send=act.op.sends_on or "",
            words=words,
            end=end,
            yields=placed.yields,
            command=act.command,
            advances=not tells and act.op.advance is Advance.OWN_ROUTER,
            piece=piece,
        )

    def _timed(  # noqa: PLR0913 - an operation
        self,
        part: _Part,
        slot: SlotModel,
        *,
        receive: str,
        send: str,
        words: tuple[int, ...],
        end: tuple[str, int],
        yields: bool = False,
        command: Advance = Advance.NOTHING,
        advances: bool = False,
        piece: int = 0,
    ) -> TimedOp:
        pe, library, colors = self.pe, self.common.library, self.common.colors[self.of]
        wide = part.plan_phase.wide and command is Advance.NOTHING
        output = 0
        if receive:
            queue = self._queue(library.input_queues, slot.lane.input, receive)
            pe.inputs[colors[receive]] = pe._depth("input", queue)
        if send:
            output = pe.output(self._queue(library.output_queues, slot.lane.output, send))
        return TimedOp(
            colors[receive] if receive else NO_COLOR,
            colors[send] if send else NO_COLOR,
            output,
            words,
            WIDE if wide else 1,
            wide and part.phase.simd == "simd_64",
            yields,
            command.value,
            advances,
            end,
            piece,
            part.number,
        )

    def _queue(self, numbers: Sequence[int], at: str, color: str) -> int:
        """The number of the queue of a lane, or of a color."""
        if not self.common.library.by_color:
            return numbers[int(at)]
        uses = self.common.program.uses_of(self.of)
        position = next(p for _, use in uses for name, p in use.positions if name == color)
        return numbers[position]


class _RowLane:
    """A lane of a PE that goes by a step table."""

    def __init__(self, call: _Call, part: _Part, slot: SlotModel) -> None:
        self.call, self.part, self.slot = call, part, slot
        self.task, self.rows = call.common.task(slot.task), part.rows[slot.key]
        self.facts = Facts(self.rows)
        self.ops = {what: call.pe.op(key, partial(self._op, what)) for what, key in self._uses()}
        self.given = Given(
            self.facts, call.takes, self.ops, self.task, self._applied, part.plan_phase.backward
        )

    def _uses(self) -> Iterator[tuple[str, object]]:
        """The operations that rows have."""
        facts = self.facts
        used = {
            "in": facts.some_receive,
            "out": facts.some_move and not facts.all_relay,
            "relay": facts.some_relay,
            "memory": facts.some_apply,
        }
        return ((what, (self.call.number, self.slot.name, what)) for what in used if used[what])

    def _op(self, what: str) -> TimedOp:
        if what == "memory":
            return NOWHERE
        bits, into = {"in": (RECEIVES, True), "out": (SENDS, False), "relay": (RELAYS, False)}[what]
        words = [
            self._operands(row.into if into else row.out) // (PAIR if self._paired else 1)
            for row in self.rows
            if row.kind & bits
        ]
        table = self.part.acts[self.slot.key].act.table
        assert table is not None
        end = "unblock" if not into and self.facts.some_both else "activate"
        return self.call._timed(
            self.part,
            self.slot,
            receive="" if what == "out" else table.receives_on or "",
            send="" if into else table.sends_on or "",
            words=tuple(words[:1] if len(set(words)) == 1 else words),
            end=(end, self.task),
        )

    @property
    def _paired(self) -> bool:
        return self.part.plan_phase.paired

    def _operands(self, elements: int) -> int:
        return elements * self.call.plan.collective.contract.element.words

    def _applied(self, elements: int, *, combines: bool) -> tuple[int, int]:
        """How many registers an operation in memory has, and its cycles."""
        return self.call.in_memory_at(self._operands(elements), combines=combines)

    def text(self) -> RowText:
        """Code that begins to be printed."""
        return RowText(self.given)

    def in_turn(self, acts: Acts) -> Acts:
        """What the lane's task does, which may be one that others have as well."""
        return self.call._in_turn(lambda: acts) if self.slot.shares_task else acts


class _Steps:
    """A section of a PE whose lanes go by step tables."""

    def __init__(self, call: _Call, part: _Part, section: SectionModel) -> None:
        self.call, self.section, self.pe, self.takes = call, section, call.pe, call.takes
        slots = [slot for slot in section.slots if slot.key in part.acts]
        self.lanes = [_RowLane(call, part, slot) for slot in slots]
        self.part = part
        self.steps = len(_ends(self.lanes[0].rows))
        self.bodies: dict[int, int] = {}
        self.known: dict[object, int] = {}

    def begin(self) -> Acts:
        """What begins it."""
        acts, call = Acts(), self.call
        for slot in (lane.slot for lane in self.lanes):
            acts += code(STORE_CONSTANT * slot.shares_task)
            if slot.shares_register and call._shares(slot):
                acts += call._load(self.part, slot, again=True)
        for lane in self.lanes:
            text = lane.text()
            text.add(code(STORE_CONSTANT))
            text.prepare(lane.rows[0] if lane.rows else BEHIND, first=True)
            acts += text.acts
        if len(self.lanes) == 1:
            (lane,) = self.lanes
            follows = self.call.task(lane.slot.name, lambda: self.pe.turn(list(self._alone(lane))))
            return [*acts, do("follow", lane.task, follows), *_activate(lane.task)]
        if len({len(_ends(lane.rows)) for lane in self.lanes}) > 1:
            raise UntimedError("lanes of different numbers of steps")
        return [*acts, *self._together()]

    # one lane

    def _alone(self, lane: _RowLane) -> Iterator[int]:
        """The codes of its task, one after the other."""
        at, count = 0, len(lane.rows)
        while True:
            began = at
            while at < count and not lane.rows[at].kind & FABRIC:
                at += 1
            at = min(at + 1, count)
            ends = at == count and not (began < count and lane.rows[at - 1].kind & FABRIC)
            key = lane.rows[began : at + 1], ends
            if ends or key not in self.known:
                acts = self._rows_alone(lane, began, at, ends=ends)
                self.known[key] = self.pe.same_code(lane.in_turn(acts))
            yield self.known[key]
            if ends:
                return

    def _rows_alone(self, lane: _RowLane, at: int, end: int, *, ends: bool) -> Acts:
        """Rows are started until one waits; or none is left."""
        text, rows, first = lane.text(), lane.rows, True
        while True:
            over = at == len(rows)
            text.read("does")
            text.add(code(BIT), self.takes.taken if over is first else self.takes.passed)
            if over:
                return [*text.acts, *self.call.run(lane.slot.then)]
            text.start(rows[at])
            text.prepare(rows[at + 1] if at + 1 < len(rows) else BEHIND)
            if lane.facts.all_wait or text.bit("now", rows[at].kind & FABRIC):
                return text.acts
            text.known.clear()
            at, first = at + 1, False

    # several lanes

    def _together(self) -> Acts:
        """The first step, and the tasks of lanes."""
        self.counter = self.pe.counter()
        self.waits: list[list[int]] = []  # of each step the rows that each lane waits for; -1
        acts = [*code(READ + 1), *self.takes.passed, *self._step(0)]
        turns: list[list[int]] = [[] for _ in self.lanes]
        for step, _ in enumerate(self.waits):  # which get more
            for index, codes in enumerate(turns):
                codes.extend(self._turns(index, step))
        follows = Acts()
        for lane, codes in zip(self.lanes, turns, strict=True):
            if codes:
                number = self.call.task(lane.slot.name, partial(self.pe.turn, codes))
                follows.append(do("follow", lane.task, number))
        return [*follows, *acts]

    def _step(self, step: int) -> Acts:
        """A step, if there is one; and those behind it for which nothing is waited."""
        lanes, takes = self.lanes, self.takes
        if step == self.steps:
            asked = [act for _ in lanes for act in (*code(READ + BIT), *takes.passed)]
            return [*asked, *self.call.run(self.section.next), *takes.taken]
        acts = [*code(READ + BIT), *(act for _ in lanes for act in takes.taken)]
        acts += code(STORE_CONSTANT)
        firsts = [_first(lane.rows, step) for lane in lanes]
        for lane, first in zip(lanes, firsts, strict=True):
            text = lane.text()
            text.start(lane.rows[first])
            acts += text.acts
        waits = []
        for lane, first in zip(lanes, firsts, strict=True):
            text = lane.text()
            at, over = text.behind(lane.rows, first)
            acts += text.acts
            waits.append(-1 if over else at)
        self.waits.append(waits)
        acts += code(READ + 1)
        if all(at < 0 for at in waits):
            return [*acts, *takes.taken, *self._step(step + 1)]
        return [*acts, *takes.passed]

    def _turns(self, index: int, step: int) -> Iterator[int]:
        """What the task of a lane does in a step, each time it begins."""
        lane, at = self.lanes[index], self.waits[step][index]
        waiting = sum(one >= 0 for one in self.waits[step])
        over = at < 0
        while not over:
            text = lane.text()
            if text.bit("now", lane.rows[at].kind & ENDS):
                text.add(code(READ + COUNTED), self.takes.taken)
                over = True
            else:
                text.start(lane.rows[at + 1])
                at, over = text.behind(lane.rows, at + 1)
            text.add(code(READ + 1))
            text.add(self._last(step, waiting) if over else self.takes.taken)
            yield self.pe.same_code(lane.in_turn(text.acts))

    def _last(self, step: int, waiting: int) -> Acts:
        """The lane that ends a step last begins the next one."""
        if step not in self.bodies:
            self.bodies[step] = len(self.pe.codes)
            self.pe.codes.append([])
            self.pe.codes[self.bodies[step]] = self._step(step + 1)
        others = self.pe.same_code(self.takes.taken)
        again = do("again", self.counter, waiting, others)
        return [again, *self.takes.passed, *self.pe.turn([self.bodies[step]])]


def _ends(rows: Sequence[Row]) -> list[int]:
    """The rows that end steps."""
    return [at for at, row in enumerate(rows) if row.kind & ENDS]


def _first(rows: Sequence[Row], step: int) -> int:
    """The first row of a step."""
    return _ends(rows)[step - 1] + 1 if step else 0


def _activate(task: int) -> Acts:
    return [*code(1), do("activate", task)]


def _sides(act: Act) -> tuple[bool, bool]:
    if act.command is not Advance.NOTHING:
        return False, True
    return isinstance(act.op.receive, str), isinstance(act.op.send, str)


def _passes_on(part: _Part, placed: PlacedAct) -> bool:
    """Whether what is received in a turn is sent in the next one."""
    sent, received = part.words[placed.key], part.words[received_in(placed.key)]
    firsts = part.firsts
    count, turns = part.plan_phase.slicing.count, placed.act.turns
    assert turns is not None
    first, other = firsts[placed.key], firsts[received_in(placed.key)]
    return (first + turns.shift - other) % count == 0 and len(sent) == len(received)


def _is_staged(act: Act) -> bool:
    return in_stage(act.op.receive) or in_stage(act.op.send)


# all PEs


def calls_of(program: ProgramPlan) -> Calls:
    """What the machine runs of a program."""
    if program.alone:
        return calls_of_plan(program.plans[0], 1)
    return calls_of_program(program, program.calls)


Lengths = Mapping[str, Sequence[int]]


def _untimed(phase: Phase, model: PhaseModel) -> Iterator[str]:
    """What a phase has and the clock does not."""
    if model.cut.dynamic_length:
        yield "slices of dynamic lengths"


def scripts_of(
    program: ProgramPlan, library: LibraryModel, lengths: Lengths | None = None
) -> tuple[Calls, list[Script], Ints]:
    """What the machine runs of a program, the scripts of its PEs, and which of them each has. Of
    dynamic lengths those of the first round count, by name; the longest where none are given.
    Raises UntimedError for what the clock does not have."""
    _must_be_timed(program)
    calls = calls_of(program)
    given = given_of(calls, filters_of)
    index = {number: at for at, number in enumerate(given.numbers)}
    common = _common_of(program, library, calls.colors, index, lengths or {})
    columns, parts = [], []
    at = 0
    shared = {one.name: name for one, name in library.equal}
    for which, plan in enumerate(program.plans):
        if plan.collective.name in shared:
            at += len(plan.phases)
            continue
        for phase, of in zip(plan.phases, common.model(which).phases, strict=True):
            own, colors = given.phases[at], common.colors[which]
            sets = _sets(given, own, of, colors)
            told = _given(plan, lengths or {})
            column, found = _parts(plan, phase, of, (own.role_at, own.place_at), sets, at, told)
            columns.append(column)
            parts.append(found)
            at += 1
    called = _calls_of(program, lengths or {}, shared)
    rows, script_at = _distinct(columns, given.width * given.height)
    scripts = []
    for row in rows:
        own_parts = iter([of[which] for of, which in zip(parts, row, strict=True)])
        by_collective = [
            [] if plan.collective.name in shared else [next(own_parts) for _ in plan.phases]
            for plan in program.plans
        ]
        scripts.append(_Pe(common, by_collective, called).script())
    return calls, scripts, script_at


def _must_be_timed(program: ProgramPlan) -> None:
    if program.program.rooted:
        raise UntimedError("roots of calls")
    if program.call_streams:
        raise UntimedError("calls beside each other")


def _common_of(
    program: ProgramPlan,
    library: LibraryModel,
    names: Sequence[Mapping[str, Color]],
    index: Mapping[int, int],
    lengths: Lengths,
) -> _Common:
    """What all PEs have in common; `names` are the colors of each plan, `index` says where the
    machine has them."""
    engine = program.target.cycles.engine
    colors = tuple(
        {name: index[color.number] for name, color in of.items() if color.number in index}
        for of in names
    )
    words = tuple(
        plan.collective.contract.words if of is None else of
        for plan in program.plans
        for of in (_given(plan, lengths),)
    )
    rates, takes = tuple(map(rates_of, program.plans)), Takes(engine.jump, engine.no_jump)
    return _Common(program, library, colors, rates, words, takes, index)


Place = tuple[int, Numbered, int]  # of words: a phase, which of its acts, and what divides them


class ScriptsByPhase:
    """The scripts of the PEs of a collective that is called once, and has no color torn down, cut
    into segments of some phases: `at` has by PE of its grid a number for what it does, `roles` the
    roles in each phase, NOBODY for none, int64 [PEs].

    PEs whose code is the same, and which differ only in how many words they move, have a *pattern*
    in common: it is made and cut once, with places for the numbers of words."""

    def __init__(
        self, program: ProgramPlan, library: LibraryModel, groups: Sequence[range], lengths: Lengths
    ) -> None:
        _must_be_timed(program)
        (plan,), (model,) = program.plans, library.collectives
        names = {name: Color(number, f"`{name}`") for name, number in plan.colors}
        index = {number: at for at, (_, number) in enumerate(plan.colors)}
        self.common = _common_of(program, library, (names,), index, lengths)
        self.groups = groups
        given, radix = _given(plan, lengths), 1
        pes = plan.collective.grid.width * plan.collective.grid.height
        self.at = np.zeros(pes, dtype=np.int64)
        self.parts: list[list[_Part]] = []
        self.roles: list[Ints] = []
        none: tuple[list[Sets], Ints] = [()], np.zeros(pes, dtype=np.int64)
        for number, (phase, of) in enumerate(zip(plan.phases, model.phases, strict=True)):
            placed = roles_and_places(plan, phase)
            self.roles.append(placed[0])
            column, found = _parts(plan, phase, of, placed, none, number, given)
            self.at += radix * column
            radix *= len(found)
            self.parts.append(found)
        self.colors = [
            {
                self.common.colors[0][use.color]
                for at in group
                for role in plan.phases[at].roles
                for use in role.colors
            }
            for group in groups
        ]
        self.shapes = [list(map(_shape, range(len(of)), of)) for of in self.parts]
        self.places: dict[Place, int] = {}  # by place the number that stands for its words
        self.patterns: dict[object, list[Script]] = {}
        self.known: dict[object, Script] = {}

    def segments(self, number: int) -> list[Script]:
        """The segments of PEs with a number. Raises InseparableError."""
        which = []
        for found in self.parts:
            number, at = divmod(number, len(found))
            which.append(at)
        own = [of[at] for of, at in zip(self.parts, which, strict=True)]
        shapes = tuple(of[at] for of, at in zip(self.shapes, which, strict=True))
        key = shapes, _equal_numbers(own)
        if key not in self.patterns:
            self.patterns[key] = self._pattern(own)
        segments = []
        for group, pattern in zip(self.groups, self.patterns[key], strict=True):
            of_group = id(pattern), tuple(which[group.start : group.stop])
            if of_group not in self.known:
                self.known[of_group] = self._with_words(pattern, own)
            segments.append(self.known[of_group])
        return segments

    def _pattern(self, parts: Sequence[_Part]) -> list[Script]:
        """Segments in which a negative number of words stands for those of a place."""
        pe = _Pe(self.common, [parts], (0,))
        script = pe.script()
        ops = list(script.ops)
        for at, place in pe.places.items():
            number = self.places.setdefault(place, -1 - len(self.places))
            ops[at] = replace(ops[at], words=(number,))
        cut = segments_of(replace(script, ops=tuple(ops)), self.groups, self.colors)
        return [self.known.setdefault(one, one) for one in cut]

    def _with_words(self, segment: Script, parts: Sequence[_Part]) -> Script:
        """A segment with the words of the parts of a PE."""
        given = {
            number: tuple(one // divisor for one in parts[phase].words[key])
            for (phase, key, divisor), number in self.places.items()
            if any(op.words[0] == number for op in segment.ops)
        }
        words = (given.get(op.words[0], op.words) for op in segment.ops)
        ops = (replace(op, words=of) for op, of in zip(segment.ops, words, strict=True))
        return replace(segment, ops=tuple(ops))


def _shape(number: int, part: _Part) -> object:
    """What the code of a part depends on, besides which numbers of words are equal; that is the part
    itself where it goes by step tables or turns."""
    if part.rows or any(one.act.turns is not None for one in part.acts.values()):
        return number
    local = tuple(part.words[key] for key, one in part.acts.items() if one.act.is_local)
    acts = tuple((key, id(one)) for key, one in part.acts.items())
    return acts, local, part.ends, part.restores


def _equal_numbers(parts: Sequence[_Part]) -> tuple[int, ...]:
    """Which descriptors of a PE point at the same elements, of the same number of words."""
    known: dict[object, int] = {}
    found = []
    for part in parts:
        for key, placed in part.acts.items():
            if key in part.words:
                of = part.words[key][0], placed.act.op.slices.backward
                found.append(known.setdefault(of, len(known)))
                found.append(known.setdefault((*of, part.firsts.get(key)), len(known)))
    return tuple(found)


def _calls_of(program: ProgramPlan, lengths: Lengths, shared: Mapping[str, str]) -> tuple[int, ...]:
    """The collectives of the calls of a round, which lengths choose. Plans that share code are that
    whose code it is."""
    if program.alone:
        return (0,)
    choices, found = {one.name: one for one in program.program.selections}, []
    for call in program.program.calls:
        of = choices.get(call)
        name = call
        if of is not None:
            name = of.chosen(lengths.get(of.length.name, (of.length.most,))[0])
        found.append(program.index_of_collective(shared.get(name, name)))
    return tuple(found)


def _distinct(columns: Sequence[Ints], pes: int) -> tuple[list[list[int]], Ints]:
    """The different rows of numbers, and which of them each PE has."""
    code, radix = np.zeros(pes, dtype=np.int64), 1
    for column in columns:  # as one number, which is far quicker than to compare rows
        least = int(column.min(initial=0))
        extent = int(column.max(initial=0)) - least + 1
        if radix * extent >= 1 << 62:
            code = np.unique(code, return_inverse=True)[1].reshape(-1).astype(np.int64)
            radix = int(code.max(initial=0)) + 1
        code = code + radix * (column.astype(np.int64) - least)
        radix *= extent
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    rows = [[int(column[at]) for column in columns] for at in first.tolist()]
    return rows, which.reshape(-1)


def _alike(numbers: Mapping[Numbered, int]) -> tuple[int, ...]:
    """Which of some numbers are equal, whatever they are."""
    return tuple(list(numbers.values()).index(number) for number in numbers.values())


def _given(plan: Plan, lengths: Lengths) -> int | None:
    """The words of a vector whose length a call gives."""
    contract = plan.collective.contract
    dynamic = contract.run_length
    if dynamic is None or dynamic.name not in lengths:
        return None
    return lengths[dynamic.name][0] * contract.element.words


def _parts(  # noqa: PLR0913, PLR0917 - a phase, and what is known of it
    plan: Plan,
    phase: Phase,
    model: PhaseModel,
    placed: tuple[Ints, Ints],
    sets: tuple[list[Sets], Ints],
    number: int,
    length: int | None,
) -> tuple[Ints, list[_Part]]:
    """Which part each PE has in a phase, and the parts; the first one is none. By PE, `placed` has
    its role, or NOBODY, and its place, `sets` which of the routers it sets."""
    for what in _untimed(phase, model):
        raise UntimedError(what)
    parts = [_Part(number, model, phase, {}, {}, {}, (), restores=False, sets=(), rows={})]
    known: dict[object, int] = {}
    classes: dict[int, list[ClassModel]] = {}
    for one in model.classes:
        classes.setdefault(one.role, []).append(one)
    distinct, which = _distinct([*placed, sets[1]], len(placed[0]))
    found = []
    for role, place, set_at in distinct:
        if role < 0:
            found.append(0)
            continue
        of = classes[role]
        one = next(one for one in of if len(of) == 1 or place in one.places)
        words, firsts = _numbers(plan, phase, one, place, length)
        rows = _rows(phase, one, place)
        key = one.index, tuple(words.items()), _alike(firsts), set_at, tuple(rows.items())
        if key not in known:
            known[key] = len(parts)
            acts = {placed.key: placed for placed in one.acts}
            of_set = sets[0][set_at]
            ends, restores = one.ends, one.restores
            parts.append(
                _Part(number, model, phase, acts, words, firsts, ends, restores, of_set, rows)
            )
        found.append(known[key])
    return np.array(found, dtype=np.int64)[which], parts


def _sets(
    given: GivenCalls, phase: PhaseGiven, model: PhaseModel, colors: Mapping[str, int]
) -> tuple[list[Sets], Ints]:
    """What PEs set at their routers as a phase begins, and which of these each PE does."""
    order = [colors[one.name] for one in model.multiplexed if one.name in colors]
    at: dict[int, dict[int, tuple[int, int, int]]] = {}
    for pe, color, setting, _ in phase.sets.reshape(-1, 4).tolist() if order else ():
        if color in order:
            positions, _ring = given.settings[setting]
            sides = positions[0][1].bit_count()
            at.setdefault(pe, {})[color] = color, sides, len(positions) - 1
    known: dict[Sets, int] = {(): 0}
    which = np.zeros(given.width * given.height, dtype=np.int64)
    for pe, found in at.items():
        sets = tuple(found[color] for color in order if color in found)
        which[pe] = known.setdefault(sets, len(known))
    return list(known), which


def _rows(phase: Phase, of: ClassModel, place: int) -> dict[Key, tuple[Row, ...]]:
    """The rows of lanes of a class at a place that go by step tables."""
    tables = [placed for placed in of.acts if placed.act.table is not None]
    return {
        one.key: rows_at(phase, phase.lanes.index(one.act.lane), place, alone=len(tables) == 1)
        for one in tables
    }


def _numbers(
    plan: Plan, phase: Phase, of: ClassModel, place: int, length: int | None
) -> tuple[dict[Numbered, tuple[int, ...]], dict[Numbered, int]]:
    """The wavelets of each act of a class at a place, and its first slice."""
    words: dict[Numbered, tuple[int, ...]] = {}
    firsts: dict[Numbered, int] = {}
    for placed in of.acts:
        key, act = placed.key, placed.act
        if act.table is not None:
            continue
        words[key] = words_at(plan, phase, placed, place, length)
        firsts[key] = act.first_at(place)
        if act.turns is not None:
            first = act.turns.receive.slices.first.at(place)
            firsts[received_in(key)] = first
            words[received_in(key)] = _turns_at(plan, phase, first, act)
    return words, firsts
