"""What the templates of a library see: every name chosen, every position numbered.

In reading order: a lane, a slot, a join, a section, a class of PEs, a phase, a collective, the
library.
"""

import re

from collc.base.values import dataclass
from collc.emit.classes import Act
from collc.emit.conditions import Cases
from collc.emit.cuts import Cut
from collc.emit.grid_places import SiteModel
from collc.emit.length_choice import halved
from collc.emit.names import Combine
from collc.emit.paths import PathModel
from collc.emit.routers import DetoursModel, RoutersModel, RoutesModel
from collc.emit.step_tables import ProgramModel, in_groups
from collc.spec.contract import spanned

WORD_BITS = 16


@dataclass(frozen=True)
class LaneModel:
    """A lane of a phase, with the positions of its queues as expressions, and of the output queue
    on whose microthread it sends. They are its own unless other lanes have them, too."""

    name: str
    input: str
    output: str
    microthread: str
    own: bool = True


@dataclass(frozen=True)
class SlotModel:
    """An import of `op_*.csl`, of `loop_*.csl` if it has `turns`, or of `table_*.csl` if it is a
    `table`. `field` is its place in the phase's parameters, `lane` that of the lane whose queues it
    has; `begins` is the condition that no operation of the call comes before it, empty if some
    always does. Positions are those in the library's lists."""

    name: str
    field: str
    phase: str
    lane: LaneModel
    task: int
    register: int
    register_out: int  # of turns, for what they send
    turns: int  # the rows that it has at most; 0 of an operation
    table: bool
    repeats: bool  # on some PE
    begins: str
    then: str
    stage: str
    bounds: str  # of slices of a length that calls give, a pointer to them
    loads: bool  # whether some PE's operand is at an address of the caller's
    key: tuple[int, int, int]
    shares_register: str  # the condition that a PE has it in turn with others
    shares_task: bool

    @property
    def goes_on_in_turn(self) -> bool:
        """Whether it is not over at the end of a task that it has in turn with others."""
        return self.shares_task and bool(self.turns or self.repeats or self.table)

    @property
    def takes_part(self) -> str:
        """The condition that a PE has it."""
        return taking_part(self.phase, self.field, table=self.table)

    @property
    def begin(self) -> str:
        """What begins it: a function of the library's where something is to be prepared."""
        prepared = self.shares_register or self.shares_task
        return f"begin_{self.name}" if prepared else f"{self.name}.start"


def taking_part(phase: str, field: str, *, table: bool) -> str:
    """The condition that a PE has a slot, by its field among a phase's parameters."""
    return f"({phase}.{field} > 0)" if table else f"{phase}.{field}.takes_part"


@dataclass(frozen=True)
class StepsModel:
    """Lanes by step tables: of each lane the functions that have its loops, and tables of numbers
    that these look something up in."""

    programs: tuple[tuple[str, tuple[ProgramModel, ...]], ...]
    tables: tuple[tuple[str, tuple[int, ...]], ...]
    numbers: int
    slicing: str

    def of(self, lane: str) -> tuple[tuple[ProgramModel, ...], ...]:
        """The programs of a lane in groups, of which a choice is made."""
        return in_groups(dict(self.programs)[lane])


@dataclass(frozen=True)
class JoinModel:
    """An import of `join.csl`: where `ends` of the PE's ends are more than `least` it takes part,
    and what follows."""

    name: str
    ends: str
    least: int
    task: int
    then: str
    shares_task: bool
    activates: int  # the position of the task that it activates; -1 if it goes on to `then`


