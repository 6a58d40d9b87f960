"""What a PE class does: lanes of operations. Trees, multicasts, step tables and streams are these.

    Role    a PE class: lanes that run beside each other
    Lane    entries one after the other, in loops or once
    Entry   operations that begin together; the next entry begins when all of them have ended
    Op      receive from a color or memory, combine, copy or relay, send to a color or memory

    receive   action    send      what it is
    color     combine   memory    `memory = memory + arriving`
    color     combine   color     the same, sent on instead of stored: receiving and sending overlap
    color     copy      memory    what arrives overwrites memory, or is staged
    color     relay     color     what arrives is sent on, memory is left alone
    memory    copy      color     slices are sent
    memory    combine   memory    a stage (or another buffer) is combined with the vector
    memory    copy      memory    it overwrites the vector

The other operand of a combination is always the same slices of the vector. Colors are named; which
number one has, and what routers do with it, the plan says elsewhere (`ColorUse`).
"""

from enum import Enum
from functools import cached_property

from collc.base.values import dataclass
from collc.plan.numbers import ONE, ZERO, Number
from collc.plan.routers import Advance, ColorUse


class Action(Enum):
    """What an operation does with what it receives."""

    COMBINE = "combine"
    COPY = "copy"
    RELAY = "relay"


class Buffer(Enum):
    """Memory of a PE that operations name."""

    VECTOR = "vector"  # the collective's own
    STAGE = "stage"  # areas of a vector's length, for what arrives over slices still to be sent


@dataclass(frozen=True, order=True)
class Memory:
    """A buffer; of the stage one of its areas."""

    buffer: Buffer = Buffer.VECTOR
    area: int = 0

    @property
    def is_stage(self) -> bool:
        """Whether it is the stage."""
        return self.buffer is Buffer.STAGE


VECTOR = Memory()
WHOLE_LANES = ("vectors",)  # of a phase whose vectors are not cut
Place = str | Memory  # a color, by its name, or memory


@dataclass(frozen=True)
class Slices:
    """`count` slices from `first` on, as numbers of the place. `backward` passes elements from the
    last to the first (stride -1). Within a loop `first` goes on from turn to turn. Where vectors
    are not cut there is one slice.
    """

    first: Number = ZERO
    count: Number = ONE
    backward: bool = False

    def at(self, place: int) -> range:
        """The slices of a place."""
        first = self.first.at(place)
        return range(first, first + self.count.at(place))


WHOLE = Slices()


@dataclass(frozen=True)
class Filter:
    """A counter filter between a router and its PE's queue: of as many wavelets as the slices of
    `period` have, which pass again and again, those behind as many as `before` has reach the PE, as
    many as `passes` has. What it keeps from the PE goes on to neighbours."""

    period: Slices
    before: Slices
    passes: Slices


@dataclass(frozen=True)
class Op:
    """One operation. Its extent is that of its slices, `vectors` times over; with `elements` that
    many elements instead, which only a relay has, where it joins slices that do not follow each
    other. `advance` is what moves routers on behind it, `filter` what thins out what arrives.
    What it sends `returns` if it is received, too, in an operation that ends behind it. It begins
    `after` that of another lane of the PE has ended which moves its slices the same way: from the
    fabric, or to it.

    `where` is 1 at the places that have it, and 0 at those that share a step table with them and do
    something else. A color is "" where no place of the role has it.
    """

    receive: Place
    action: Action
    send: Place
    slices: Slices = WHOLE
    advance: Advance = Advance.NOTHING
    returns: bool = False
    filter: Filter | None = None
    after: str = ""
    vectors: int = 1
    elements: Number | None = None
    where: Number = ONE

    @property
    def receives_on(self) -> str | None:
        """The color it receives on."""
        return self.receive or None if isinstance(self.receive, str) else None

    @property
    def sends_on(self) -> str | None:
        """The color it sends on."""
        return self.send or None if isinstance(self.send, str) else None

    @property
    def stores(self) -> bool:
        """Whether what arrives is combined with memory."""
        arrives = isinstance(self.receive, str) and isinstance(self.send, Memory)
        return arrives and self.action is Action.COMBINE

    @property
    def copies(self) -> bool:
        """Whether what arrives is copied to memory."""
        arrives = isinstance(self.receive, str) and isinstance(self.send, Memory)
        return arrives and self.action is Action.COPY

    @property
    def sends(self) -> bool:
        """Whether it sends a vector, as it is or combined with what arrives."""
        return isinstance(self.send, str) and self.action is not Action.RELAY

    @property
    def combines_from(self) -> str | None:
        """The color of what is combined with the vector while that is sent."""
        combined = self.action is Action.COMBINE and isinstance(self.send, str)
        return self.receives_on if combined else None


