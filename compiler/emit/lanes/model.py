"""What the templates of a library see: every name chosen, every position numbered.

In reading order: a slot, a join, a section, a lane, a class of PEs, a phase, the library.
"""

from collc.base.values import dataclass
from collc.emit.conditions import Cases
from collc.emit.detours import DetoursModel
from collc.emit.grid_places import SiteModel
from collc.emit.lanes.cuts import Cut
from collc.emit.names import Combine
from collc.emit.paths import PathModel
from collc.emit.roles import RoutesModel


@dataclass(frozen=True)
class SlotModel:
    """An import of `op_*.csl`. `field` is its place in the phase's parameters, `lane` that of the
    lane whose queues it has; `begins` is the condition that no operation of the call comes before
    it, empty if some always does. Positions are those in the library's lists."""

    name: str
    field: str
    phase: str
    lane: str
    input: int
    output: int
    microthread: int
    task: int
    register: int
    register_out: int  # of turns, for what they send
    turns: int  # the rows that it has at most; 0 of an operation
    begins: str
    then: str
    stage: str
    loads: bool  # whether some PE's operand is at an address of the caller's
    key: tuple[int, int, int]
    shares_register: str  # the condition that a PE has it in turn with others
    shares_task: bool


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

    @property
    def begin(self) -> str:
        """The function that begins it."""
        return f"begin_{self.starts[0][0] if self.is_one_chain else self.name}"

    @property
    def is_one_chain(self) -> bool:
        """Whether its first slot begins it."""
        return len(self.starts) == 1


@dataclass(frozen=True)
class LaneModel:
    """A lane of a phase, with the positions of its queues."""

    name: str
    input: int
    output: int
    microthread: int


@dataclass(frozen=True)
class ClassModel:
    """PEs that do the same: what, and the lines that say so."""

    index: int
    about: str
    lines: tuple[str, ...]


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
    slices: bool
    routes: tuple[RoutesModel, ...]
    detours: DetoursModel | None
    filters: bool
    stage: str


@dataclass(frozen=True)
class LibraryModel:
    """A library of one collective."""

    name: str
    type_name: str
    collective: str
    headline: str
    by_slices: str
    source: str
    version: str
    target: str
    width: int
    height: int
    site: SiteModel
    path: PathModel | None
    length: int
    element: str
    buffer: str
    combine: Combine
    simd: str
    op: str
    colors: tuple[int, ...]
    input_queues: tuple[int, ...]
    output_queues: tuple[int, ...]
    task_ids: tuple[int, ...]
    dsr_ids: tuple[int, ...]
    phases: tuple[PhaseModel, ...]
    turns: tuple[int, ...]  # positions of tasks that operations have in turn
    meetings: tuple[int, ...]  # and joins
    root: tuple[int, int]

    @property
    def module(self) -> str:
        """What the program calls it: fabsim finds a token by the name of its barrier."""
        return self.name if self.buffer else self.collective

    @property
    def first(self) -> str:
        """The function that begins it."""
        return self.phases[0].sections[0].begin

    @property
    def elements_in_word(self) -> int:
        """Elements that one wavelet carries."""
        return 1 if self.simd == "" or not self.element.endswith("16") else 2

    @property
    def slots(self) -> tuple[SlotModel, ...]:
        """Those of all phases, in the order in which they run."""
        return tuple(slot for p in self.phases for s in p.sections for slot in s.slots)

    @property
    def loop(self) -> str:
        """The file of turns."""
        return self.op.replace("op_", "loop_", 1)

    @property
    def has_turns(self) -> bool:
        """Whether some PE has any."""
        return any(slot.turns for slot in self.slots)

    @property
    def relays(self) -> bool:
        """Whether some PE lets so many elements pass."""
        lines = (line for phase in self.phases for of in phase.classes for line in of.lines)
        return any("elements(" in line for line in lines)

    @property
    def shares_registers(self) -> bool:
        """Whether some slot loads its registers as it begins."""
        return any(slot.shares_register for slot in self.slots)

    @property
    def joins(self) -> bool:
        """Whether some PE waits for several ends in a task of their own."""
        joins = (join for phase in self.phases for of in phase.sections for join in of.joins)
        return any(not join.shares_task for join in joins)
