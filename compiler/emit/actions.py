"""What the code of PEs does, from the model that the templates print: the scripts of the machine
with a clock.

A function of the text is a list of acts, those of what it calls among them; what a task begins is a
code of its own. Which function follows which is read from the names that the templates print. In
reading order: what calls run, a PE, a call of a collective there, lanes that go by step tables.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil

from collc.base.memoize import by_identity
from collc.base.values import dataclass
from collc.emit.acts import (
    ADDRESS,
    BIT,
    BOUND,
    BYTE,
    COUNTED,
    DIVISION,
    INDEX,
    LEAVE,
    LOADED,
    POSITION,
    PRODUCT,
    READ,
    ROUTES,
    SIDE,
    SLICE,
    STORE,
    STORE_CONSTANT,
    SWITCH,
    UNROLLED,
    UNROLLED_CUTS,
    Acts,
    code,
    do,
    load,
    wait,
)
from collc.emit.classes import Act, in_stage
from collc.emit.model import (
    CLOSING_TASK,
    OWN_TASK,
    CollectiveModel,
    JoinModel,
    PhaseModel,
    PlacedAct,
    SectionModel,
    SlotModel,
    TornDownModel,
)
from collc.emit.parts import LAST_BOUND, Common, Numbered, Part, received_in
from collc.emit.phases import in_blocks
from collc.emit.rates import depth_of
from collc.emit.row_text import (
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
)
from collc.machine.timed import NO_COLOR, Script, TimedOp
from collc.plan import OF_OWN_ROUTER, Action, Advance, Memory
from collc.spec.simd import PAIR, WIDE


@dataclass(frozen=True)
class Case:
    """What a call runs: a plan of a library, by their numbers, on vectors of so many elements, or
    of those that it always has."""

    library: int
    of: int
    length: int | None = None


@dataclass(frozen=True)
class Begun:
    """A call on a PE: the number of its case, which the PE finds by conditions that hold or do not,
    one within the other; how many numbers it is given, a length or a root. It `cuts` slices if the
    call of this plan before it had another length."""

    case: int
    way: tuple[bool, ...] = ()
    given: int = 0
    cuts: bool = True


Round = tuple[Begun, ...]
Place = tuple[int, Numbered, int]  # of words: a phase, which of its acts, and what divides them


@dataclass(frozen=True)
class Kernel:
    """The program around libraries: which calls of a round each turn has, how many rounds there
    are, the cases that calls are, and the task that begins turns, -1 if there is none. Of one call
    marks are those of its `phases`, so many."""

    turns: tuple[tuple[int, ...], ...]
    rounds: int
    cases: tuple[Case, ...]
    phases: int | None
    task: int

    @property
    def is_one_turn(self) -> bool:
        """Whether nothing follows its first calls."""
        return len(self.turns) * self.rounds == 1

    @property
    def beside(self) -> bool:
        """Whether calls are beside each other."""
        return any(len(turn) > 1 for turn in self.turns)

    @property
    def calls(self) -> int:
        """How many there are in a round."""
        return sum(map(len, self.turns))


def _taking_part(having: Sequence[Part]) -> Iterator[str]:
    """The phases in which a PE has a part, and what operations it has there, as the text names
    them."""
    for part in having:
        if part.acts:
            yield part.phase.name
            fields = (slot.field for slot in part.phase.fields if slot.key in part.acts)
            yield from (f"{part.phase.name}.{field}" for field in fields)


class Pe:
    """Makes the script of PEs that do the same; `parts` are theirs in the phases of each case,
    `having` those that they have in any phase of each library, whether called or not, `copying` the
    cases in which they do nothing but bring the vector into its buffer."""

    def __init__(  # noqa: PLR0913, PLR0917 - a PE, and what is known of it
        self,
        kernel: Kernel,
        commons: Sequence[Common],
        parts: Sequence[Sequence[Part]],
        having: Sequence[Sequence[Part]],
        rounds: Sequence[Round],
        copying: Container[int] = (),
    ) -> None:
        self.kernel, self.commons, self.parts = kernel, commons, parts
        self.copying = copying
        self.takes, self.target = commons[0].takes, commons[0].program.target
        rounds = self._with_cuts(rounds)
        # the first round, and the different ones behind it
        kinds = dict.fromkeys(rounds[1:])
        self.kinds = (rounds[0], *kinds)
        numbers = {kind: at for at, kind in enumerate(kinds, 1)}
        self.order = [numbers[one] for one in rounds[1:]]
        self.codes: list[Acts] = []
        # code that has a number and is still to be made: tasks follow each other by the hundred,
        # too many to make one within the other
        self.due: list[tuple[int, Callable[[], Acts]]] = []
        self.ops: list[TimedOp] = []
        self.op_numbers: dict[object, int] = {}
        self.places: dict[int, Place] = {}  # by operation where its number of words is from
        self.code_numbers: dict[object, int] = {}
        self.counters = 0
        self.counter_numbers: dict[object, int] = {}
        self.turns: list[tuple[int, ...]] = []
        self.sequence = -1  # the list of the rounds
        self.known_codes: dict[object, int] = {}
        self.blocked = 0
        self.conditions: dict[tuple[int, str], bool] = {}  # of libraries: whether they hold
        self.inputs: dict[int, int] = {}
        self.outputs: list[int] = []
        self.taking_part = [set(_taking_part(of)) for of in having]

    def _with_cuts(self, rounds: Sequence[Round]) -> list[Round]:
        """Rounds whose calls are told whether they cut slices."""
        cut_for: dict[tuple[int, int], int | None] = {}
        found = []
        for one in rounds:
            calls = []
            for begun in one:
                case = self.kernel.cases[begun.case]
                plan = case.library, case.of
                calls.append(replace(begun, cuts=cut_for.get(plan, -1) != case.length))
                if self.commons[case.library].cuts_tables(case.of, case.length):
                    cut_for[plan] = case.length
            found.append(tuple(calls))
        return found

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
        for common in self.commons:
            for index, color in common.torn_down:
                yield index, self.same_code(self._handler(common, index, color))

    def _handler(self, common: Common, index: int, color: TornDownModel) -> Acts:
        if color.task >= 0:
            task = common.task(color.task)
            self.blocked |= 1 << task
            return [*code(1), do("unblock", task)]
        task = common.task(common.library.start_task)
        is_last = self.same_code([*self.takes.passed, *_activate(task)])
        told = do("told", index, is_last, common.torn_down_mask)
        return [*code(2 * (READ + 1 + STORE) + 1), told, *self.takes.taken]

    def _depth(self, kind: str, queue: int) -> int:
        words: tuple[int, ...] = getattr(self.target, f"{kind}_queue_words")
        return depth_of(words, queue)

    def holds(self, library: int, condition: str) -> bool:
        """Whether a condition on what takes part, as a library prints it, is true of the PE."""
        known = library, condition
        if known not in self.conditions:
            self.conditions[known] = self._holds(library, condition)
        return self.conditions[known]

    def _holds(self, library: int, condition: str) -> bool:
        if " and " in condition:
            return all(self.holds(library, one) for one in condition.split(" and "))
        if " or " in condition:
            return any(self.holds(library, one) for one in condition.split(" or "))
        if condition.startswith("!"):
            return not self.holds(library, condition[1:])
        if condition in {"true", "false", ""}:
            return condition == "true"
        if condition.endswith(" > 0)"):
            return condition[1 : -len(" > 0)")] in self.taking_part[library]
        return condition.removesuffix(".takes_part") in self.taking_part[library]

    # the program around the libraries: `kernel.csl`

    def _launched(self) -> Acts:
        """What the launch begins."""
        if self.kernel.phases is not None:
            return self._calls(0, 0)
        if self.kernel.is_one_turn:
            return [do("mark", 0), *self._calls(0, 0)]
        counts = code(STORE_CONSTANT + STORE * (self.kernel.rounds > 1))
        return [do("mark", 0), *counts, *self._calls(0, 0)]

    def _calls(self, kind: int, turn: int) -> Acts:
        """The calls of a turn of a kind of round."""
        acts = code(STORE_CONSTANT * self.kernel.beside)
        for call in self.kernel.turns[turn]:
            acts += self._begin(kind, turn, call)
        return acts

    def called(self, kind: int, turn: int, call: int, *, at_once: bool) -> Acts:
        """What follows the end of a call of a kind of round. A task that calls it `at_once`, and
        nothing between, returns where others jump to the end of what called it."""
        kernel = self.kernel
        if kernel.phases is not None:
            return [do("mark", kernel.phases), do("done")]
        mark = do("mark", call + 1)
        if kind:
            mark = do("mark", kernel.calls + call + 1, kernel.calls, self.counter("round"))
        if not kernel.beside:
            return [mark, *self._over(kind, turn, at_once)]
        count, passed = len(kernel.turns[turn]), self.takes.passed
        missing = [mark, *code(READ + 1 + STORE + 1)]
        if count == 1:
            return [*missing, *passed, *self._over(kind, turn, at_once=False)]
        over = self.code(("over", kind, turn), lambda: self._over(kind, turn, at_once=False))
        others = self.same_code(self.takes.taken)
        counter = self.counter(("missing", kind, turn))
        return [*missing, do("again", counter, count, others), *passed, *self.turn([over])]

    def _over(self, kind: int, turn: int, at_once: bool) -> Acts:
        """What follows the last end of a turn."""
        turns = self.kernel.turns
        if self.kernel.is_one_turn:
            return [do("done")]
        counted = code(READ + 1 + STORE + 1)
        back = [] if at_once else self.takes.taken
        if turn + 1 < len(turns):
            return [*counted, *self.takes.passed, *self._proceed(kind, turn + 1), *back]
        counted += self.takes.taken
        if self.kernel.rounds == 1:
            return [*counted, do("done")]
        counted += code(STORE_CONSTANT + READ + 1 + STORE + 1)
        if kind == 0:
            return [*counted, *self._next_round(at_once)]
        following = self.code(("next round", at_once), lambda: self._next_round(at_once))
        again = do("again", self.counter("round"), len(self.order), following)
        return [*counted, again, *self.takes.taken, do("done")]

    def _next_round(self, at_once: bool) -> Acts:
        """A round behind the first one: what all have in common, or one after the other."""
        if len(self.kinds) > 2:
            return [do("turn", self._sequence(at_once))]
        return self._round_acts(1, at_once)

    def _sequence(self, at_once: bool) -> int:
        """The list of all rounds behind the first one."""
        if self.sequence < 0:
            self.turns.append(())
            self.sequence = len(self.turns) - 1
            self.turns[self.sequence] = tuple(self._round(of, at_once) for of in self.order)
        return self.sequence

    def _round(self, kind: int, at_once: bool) -> int:
        """The code that begins a round of a kind."""
        return self.code(("round", kind, at_once), lambda: self._round_acts(kind, at_once))

    def _round_acts(self, kind: int, at_once: bool) -> Acts:
        back = [] if at_once else self.takes.taken
        return [*self.takes.passed, *self._proceed(kind, 0), *back]

    def _proceed(self, kind: int, turn: int) -> Acts:
        """The task that begins a turn is activated; or, if there is none, a function is called."""
        task = self.kernel.task
        if task < 0:
            called = self._turn(kind, turn)
            return [*code(READ), *self.takes.taken, *called, *self.takes.taken]
        begin = self.code(("turn", kind, turn), lambda: self._turn(kind, turn))
        return [do("follow", task, begin), *_activate(task)]

    def _turn(self, kind: int, turn: int) -> Acts:
        """A turn is found by halving, and begun; of the jumps behind it the last is a return."""
        first = int(self.kernel.rounds == 1)  # the launch begins one, which is not due again
        way = halves(turn - first, len(self.kernel.turns) - first)
        found, _ = self._found(way)
        asked = code(READ * bool(way))
        back = self.takes.taken * max(sum(way) - 1, 0)
        return [*asked, *found, *self._calls(kind, turn), *back]

    def _acts_in(self, case: int) -> bool:
        """Whether a call of a case does something with its vector."""
        return case in self.copying or any(part.acts for part in self.parts[case])

    def _found(self, way: Sequence[bool]) -> tuple[Acts, Acts]:
        """Conditions one within the other, and the jumps behind what they lead to."""
        found, ends = Acts(), Acts()
        for holds in way:
            found += [*code(1), *(self.takes.passed if holds else self.takes.taken)]
            ends += self.takes.taken if holds else []
        return found, ends

    def _begin(self, kind: int, turn: int, call: int) -> Acts:
        """A call: its vectors and what it is given, which of the cases it is, and that."""
        one = self.kinds[kind][call]
        found, ends = self._found(one.way)
        read = self._given(one, launched=kind == call == 0)
        return [*read, *found, *_Call(self, (kind, turn, call), one).begin(), *ends]

    def _given(self, one: Begun, *, launched: bool) -> Acts:
        """Where the vectors of a round are, and the numbers of a call, are found; of the first
        code knows the round."""
        if self.kernel.rounds == 1 or launched:
            return code(READ * one.given)
        case, acts = self.kernel.cases[one.case], Acts()
        model = self.commons[case.library].model(case.of)
        has_vector = model.buffer and self._acts_in(one.case)
        if has_vector:
            other = 0 if not model.input else 1 if model.input_held == model.held else INDEX
            acts += code(READ + INDEX + other)
        if one.given:
            acts += code(READ * (not has_vector) + 1)
            acts += [*code(1), *wait(ADDRESS), *code(READ)] * one.given
        return acts

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

    def counter(self, key: object = None) -> int:
        """A counter of its own, or the one with a key."""
        number = self.counter_numbers.get(key, self.counters)
        if number == self.counters:
            self.counters += 1
        if key is not None:
            self.counter_numbers[key] = number
        return number

    def op(self, key: object, make: Callable[[], TimedOp], place: Place | None = None) -> int:
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


# A function of a call, of the part in the phase with a number, and what it is of there.
Named = tuple[Callable[..., Acts], int, SlotModel | SectionModel | JoinModel]


@by_identity(64)
def _named_in(model: CollectiveModel) -> dict[str, Named]:
    """The functions of a collective's slots, sections and joins, by the names that the text has."""
    found: dict[str, Named] = {}
    for at, phase in enumerate(model.phases):
        for section in phase.sections:
            for slot in section.slots:
                found[f"{slot.name}.start"] = _Call._start, at, slot
                found[f"begin_{slot.name}"] = _Call._begin_slot, at, slot
            if not section.is_one_chain:
                found[section.begin] = _Call._begin_section, at, section
            for join in section.joins:
                if join.activates >= 0:
                    found[join.then] = _Call._joined, at, join
    return found