@dataclass(frozen=True)
class Entry:
    """Operations that begin together and end before the next entry begins: at most one that uses
    the lane's input, one that uses its output. Where places differ in what they do, an entry has an
    operation for each, and a place those of which it has slices.

    `ends_step` is 1 at places where the entry is the lane's last of a step: the PE begins the next
    step when all its lanes have ended this one.
    """

    ops: tuple[Op, ...]
    ends_step: Number = ZERO


@dataclass(frozen=True)
class Loop:
    """Entries run `turns` times, all first slices `shift` further (modulo the slices) each time."""

    turns: Number
    shift: Number
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Once:
    """Entries run once, one after the other."""

    entries: tuple[Entry, ...]

    @property
    def turns(self) -> Number:
        """As many as a loop of one turn."""
        return ONE

    @property
    def shift(self) -> Number:
        """None."""
        return ZERO


NO_SLICES = Slices(count=ZERO)


def closing(color: str) -> Op:
    """What tears down the routers of a color and moves no element."""
    return Op(VECTOR, Action.COPY, color, NO_SLICES, Advance.TEARDOWN)


def once(*ops: Op) -> Once:
    """Operations one after the other."""
    return Once(tuple(Entry((op,)) for op in ops))


@dataclass(frozen=True)
class Lane:
    """Entries one after the other, beside those of the PE's other lanes."""

    name: str
    loops: tuple[Loop | Once, ...]

    @cached_property
    def table(self) -> tuple[Loop | Once, ...]:
        """The loops but those that only tear down routers."""
        return tuple(loop for loop in self.loops if not _closes(loop))

    @cached_property
    def tears_down(self) -> tuple[str, ...]:
        """The colors whose routers it tears down."""
        torn = (op.sends_on for op in self.ops if op.advance is Advance.TEARDOWN)
        return tuple(color for color in torn if color)

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        """All operations, each once, in order."""
        return tuple(op for loop in self.loops for entry in loop.entries for op in entry.ops)

    @cached_property
    def receives(self) -> tuple[str, ...]:
        """The colors it receives on, in the order in which they are first used."""
        return tuple(dict.fromkeys(op.receives_on for op in self.ops if op.receives_on))

    @cached_property
    def sends(self) -> tuple[str, ...]:
        """The colors it sends on, in the order in which they are first used."""
        return tuple(dict.fromkeys(op.sends_on for op in self.ops if op.sends_on))

    @property
    def receives_on(self) -> str | None:
        """The color of a lane with one input."""
        return self.receives[0] if self.receives else None

    @property
    def sends_on(self) -> str | None:
        """The color of a lane with one output."""
        return self.sends[0] if self.sends else None


def lanes_of(loops: tuple[Loop | Once, ...]) -> tuple[Lane, ...]:
    """The one lane of a PE in a phase of whole vectors; none of a PE that only lets others pass."""
    return (Lane(*WHOLE_LANES, loops),) if loops else ()


@dataclass(frozen=True)
class Role:
    """A PE class: what a set of PEs does in one phase, and its color settings.

    `about` says it in words for the emitted code ("combines 3 vectors, ...").
    """

    name: str
    about: str
    lanes: tuple[Lane, ...]
    colors: tuple[ColorUse, ...]

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        """The operations of all lanes."""
        return tuple(op for lane in self.lanes for op in lane.ops)

    @cached_property
    def repeated(self) -> tuple[tuple[Op, int], ...]:
        """Each operation of a phase of whole vectors, and how often it runs."""
        loops = (loop for lane in self.lanes for loop in lane.loops)
        return tuple(
            (op, loop.turns.offset) for loop in loops for entry in loop.entries for op in entry.ops
        )


def _closes(loop: Loop | Once) -> bool:
    ops = [op for entry in loop.entries for op in entry.ops]
    return bool(ops) and all(op.slices == NO_SLICES for op in ops)