@dataclass(frozen=True)
class SectionModel:
    """What begins a section: the function's name, the first slot of each chain with the condition
    that the chain has anything on the PE, and what comes next if none has."""

    name: str
    starts: tuple[tuple[str, str], ...]
    next: str
    joins: tuple[JoinModel, ...]
    slots: tuple[SlotModel, ...]
    alone: str  # of lanes that go by steps the condition that a PE has one; else nothing
    ends: str  # the field that has how many it has; else nothing

    @property
    def begin(self) -> str:
        """The function that begins it."""
        return f"begin_{self.starts[0][0] if self.is_one_chain else self.name}"

    @property
    def begins(self) -> tuple[tuple[str, str], ...]:
        """What begins each chain, with its condition."""
        of = {slot.name: slot.begin for slot in self.slots}
        return tuple((of[name], condition) for name, condition in self.starts)

    @property
    def is_one_chain(self) -> bool:
        """Whether its first slot begins it."""
        return len(self.starts) == 1 and not self.alone


OWN_TASK, CLOSING_TASK = -1, -2  # instead of a task's position: the act's own, the phase's last


@dataclass(frozen=True)
class PlacedAct:
    """What PEs of a class do in a slot: how often it begins, how often it goes over the elements,
    whether it yields to others; the position of the task that its end is told to, and whether it
    unblocks that; whether what follows need not wait for its end."""

    key: tuple[int, int, int]
    act: Act
    repeats: int = 1
    rounds: int = 1
    yields: bool = False
    end: int = OWN_TASK
    unblocks: bool = False
    goes_on: bool = False


@dataclass(frozen=True)
class ClassModel:
    """PEs that do the same: what, and the lines that say so; of what role they are, and at which
    places; how many ends each section has."""

    index: int
    about: str
    lines: tuple[str, ...]
    role: int
    places: tuple[int, ...]
    acts: tuple[PlacedAct, ...]
    ends: tuple[int, ...]
    restores: bool


@dataclass(frozen=True)
class MultiplexedColor:
    """A symbolic color of a phase that phases of a program use one after the other: its bit among
    the program's colors, and whether some phase changes switch positions on it."""

    name: str
    mask: str
    switched: str


@dataclass(frozen=True)
class PhaseModel:
    """A phase: in the layout classes and routes, in the PE's text sections."""

    name: str
    type_name: str
    about: str
    lanes: tuple[LaneModel, ...]
    sections: tuple[SectionModel, ...]
    fields: tuple[SlotModel, ...]  # of the operations and turns
    rows: tuple[int, ...]  # how many rows turns have
    ends: tuple[str, ...]  # fields with how many ends a section waits for
    classes: tuple[ClassModel, ...]
    tables: tuple[tuple[str, tuple[int, ...]], ...]
    cases: Cases
    role_cases: Cases | None  # where roles have several classes
    on_path: bool
    place: str
    block: str
    cut: Cut
    steps: StepsModel | None
    slices: bool
    routes: tuple[RoutesModel, ...]
    detours: DetoursModel | None
    filters: bool
    stage: str
    roles: int
    idle: tuple[int, ...]  # classes that have nothing to do
    restores: bool  # PEs with the result, whose sign they turn back behind the last such phase
    simd: str  # what an instruction takes of the fabric; empty for an element
    elements_in_word: int  # that one wavelet carries
    operation: str  # what ends the names of the files for operations
    multiplexed: tuple[MultiplexedColor, ...]  # colors whose routers are set as it begins
    routers: tuple[RoutersModel, ...]  # to what; empty where another phase sets them alike
    staged_word: bool  # its vectors are the library's word in place of the caller's
    sets: str  # the phase that has the code for that
    cuts_table: bool  # where slices begin of a length that calls give is looked up
    closing: tuple[int, ...] = ()  # where it ends with its teardowns: the positions of tasks
    closed: str = ""  # and what comes behind these

    def reads(self, name: str) -> bool:
        """Whether the parameters of some PE are computed by a name of the layout."""
        used = re.compile(rf"\b{name}\b")
        lines = (line for of in self.classes for line in of.lines)
        return any(map(used.search, (self.block, *lines)))

    @property
    def first(self) -> str:
        """The function that begins its operations."""
        section = self.sections[0]
        return section.slots[0].begin if section.is_one_chain else section.begin

    @property
    def begin(self) -> str:
        """The function that begins it."""
        return f"open_{self.name}" if self.multiplexed else self.first

    @property
    def op(self) -> str:
        """The file of its operations."""
        return f"op_{self.operation}"

    @property
    def loop(self) -> str:
        """The file of its turns."""
        return f"loop_{self.operation}"

    @property
    def table(self) -> str:
        """The file of its step tables."""
        return f"table_{self.operation}"

    @property
    def has_turns(self) -> bool:
        """Whether some PE has any."""
        return any(slot.turns for slot in self.fields)

    @property
    def has_tables(self) -> bool:
        """Whether some PE has any."""
        return any(slot.table for slot in self.fields)