@by_identity(64)
def _loaded_by(model: CollectiveModel) -> frozenset[str]:
    """The slots whose registers a call loads."""
    return frozenset(slot.name for slot in model.loaded)


class _Call:
    """A call of a collective: its functions, by the names that the text has for them."""

    def __init__(self, pe: Pe, number: tuple[int, int, int], one: Begun) -> None:
        case = pe.kernel.cases[one.case]
        self.pe, self.number, self.of = pe, number, case.of
        self.parts, of = pe.parts[one.case], case.of
        self.copies = one.case in pe.copying
        self.takes, self.common, self.library = pe.takes, pe.commons[case.library], case.library
        self.model = self.common.model(of)
        self.plan, self.rates = self.common.program.plans[of], self.common.rates[of]
        contract = self.plan.collective.contract
        length = contract.length if case.length is None else case.length
        self.words, self.cuts = length * contract.element.words, one.cuts
        self.pointed: set[object] = set()
        self.base = "vector"  # what is known to be in the variable that has the caller's vector
        self.known: set[object] = {"length"}  # and what else code knows
        self.reads = 0
        self.functions: dict[str, Callable[[], Acts]] = {
            "done": lambda: pe.called(*number, at_once=False),
            "finish": self._finish,
            f"{self.model.prefix}over": self._over,
        }
        self.named, self.loaded = _named_in(self.model), _loaded_by(self.model)
        for part in self.parts:
            if part.phase.multiplexed:
                self.functions[part.phase.begin] = partial(self._open, part)
                self.functions[f"close_{part.phase.name}"] = partial(self._close, part)
        of_one = pe.kernel.phases is not None
        self.phases = {one.begin: at for at, one in enumerate(self.model.phases) if of_one}
        if self.model.restored:
            self.functions[f"{self.model.prefix}restore"] = self._restore

    # routers that are set as a phase begins

    def _open(self, part: Part) -> Acts:
        phase, common = part.phase, self.common
        if phase.closing:
            return [*self._awaits_teardowns(part), *self._set(part), *self.run(phase.first)]
        body = self.task(f"opened {phase.name}", lambda: self._opened(part))
        starts = self.pe.same_code([*code(READ), *self.takes.taken, *self.pe.turn([body])])
        waits = [*self.takes.taken, *code(STORE + STORE_CONSTANT)]
        opens = [*self.takes.passed, *self._opened(part), *self.takes.taken]
        opens.append(do("skip", len(waits)))
        colors = sum(1 << color for color, _, _ in part.sets)
        return [
            do("follow", common.task(common.library.start_task), starts),
            *code(READ + 1 + 1),
            do("await", colors, len(opens), common.torn_down_mask),
            *opens,
            *waits,
        ]

    def _opened(self, part: Part) -> Acts:
        kept = code(bool(part.sets) + STORE)
        return [*kept, *self._set(part), *self.run(part.phase.first)]

    def _awaits_teardowns(self, part: Part) -> Acts:
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

    def _closed(self, part: Part, task: int, before: int) -> Acts:
        blocks = [*code(1), do("block", task)]
        if before >= 0:
            return [*blocks, *_activate(before)]
        return [*blocks, *self._called(part.phase.closed, len(self.common.library.closed) > 1)]

    def _close(self, part: Part) -> Acts:
        return _activate(self.common.task(part.phase.closing[-1]))

    def _set(self, part: Part) -> Acts:
        """The routers of the PE are set for a phase."""
        acts, colors = Acts(), self.common.colors[self.of]
        switched = {colors[one.name]: one.switched == "true" for one in part.phase.multiplexed}
        for color, sides, others in part.sets:
            count = ROUTES + (SIDE * sides - 1) * (sides > 1)
            count += (SWITCH + POSITION * others) * switched[color] + LEAVE
            acts += [*code(count), do("set", color, part.number)]
        return acts

    def _then(self, name: str) -> Acts:
        """A function that a task calls at its end."""
        if name == "done":
            return self.pe.called(*self.number, at_once=True)
        return self.run(name)

    def run(self, name: str) -> Acts:
        """What a function does; where a phase of the only call begins, a mark."""
        mark = [do("mark", self.phases[name])] if name in self.phases else []
        if name in self.functions:
            return mark + self.functions[name]()
        function, at, of = self.named[name]
        return mark + function(self, self.parts[at], of)

    def task(self, name: str, acts: Callable[[], Acts]) -> int:
        """The number of the code of a task, which knows nothing of what code before it has read."""

        def alone() -> Acts:
            before = self.base, self.pointed, self.known
            self.base, self.pointed, self.known = "", set(), set()
            found = acts()
            self.base, self.pointed, self.known = before
            return found

        return self.pe.code((self.number, name), alone)

    # a call

    def begin(self) -> Acts:
        """The collective's function."""
        model, parts = self.model, self.parts
        takes_part = self.copies or any(part.acts or part.sets for part in parts)
        acts = code(READ + STORE) if model.has_word else []
        if (model.site.takes_part or not model.phases) and not takes_part:
            return acts + self.run("finish")
        if model.first_pass:
            acts += self._first_pass()
        for phase in model.phases:
            if phase.cut.dynamic_length:
                acts += self._cut(phase)
        if model.base:
            acts += code(STORE_CONSTANT + STORE * bool(model.run_length))
        acts += self._loads(early=True)
        acts += self.run(model.first)
        return acts + self._loads(early=False)

    # slices of a length that the call gives

    def _cut(self, phase: PhaseModel) -> Acts:
        """What the call does about them as it begins: where each begins comes to a table, or what
        that is computed from to variables."""
        count = phase.cut.slicing.count
        several = self.plan.collective.contract.element.words > 1
        if not phase.cuts_table:
            new = count not in self.known
            self.known |= {count, (phase.name, "least"), (phase.name, "left")}
            divided = [*code(several), *self._divided(count), *code(1 + (count > 1))]
            return [*(divided if new else []), *code(2 * STORE)]
        asked = code(READ + 1)
        if not self.cuts:
            return [*asked, *self.takes.passed, *self.takes.taken]
        begun = [*asked, *self.takes.taken, *code(STORE)]
        begun += [*code(several), *self._divided(count), *code(2)]
        return begun + self._table_of_cuts(count)

    def _table_of_cuts(self, count: int) -> Acts:
        """Where so many slices begin comes to a table."""
        several = self.plan.collective.contract.element.words > 1
        begun = code(STORE_CONSTANT)
        if count <= UNROLLED_CUTS:
            each = STORE + SLICE + several
            return [*begun, *code(SLICE - 2 + (count - 2) * each + each - 2 + STORE + several)]
        turn = [*code(BOUND), *wait(ADDRESS), *code(STORE + several + SLICE + 2)]
        turns = [act for _ in range(count) for act in (*turn, *self.takes.taken)]
        missed = self.takes.jump - self.takes.no_jump
        total = sum(act[1] for act in turns) - missed
        return [*begun, *code(1), *code(total), *code(STORE + several)]

    def _divided(self, by: int) -> Acts:
        """A whole number by a constant."""
        return code(1) if by & (by - 1) == 0 else [*code(1), *wait(DIVISION - 1)]

    def _sliced(self, part: Part, placed: PlacedAct) -> bool:
        """Whether the slices of an operation are cut by the call."""
        act, cut = placed.act, part.phase.cut
        tells = act.command is not Advance.NOTHING or act.op.elements is not None
        return cut.dynamic_length and cut.slicing.count > 1 and not tells

    def _cut_slices(self, part: Part, slot: SlotModel, placed: PlacedAct, again: bool) -> Acts:
        """The slices of an operation are cut."""
        first, last = part.spans[placed.key]
        acts = self._bound(part, first) if first else []
        acts += self._bound(part, last) if last != LAST_BOUND else self._length(again)
        turned = _turned(placed)
        acts += code((first > 0) + turned)
        self.known.add((slot.name, "size"))
        return [*acts, *code(STORE), *code(STORE if first or turned else STORE_CONSTANT)]

    def _pointed_at_slices(self, part: Part, placed: PlacedAct) -> Acts:
        """A descriptor points at the slices of an operation."""
        of = self.base or "vector", placed.act.op.slices.count, _turned(placed)
        there = of, part.spans[placed.key]
        acts = code((of not in self.pointed) + 2 * (there not in self.known))
        self.pointed.add(of)
        self.known.add(there)
        return acts

    def _set_aside(self, part: Part, placed: PlacedAct) -> Acts:
        """A descriptor points at their place in the stage, if they come from there or go to it."""
        op, cut = placed.act.op, part.phase.cut
        place = op.receive if in_stage(op.receive) else op.send
        if not isinstance(place, Memory) or not in_stage(place):
            return []
        there = "aside", placed.act.op.slices.count, _turned(placed), part.spans[placed.key]
        behind = _turned(placed) if cut.stages_one_slice else place.area > 0
        new = there not in self.known
        self.known.add(there)
        return code((behind + 2) * new + STORE)

    def _asked_for_any(self, slot: SlotModel, *, empty: bool) -> Acts:
        """Whether an operation has an element."""
        asked = [*self._variable((slot.name, "size")), *code(1)]
        return [*asked, *(self.takes.passed if empty else self.takes.taken)]

    def _end_at_once(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        """What is done behind an operation without an element; what others write is read again."""
        self._issued()
        if placed.act.is_silent:
            return self.takes.taken
        if placed.act.is_local:
            return [*self._behind(part, slot, placed), *self.takes.taken]
        return [
            *self._follows(part, slot, placed),
            *self._tell(part, slot, placed),
            *self.takes.taken,
        ]

    def _behind(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        """What is done behind an operation for whose end code has waited: what follows, unless a
        task waits for the ends of several."""
        if placed.end == OWN_TASK:
            return self.run(slot.then)
        return self._tell(part, slot, placed)

    def _tell(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        """Code does to a task what the end of an operation would."""
        what, task = self._end(part, slot, placed)
        return [*code(1), do(what, task)]

    def _bound(self, part: Part, at: int) -> Acts:
        """Where a slice begins is computed, but for the first one."""
        key = part.number, "bound", at
        if key in self.known:
            return []
        self.known.add(key)
        if part.phase.cuts_table:
            return code(READ)
        several, count = at > 1, part.plan_phase.slicing.count
        words = self.plan.collective.contract.element.words
        left, least = (self._variable((part.phase.name, name)) for name in ("left", "least"))
        product = [*code(1), *wait(PRODUCT - 1)] if count > BYTE else code(1)
        return [
            *left, *(product if several else []), *self._divided(count), *least,
            *code(several + 1 + (words > 1)),
        ]  # fmt: skip

    def _length(self, again: bool) -> Acts:
        """The length of the call is read, where it is not what a function is given."""
        return self._variable("length") if again else []

    def _variable(self, name: object) -> Acts:
        """A variable is read, unless code knows what is there."""
        new = name not in self.known
        self.known.add(name)
        return code(READ * new)

    def _issued(self) -> None:
        """What operations write is read again."""
        self.base = ""
        self.known.clear()

    def _first_pass(self) -> Acts:
        rate = self.rates.copy if self.model.input else self.rates.negate
        cycles, arrays = ceil(self.words / rate), 1 + bool(self.model.input)
        self.pointed.add((self.base, self.words, False))
        return [*code(arrays), *self._in_memory("first pass", arrays, cycles)]

    def _in_memory(self, what: str, loads: int, cycles: int) -> Acts:
        """An operation in memory: its registers are loaded, and code executes it."""
        op = self.pe.op((self.number, what), lambda: NOWHERE)
        return [*load(loads, op), do("settle", op), *code(cycles)]

    def _restore(self) -> Acts:
        acts: Acts = []
        if any(part.restores for part in self.parts):
            cycles = ceil(self.words / self.rates.negate)
            acts = [*code(1), *self._in_memory("restore", 1, cycles)]
        return acts + self.run(self.model.restored)

    def _finish(self) -> Acts:
        task = self.common.task(len(self.common.library.task_ids) - 1)
        follows = self.task("finished", lambda: self._then("done"))
        return [do("follow", task, follows), *code(1), do("activate", task)]

    def _over(self) -> Acts:
        """A PE that only sets its router may be here before the function has returned."""
        return self.run("done" if any(part.acts for part in self.parts) else "finish")

    def _loads(self, *, early: bool) -> Acts:
        """The registers that the call loads before the first operation, or behind it."""
        acts: Acts = []
        for part, slot in self._slots():
            now = self._holds(slot.begins) is early
            printed = slot.begins if early else slot.begins != "true"
            if not (printed and now and slot.name in self.loaded):
                continue
            if not self._shares(slot):
                acts += self._load(part, slot)
        return acts

    def _slots(self) -> Iterator[tuple[Part, SlotModel]]:
        for part in self.parts:
            for section in part.phase.sections:
                yield from ((part, slot) for slot in section.slots)

    def _shares(self, slot: SlotModel) -> bool:
        return bool(slot.shares_register) and self._holds(slot.shares_register)

    def _holds(self, condition: str) -> bool:
        """Whether a condition of the library on what takes part is true of the PE."""
        return self.pe.holds(self.library, condition)

    def _load(self, part: Part, slot: SlotModel, *, again: bool = False) -> Acts:
        """What `load` of a slot's module does, the registers being others' before if `again`."""
        placed = part.acts.get(slot.key)
        if placed is None:
            return []
        if placed.act.turns is not None:
            return self._load_turns(part, slot, placed, again)
        if placed.act.table is not None:
            return self._load_table(part, slot, again)
        calls_back, blocks = self._calls_back(placed.act), in_blocks(placed.act)
        if self._sliced(part, placed) and not calls_back and not blocks:
            return self._load_slices(part, slot, placed, again)
        if blocks or placed.act.is_local or calls_back:
            kept = bool(self.model.run_length and not blocks) + STORE
            return [*self._base(again), *self._pointed(part, placed), *code(kept)]
        return self._load_registers(part, slot, placed, again)

    def _load_turns(self, part: Part, slot: SlotModel, placed: PlacedAct, again: bool) -> Acts:
        out, into = (self._turn_op(part, slot, placed, way) for way in (True, False))
        if part.phase.cut.dynamic_length:
            several = self.plan.collective.contract.element.words > 1
            size = [*self._variable((part.phase.name, "least")), *code(1 + several)]
            loads = [*size, *load(1, out), *code(1), *load(1, into)]
            return [*loads, *self._base(again), *code(2 + STORE)]
        fabric = again and part.plan_phase.slicing.even
        loads = [*load(1, out), *load(1, into)] if fabric else []
        return [*loads, *self._base(again), *code(1 + STORE)]

    def _load_slices(self, part: Part, slot: SlotModel, placed: PlacedAct, again: bool) -> Acts:
        act, (receives, sends) = placed.act, _sides(placed.act)
        staged, op = _is_staged(act), self._op(part, slot, placed)
        acts = [*self._base(again), *self._cut_slices(part, slot, placed, again)]
        if act.is_local:
            acts += self._set_aside(part, placed)
            return [*acts, *self._pointed_at_slices(part, placed), *code(STORE)]
        acts += self._set_aside(part, placed)
        acts += [*code(receives + sends), *load(receives + sends + staged, op)]
        combines = act.op.action is Action.COMBINE
        count = (not sends and not staged) + combines + (not receives and not staged)
        if count:
            acts += [*self._pointed_at_slices(part, placed), *load(count, op)]
        return acts

    def _load_registers(self, part: Part, slot: SlotModel, placed: PlacedAct, again: bool) -> Acts:
        act, varies = placed.act, bool(self.model.run_length)
        tells, (receives, sends) = act.command is not Advance.NOTHING, _sides(act)
        staged, op, acts = _is_staged(act), self._op(part, slot, placed), Acts()
        if varies and not tells:
            acts += [
                *self._length(again),
                *code(receives + sends),
                *load(receives + sends + staged, op),
            ]
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

    def _load_table(self, part: Part, slot: SlotModel, again: bool) -> Acts:
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

    def _pointed(self, part: Part, placed: PlacedAct) -> Acts:
        """A descriptor points at the vector, then at some element, unless the code has one that
        does."""
        (words, *_), op = part.words[placed.key], placed.act.op
        of = self.base or "vector", words, op.slices.backward and placed.act.last is None
        begins = *of, part.firsts.get(placed.key)
        new = [one for one in (of, begins) if one not in self.pointed]
        self.pointed.update(new)
        return code(len(new))

    # functions

    def _begin_slot(self, part: Part, slot: SlotModel) -> Acts:
        acts: Acts = []
        placed = part.acts.get(slot.key)
        if slot.shares_task and placed is not None and (slot.turns or placed.end == OWN_TASK):
            acts += code(STORE_CONSTANT)
        if slot.shares_register and self._shares(slot):
            acts += self._load(part, slot, again=True)
        return acts + self._start(part, slot)

    def _begin_section(self, part: Part, section: SectionModel) -> Acts:
        starts = [name for name, holds in section.begins if self._holds(holds)]
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

    def _joined(self, _: Part, join: JoinModel) -> Acts:
        return _activate(self.common.task(join.activates))

    def _join(self, join: JoinModel) -> Acts:
        task = self.common.task(join.task)
        self.pe.blocked |= 1 << task
        follows = self.task(
            join.name,
            lambda: [*code(1), do("block", task), *self._called(join.then, join.shares_task)],
        )
        return [do("follow", task, follows), *code(STORE_CONSTANT * join.shares_task)]

    def _start(self, part: Part, slot: SlotModel) -> Acts:
        placed = part.acts.get(slot.key)
        if placed is None:
            return self.run(slot.then)
        act = placed.act
        if act.turns is not None:
            return self._begin_turns(part, slot, placed)
        if self._sliced(part, placed) and (act.is_local or not self._calls_back(act)):
            empty = not part.words[placed.key][0]
            asked = self._asked_for_any(slot, empty=empty)
            if empty and act.op.advance is Advance.TURN:
                loads = load(2, self._op(part, slot, placed))
                return [*asked, *loads, *self._start_some(part, slot, placed), *self.takes.taken]
            rest = self._end_at_once if empty else self._start_some
            return [*asked, *rest(part, slot, placed)]
        return self._start_some(part, slot, placed)

    def _start_some(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        """An operation is started that has some element."""
        act = placed.act
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

    def _issue(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        number = self._op(part, slot, placed)
        passes = placed.rounds > 1
        self._issued()
        loads = 3 if passes else 2 if in_blocks(placed.act) else 0
        return [*load(loads, number), do("issue", number)]

    def _called(self, name: str, by_pointer: bool) -> Acts:
        """A function, or what a variable points at."""
        return self._in_turn(lambda: self._then(name)) if by_pointer else self._then(name)

    def _in_turn(self, function: Callable[[], Acts]) -> Acts:
        """A function is called that is known when the program runs only; the way back is a jump."""
        return [*code(READ), *self.takes.taken, *function(), *self.takes.taken]

    def _follows(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        """What the end of an operation begins, if nothing else waits for it, too."""
        if self._silent(slot, placed) or placed.end != OWN_TASK:
            return []
        task = self.common.task(slot.task)
        follows = self.task(slot.name, lambda: self._ended(part, slot, placed))
        return [do("follow", task, follows)]

    def _ended(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        if slot.shares_task:
            then = partial(self._ended, part, replace(slot, shares_task=False), placed)
            return self._in_turn(then)
        if placed.repeats == 1:
            return self._then(slot.then)
        again = self.task(f"{slot.name} again", lambda: self._issue(part, slot, placed))
        counter = self.pe.counter()
        return [
            *code(READ + 1 + STORE + 1), *self.takes.passed,
            do("again", counter, placed.repeats, again),
            *wait(self.takes.jump - self.takes.no_jump), *code(STORE_CONSTANT),
            *self._then(slot.then),
        ]  # fmt: skip

    def _settle(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        combines = placed.act.op.action is Action.COMBINE
        operands = part.words[slot.key][0] * (PAIR if part.plan_phase.paired else 1)
        loads, cycles = self.in_memory_at(operands, combines=combines)
        behind = self._behind(part, slot, placed)
        return [*self._in_memory(slot.name, loads, cycles), *behind]

    def in_memory_at(self, operands: int, *, combines: bool) -> tuple[int, int]:
        """How many registers an operation in memory has, and its cycles."""
        if combines and self.rates.maps:
            return (
                3,
                operands // self.plan.collective.contract.element.words * self.rates.combine - 1,
            )
        rate = self.rates.combines if combines else self.rates.moves
        return 2, ceil(operands / rate)

    def _call_back(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
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
        self._issued()
        return acts + ([] if placed.act.is_silent else self.run(slot.then))

    # turns

    def _begin_turns(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        if part.phase.cut.dynamic_length:
            return self._begin_turns_of_call(part, slot, placed)
        turns = placed.act.turns
        assert turns is not None
        begun = code(STORE_CONSTANT + READ + 2 * (1 + STORE))
        if not part.plan_phase.slicing.even:
            begun += code(2 * STORE_CONSTANT)
        return [*self._repeated(part, slot, placed), *begun, *self._go(part, slot, placed)]

    def _repeated(
        self, part: Part, slot: SlotModel, placed: PlacedAct, behind: Acts | None = None
    ) -> Acts:
        """What the end of a turn begins: the next one, or what follows the last, `behind` what is
        asked then."""
        turns = placed.act.turns
        assert turns is not None
        back = self.takes.taken if slot.shares_task else []  # what a pointer led to returns
        go = self.task(
            f"{slot.name} go", lambda: [*self._go(part, slot, placed, begins=False), *back]
        )
        counter = self.pe.counter()

        def ended() -> Acts:
            return [
                *code(READ + 1), *self.takes.passed, do("again", counter, turns.count, go),
                *wait(self.takes.jump - self.takes.no_jump), *(behind or []),
                *(self.run if slot.shares_task else self._then)(slot.then),
            ]  # fmt: skip

        return self._at_ends(slot, ended)

    def _at_ends(self, slot: SlotModel, ended: Callable[[], Acts]) -> Acts:
        """What the task of turns does."""
        follows = self.task(
            slot.name, (lambda: self._in_turn(ended)) if slot.shares_task else ended
        )
        return [do("follow", self.common.task(slot.task), follows)]

    def _begin_turns_of_call(self, part: Part, slot: SlotModel, placed: PlacedAct) -> Acts:
        """The same where calls give the length: as if it were fixed where all slices are alike."""
        takes, slicing = self.takes, part.plan_phase.slicing
        asked = [*self._variable((part.phase.name, "left")), *code(1)]
        if slicing.even:
            least = self._variable((part.phase.name, "least"))
            begun = [*code(STORE_CONSTANT + READ), *least, *code(2 * (2 + STORE))]
            follows = self._repeated(part, slot, placed, [*code(1), *takes.taken])
            return [*asked, *takes.passed, *follows, *begun, *self._go(part, slot, placed)]
        acts = [*asked, *takes.taken, *code(1 + READ + 1)]
        if self.cuts:
            acts += [*takes.taken, *code(STORE), *self._table_of_cuts(slicing.count)]
            self.cuts = False  # for the turns behind these
        else:
            acts += [*takes.passed, *takes.taken]
        acts += code(2 * READ + 1 + STORE + READ + 1 + STORE)  # what is sent
        acts += code(READ + 1 + STORE + 1 + STORE)  # and received, which adjoins
        few = slicing.length // slicing.grain < slicing.count
        acts += [*code(READ + 1), *(takes.taken if few else takes.passed)]
        acts += code(STORE_CONSTANT)
        turns = placed.act.turns
        assert turns is not None
        bodies = [self._go_by_slices(part, slot, placed, turn, few) for turn in range(turns.count)]
        behind = [*code(READ + 1), *takes.taken, *code(1), *takes.passed, *code(1)]
        again = [*behind, *(takes.taken if few else takes.passed)]
        again += [*code(3), *takes.passed] if few else []
        codes = [
            self.task(f"{slot.name} {n}", partial(list, body)) for n, body in enumerate(bodies)
        ]
        last = self.task(
            f"{slot.name} over",
            lambda: [*behind, *takes.taken, *code(3), *takes.taken, *self.run(slot.then)],
        )
        others = [self.pe.same_code([*again, *self.pe.turn([at])]) for at in codes[1:]]
        return [
            *acts,
            *self._at_ends(slot, lambda: self.pe.turn([*others, last])),
            *bodies[0],
            *takes.taken,
        ]

    def _go_by_slices(
        self, part: Part, slot: SlotModel, placed: PlacedAct, turn: int, few: bool
    ) -> Acts:
        """A turn of slices of different lengths, of which a `few` may have elements at all."""
        turns, takes = placed.act.turns, self.takes
        assert turns is not None
        task = self.common.task(slot.task)
        self._issued()
        combines = turns.receive.action is Action.COMBINE
        sent, received = (self._turn_op(part, slot, placed, way) for way in (True, False))
        sends = [*code(READ + 1), *load(1, sent), *code(READ + 1), *load(1, sent)]
        takes_in = [*code(2 * READ + 2), *load(2 + combines, received)]
        acts = [*code(1), do("block", task)]
        for begun, op, key, end in (
            (sends, sent, placed.key, "unblock"),
            (takes_in, received, received_in(placed.key), "activate"),
        ):
            if not few:
                acts += [*begun, do("issue", op)]
            elif part.words[key][turn]:
                acts += [*code(READ + 1), *takes.passed, *begun, do("issue", op), *takes.taken]
            else:
                acts += [*code(READ + 1), *takes.taken, *code(1), do(end, task)]
        index = code(INDEX + READ)
        size = [*index, *index, *code(INDEX - 1 + READ + 1), *wait(LOADED), *code(STORE)]
        size += code(READ + 1 + STORE)
        acts += code(READ + 1 + STORE)
        acts += code(2 * (READ + STORE)) if _passes_on(part, placed) else size
        return [*acts, *size]

    def _go(self, part: Part, slot: SlotModel, placed: PlacedAct, *, begins: bool = True) -> Acts:
        turns, dynamic = placed.act.turns, part.phase.cut.dynamic_length
        differs = not dynamic and not part.plan_phase.slicing.even
        assert turns is not None
        self._issued()
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

    def _next_turn(self, part: Part, placed: PlacedAct, differs: bool) -> Acts:
        """What is prepared for the next turn while the words of this one are under way."""
        entry = [*code(INDEX), *code(READ), *wait(LOADED)]
        if part.phase.cut.dynamic_length:  # the number of a slice, times their length
            entry = [*code(INDEX + READ + READ + 1), *wait(LOADED - 1)]
        size = [*code(INDEX - 1), *code(READ), *wait(LOADED), *code(STORE)]
        acts = code(READ + 1 + STORE)
        if _passes_on(part, placed):
            acts += code((READ + STORE) * (1 + differs))
        else:
            acts += [*code(READ), *entry, *code(1 + STORE), *(size if differs else [])]
        return [*acts, *code(READ), *entry, *code(1 + STORE), *(size if differs else [])]

    def _turn_op(self, part: Part, slot: SlotModel, placed: PlacedAct, sends: bool) -> int:
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
                words=tuple(one for one in part.words[key] if one) or (1,),
                end=("unblock" if sends else "activate", self.common.task(slot.task)),
            ),
        )  # fmt: skip

    # operations

    def _op(self, part: Part, slot: SlotModel, placed: PlacedAct) -> int:
        divisor = placed.rounds if self._calls_back(placed.act) else 1
        place = part.number, slot.key, divisor
        return self.pe.op((self.number, slot.name), lambda: self._made(part, slot, placed), place)

    def _made(self, part: Part, slot: SlotModel, placed: PlacedAct) -> TimedOp:
        act = placed.act
        tells, words = act.command is not Advance.NOTHING, part.words[slot.key]
        vectors = placed.rounds
        if self._calls_back(act):
            words, vectors = tuple(one // placed.rounds for one in words), 1
        end = ("", 0) if self._silent(slot, placed) else self._end(part, slot, placed)
        command = act.command
        if act.op.advance is Advance.TURN and not tells and not any(words):
            tells, words, command = True, (1,), Advance.CONTROL
        return self._timed(
            part,
            slot,
            receive="" if tells else act.op.receives_on or "",
            send=act.op.sends_on or "",
            words=words,
            end=end,
            yields=placed.yields,
            command=command,
            advances=not tells and act.op.advance in OF_OWN_ROUTER,
            vectors=vectors,
        )

    def _end(self, part: Part, slot: SlotModel, placed: PlacedAct) -> tuple[str, int]:
        """What the end of an operation does to a task."""
        at = {OWN_TASK: slot.task, CLOSING_TASK: max(part.phase.closing, default=-1)}
        task = self.common.task(at.get(placed.end, placed.end))
        return "unblock" if placed.unblocks else "activate", task

    def _timed(  # noqa: PLR0913 - an operation
        self,
        part: Part,
        slot: SlotModel,
        *,
        receive: str,
        send: str,
        words: tuple[int, ...],
        end: tuple[str, int],
        yields: bool = False,
        command: Advance = Advance.NOTHING,
        advances: bool = False,
        vectors: int = 1,
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
            vectors,
            part.number,
        )

    def _queue(self, numbers: Sequence[int], at: str, color: str) -> int:
        """The number of the queue of a lane, or of a color."""
        if at.isdecimal():
            return numbers[int(at)]
        uses = self.common.program.uses_of(self.of)
        position = next(p for _, use in uses for name, p in use.positions if name == color)
        return numbers[position]


class _RowLane:
    """A lane of a PE that goes by a step table."""

    def __init__(self, call: _Call, part: Part, slot: SlotModel) -> None:
        self.call, self.part, self.slot = call, part, slot
        self.task, self.rows = call.common.task(slot.task), part.rows[slot.key]
        self.facts = Facts(self.rows, varies=part.phase.cut.dynamic_length)
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
            words=tuple(words[:1] if len(set(words)) == 1 else words) or (1,),
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

    def __init__(self, call: _Call, part: Part, section: SectionModel) -> None:
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
        # the text would read rows behind the last one
        assert len({len(_ends(lane.rows)) for lane in self.lanes}) == 1
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
            if lane.facts.always_waits or text.bit("now", rows[at].kind & FABRIC):
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


def _passes_on(part: Part, placed: PlacedAct) -> bool:
    """Whether what is received in a turn is sent in the next one."""
    sent, received = part.words[placed.key], part.words[received_in(placed.key)]
    firsts = part.firsts
    count, turns = part.plan_phase.slicing.count, placed.act.turns
    assert turns is not None
    first, other = firsts[placed.key], firsts[received_in(placed.key)]
    return (first + turns.shift - other) % count == 0 and len(sent) == len(received)


def _turned(placed: PlacedAct) -> bool:
    """Whether elements pass from the last one to the first."""
    return placed.act.op.slices.backward and placed.act.last is None


def _is_staged(act: Act) -> bool:
    return in_stage(act.op.receive) or in_stage(act.op.send)


def halves(index: int, count: int) -> tuple[bool, ...]:
    """The conditions by which one of several is found, which lies in the first half or not."""
    if count == 1:
        return ()
    middle = (count + 1) // 2
    if index < middle:
        return (True, *halves(index, middle))
    return (False, *halves(index - middle, count - middle))