@dataclass(frozen=True)
class CollectiveModel:
    """A collective of the library: `prefix` begins the names of what its path is found by, `grid`
    is what it counts its own PEs by. Vectors have `length` words, or up to so many, of the `most`
    elements that a buffer has room for."""

    name: str
    prefix: str
    headline: str
    by_slices: str
    site: SiteModel
    width: int
    height: int
    path: PathModel | None
    length: int
    most: int
    element: str
    buffer: str
    run_length: str  # the name of a length that calls give; else nothing
    combine: Combine
    phases: tuple[PhaseModel, ...]
    restored: str  # what comes behind signs that are turned back
    apart: int  # elements of the vector, each from the next
    input: str  # the buffer that is copied to the vector first; else nothing
    input_apart: int
    words: int  # of the vector, of one of the call's elements

    @property
    def longest(self) -> int:
        """The most elements that a call may say its vectors have."""
        return self.length // self.words

    @property
    def held(self) -> int:
        """What the vector's buffer has, with what is between its elements."""
        return spanned(self.most, self.apart) * self.words

    @property
    def input_held(self) -> int:
        """The same of the input's."""
        return spanned(self.most, self.input_apart) * self.words

    @property
    def first_pass(self) -> str:
        """The builtin that makes the vector of what calls give; empty if that is the vector."""
        if self.phases and self.combine.negate:
            return self.combine.negate
        return self.combine.move if self.input else ""

    @property
    def ends_at_once(self) -> bool:
        """Whether a call may be over on some PE without an operation that ends in a task."""
        at_once = not self.phases or self.site.takes_part or self.combine.callback
        return bool(at_once or self.passes_on)

    @property
    def takes_part(self) -> str:
        """The condition that a PE has anything to do."""
        parts = [f"{phase.name}.takes_part" for phase in self.phases]
        set_by = dict.fromkeys(phase.sets for phase in self.phases if phase.multiplexed)
        parts += [f"({name}_colors != 0)" for name in set_by]
        return " or ".join(parts) or f"params.{self.prefix}alone"

    @property
    def passes_on(self) -> bool:
        """Whether the call of some PE that only has its router set may be over at once."""
        return any(p.multiplexed and p.idle and not p.closing for p in self.phases)

    @property
    def given_length(self) -> str:
        """How many words a call's vector has: a number, or an expression."""
        if not self.run_length:
            return str(self.length)
        return f"({self.run_length} * {self.words})" if self.words > 1 else self.run_length

    @property
    def slots(self) -> tuple[SlotModel, ...]:
        """Those of all phases, in the order in which they run."""
        return tuple(slot for p in self.phases for s in p.sections for slot in s.slots)

    @property
    def restores(self) -> str:
        """The condition that a PE turns back signs: by the last reduction that it has a part in."""
        later, found = list[str](), list[str]()
        for name in reversed([phase.name for phase in self.phases if phase.restores]):
            found.append(" and ".join([*later, f"{name}.restores"]))
            later.append(f"!{name}.takes_part")
        return " or ".join(f"({one})" if " and " in one else one for one in found)

    @property
    def has_word(self) -> bool:
        """Whether the library has a word of its own in place of the caller's vector."""
        return not self.buffer or any(phase.staged_word for phase in self.phases)

    @property
    def loaded(self) -> tuple[SlotModel, ...]:
        """The slots that a call may have to point at the caller's vector."""
        own = {phase.name for phase in self.phases if phase.staged_word}
        return tuple(
            slot
            for slot in self.slots
            if slot.loads
            and slot.shares_register != "true"
            and (slot.turns or slot.table or (self.buffer and slot.phase not in own))
        )

    @property
    def first(self) -> str:
        """The function that begins it."""
        return self.phases[0].begin if self.phases else "finish"

    @property
    def base(self) -> str:
        """The variable that has the caller's vector, if some slot loads its registers as it
        begins; else nothing."""
        return f"{self.prefix}base" if any(slot.shares_register for slot in self.slots) else ""

    @property
    def base_length(self) -> str:
        """How many elements that has: a number, or a variable."""
        return f"{self.base}_length" if self.run_length else str(self.length)


@dataclass(frozen=True)
class SelectionModel:
    """A choice of collectives by a length, as statements. The array that is the input has
    `input_held` elements where the result is apart from it, and none elsewhere."""

    name: str
    length: str
    held: int
    input_held: int
    element: str
    choice: tuple[str, ...]


@dataclass(frozen=True)
class RootModel:
    """A choice of collectives by a root that a call gives: those for PEs behind it, for itself, and
    for PEs before it; `rank` is that of PE (x, y). `length` is the name of one that calls give as
    well."""

    name: str
    root: str
    ranks: int
    rank: str
    held: int
    input_held: int
    element: str
    length: str
    names: tuple[str, str, str]

    @property
    def given(self) -> str:
        """What the collectives of the choice are given."""
        arrays = "input, vector" if self.input_held else "vector"
        return f"{arrays}, {self.length}" if self.length else arrays


@dataclass(frozen=True)
class QueuesModel:
    """Queues of several lanes: those that PEs have of a `color`, by its position, or, where it is
    negative, of which a PE has one."""

    name: str
    color: int
    input: str
    output: str
    lanes: tuple[str, ...]


@dataclass(frozen=True)
class TornDownModel:
    """A color that is torn down between phases: its position and its bit; whether positions of a
    switch change on it; and the conditions on (x, y) that position 1 changes the sending side.
    Where phases end with their teardowns, `task` is the position of the one that waits for it."""

    position: int
    task: int
    mask: str
    switched: str
    turns_output: tuple[str, ...]


@dataclass(frozen=True)
class KernelModel:
    """The standalone program around a library: its buffers, each with the type and the number of
    its elements; what calls are given beside them, by name, each with its limits in words; the
    turns of a round, each of calls beside each other, as statements, and how many rounds there are;
    the id of the task that begins a turn, -1 if none is left for it, or there is one turn.
    """

    buffers: tuple[tuple[str, str, int], ...]
    given: tuple[tuple[str, str], ...]
    turns: tuple[tuple[str, ...], ...]
    rounds: int
    task: int

    @property
    def proceed(self) -> str:
        """The statement behind which the turn that is due begins."""
        return "@activate(next_id);" if self.task >= 0 else "proceed();"

    @property
    def is_one_call(self) -> bool:
        """Whether nothing follows its first calls."""
        return len(self.turns) == self.rounds == 1

    @property
    def beside(self) -> bool:
        """Whether calls are beside each other."""
        return any(len(turn) > 1 for turn in self.turns)

    @property
    def choice(self) -> tuple[str, ...]:
        """The statements of the turn that is due; of one round never the first one."""
        due = list(enumerate(map(self._begins, self.turns)))[self.rounds == 1 :]
        if self.beside:
            return tuple(halved("call", due))
        return ("linger();", *halved("call", [(i, of[1:]) for i, of in due]))

    @property
    def first(self) -> list[str]:
        """The statements of the first turn."""
        return self._begins(self.turns[0])

    def _begins(self, turn: tuple[str, ...]) -> list[str]:
        """The statements of a turn, with what goes before each call."""
        count = [f"missing = {len(turn)};"] if self.beside else []
        return count + [line for statement in turn for line in ("linger();", statement)]


@dataclass(frozen=True)
class LibraryModel:
    """A library. `queues` are those that several lanes have, beside the lanes' own. Where others
    are beside it, `call_stream` is what the program calls it."""

    name: str
    call_stream: str
    source: str
    version: str
    target: str
    width: int
    height: int
    colors: tuple[int, ...]
    queues: tuple[QueuesModel, ...]
    input_queues: tuple[int, ...]
    output_queues: tuple[int, ...]
    task_ids: tuple[int, ...]
    dsr_ids: tuple[int, ...]
    collectives: tuple[CollectiveModel, ...]
    equal: tuple[tuple[CollectiveModel, str], ...]  # those whose code is that of another one
    turns: tuple[int, ...]  # positions of tasks that operations have in turn
    joined: tuple[int, ...]  # and joins
    torn_down: tuple[TornDownModel, ...] = ()
    start_task: int = -1  # the position of the task that goes on when these are
    selections: tuple[SelectionModel, ...] = ()
    rooted: tuple[RootModel, ...] = ()

    @property
    def type_name(self) -> str:
        """Its name as that of a type."""
        return "".join(part.capitalize() for part in self.name.split("_") if part)

    @property
    def closed(self) -> tuple[str, ...]:
        """What comes behind phases that end with their teardowns."""
        return tuple(sorted({phase.closed for phase in self.phases if phase.closing}))

    @property
    def all_collectives(self) -> tuple[CollectiveModel, ...]:
        """Those that can be called."""
        return (*self.collectives, *(one for one, _ in self.equal))

    @property
    def mask_type(self) -> str:
        """The type of a bit for each color that is torn down."""
        return "u16" if len(self.torn_down) <= WORD_BITS else "u32"

    @property
    def takes_arguments(self) -> bool:
        """Whether some call gives a length, or a root."""
        return bool(self.rooted) or any(one.run_length for one in self.collectives)

    @property
    def module(self) -> str:
        """What the program calls it: what runs it in fabsim finds the tokens of barriers there."""
        if self.call_stream:
            return self.call_stream
        if all(one.buffer for one in self.collectives):
            return self.name
        first = self.collectives[0]
        return "collectives" if first.prefix else first.name

    @property
    def phases(self) -> tuple[PhaseModel, ...]:
        """Those of all collectives."""
        return tuple(phase for one in self.collectives for phase in one.phases)

    @property
    def elements(self) -> tuple[str, ...]:
        """The types of elements."""
        return tuple(sorted({one.element for one in self.collectives}))

    @property
    def relays(self) -> bool:
        """Whether some PE lets so many elements pass."""
        lines = (line for phase in self.phases for of in phase.classes for line in of.lines)
        return any("elements(" in line for line in lines)

    @property
    def has_whole_vectors(self) -> bool:
        """Whether some operation has elements that do not depend on what calls give."""
        phases = (phase for phase in self.phases if not phase.cut.dynamic_length)
        return any(not (slot.turns or slot.table) for of in phases for slot in of.fields)

    @property
    def has_turns(self) -> bool:
        """Whether some PE has turns of slices that do not depend on what calls give."""
        return any(one.rows and not one.cut.dynamic_length for one in self.phases)

    @property
    def has_tables(self) -> bool:
        """Whether some PE has a step table."""
        return any(one.has_tables for one in self.phases)

    @property
    def joins(self) -> bool:
        """Whether some PE waits for several ends in a task of their own."""
        joins = (join for phase in self.phases for of in phase.sections for join in of.joins)
        return any(not join.shares_task for join in joins)

    @property
    def ends_at_once(self) -> bool:
        """Whether some call may be over without an operation that ends in a task."""
        return any(one.ends_at_once for one in self.collectives)
