"""The types of a plan, from top to bottom: what every PE class does, and how its routers are set.

    ProgramPlan  plans of the collectives of a program, and the colors, queues and tasks they share
    Plan         one collective: its phases, and numbers for colors, queues, tasks and registers
    Phase        the PEs of rows, columns or a grid: roles, and regions of PEs that play them; how
                 vectors are cut; the lanes, by name, in the order in which queues are dealt out
    Role         a PE class: lanes that run beside each other, and its routers' settings by color
    Lane         entries one after the other, once or in loops whose slices go on
    Entry        operations that begin together; the next entry begins when all of them have ended
    Op           receive from a color or memory, combine, copy or relay, send to a color or memory
    Slices       the operand, of up to three dimensions: the first slice and how many, each a
                 formula of the PE's place on its line (`Number`), and in how many blocks each is
    ColorUse     a router's positions of a color, in the order in which they are taken; the
                 operation whose words have just passed says what moves it on (`Advance`)
    Region       a strided rectangle of PEs; so the size of a plan follows the pattern, not the grid

The other operand of a combination is always the same slices of the vector:

    receive   action    send      what it is
    color     combine   memory    `memory = memory + arriving`
    color     combine   color     the same, sent on instead of stored: receiving and sending overlap
    color     copy      memory    what arrives overwrites memory, or is staged
    color     relay     color     what arrives is sent on, memory is left alone
    memory    copy      color     slices are sent
    memory    combine   memory    a stage (or another buffer) is combined with the vector
    memory    copy      memory    it overwrites the vector

A chain of four PEs to the west is four roles of one lane and one operation each, on two colors:

    root  at 0      receive even, combine, memory       even: EAST -> RAMP
    link  at 1      receive odd, combine, send even     odd: EAST -> RAMP, even: RAMP -> WEST
    link  at 2      receive even, combine, send odd     even: EAST -> RAMP, odd: RAMP -> WEST
    leaf  at 3      memory, copy, send even             even: RAMP -> WEST

Trees, multicasts, step tables and streams are all that: nothing says which of them a phase is, and
`collc.plan.form` finds it out for who still has to know. Made by `collc.lowering`, judged by
`collc.checks`, read by `collc.cost` and `collc.emit`; where lines are, and who receives from whom,
`collc.plan.geometry` derives; `collc.plan.show` prints a plan and `collc.plan.read` reads it back.
Colors are symbolic (`columns_even`) until `Plan.colors` numbers them. In reading order: numbers,
regions, routers, operations, phases and plans, programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from enum import Enum
from functools import cached_property
from itertools import pairwise

from collc.base.diagnostics import Span
from collc.base.paths import Path
from collc.base.values import dataclass
from collc.spec import (
    Collective,
    ContractKind,
    ElementType,
    Operation,
    Order,
    OwnOperation,
    Program,
)
from collc.spec.exchange import Blocks, Slicing
from collc.target import Target

# Numbers of a PE class


@dataclass(frozen=True)
class Number:
    """A number that depends on the place p of a PE on its line.

        (slope * (p // divisor) + offset) % modulus + table[p // every % len(table)]

    without the remainder where `modulus` is 0, and without the entry where `table` is empty.
    """

    offset: int
    slope: int = 0
    divisor: int = 1
    modulus: int = 0
    every: int = 1
    table: tuple[int, ...] = ()

    def at(self, place: int) -> int:
        """Its value at a place."""
        index = place // self.divisor
        value = self.slope * index + self.offset
        value = value % self.modulus if self.modulus else value
        return value + (self.table[place // self.every % len(self.table)] if self.table else 0)

    @property
    def varies(self) -> bool:
        """Whether it may differ from place to place."""
        return bool(self.slope or self.table)


ZERO, ONE = Number(0), Number(1)


# Regions


@dataclass(frozen=True, order=True)
class Strided:
    """The coordinates first, first + step, ..., last (inclusive), the run repeated `repeats` times
    at a distance of `period`.

    step >= 1. A plain stride has `repeats` 1 and `period` 0. Otherwise period > last - first, so
    that c is a member iff, with d = c - first, d >= 0, d / period < repeats (rounded down),
    d % period <= last - first and (d % period) % step == 0. Groups of a two-phase tree need
    `repeats`.
    """

    first: int
    last: int
    step: int = 1
    period: int = 0
    repeats: int = 1

    @property
    def end(self) -> int:
        """The largest member."""
        return self.last + (self.repeats - 1) * self.period

    def __iter__(self) -> Iterator[int]:
        for turn in range(self.repeats):
            shift = turn * self.period
            yield from range(self.first + shift, self.last + shift + 1, self.step)

    def __len__(self) -> int:
        return ((self.last - self.first) // self.step + 1) * self.repeats

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int) or not self.first <= value <= self.end:
            return False
        distance = value - self.first
        within = distance % self.period if self.repeats > 1 else distance
        return within <= self.last - self.first and within % self.step == 0

    def shifted(self, distance: int) -> Strided:
        """Every coordinate `distance` further on."""
        first, last = self.first + distance, self.last + distance
        return Strided(first, last, self.step, self.period, self.repeats)

    def mirrored(self, extent: int) -> Strided:
        """The same coordinates counted from the other end of 0..extent - 1."""
        start = extent - 1 - self.end
        return Strided(start, start + self.last - self.first, self.step, self.period, self.repeats)


@dataclass(frozen=True, order=True)
class Region:
    """A strided rectangle of PEs."""

    x: Strided
    y: Strided

    def sides(self, axis: str) -> tuple[Strided, Strided]:
        """Its coordinates along an axis, and those across."""
        return (self.x, self.y) if axis == "x" else (self.y, self.x)

    def __contains__(self, pe: object) -> bool:
        return isinstance(pe, tuple) and pe[0] in self.x and pe[1] in self.y


# Routers


class Direction(Enum):
    """A link of a router, spelled as in CSL."""

    NORTH = "NORTH"
    EAST = "EAST"
    SOUTH = "SOUTH"
    WEST = "WEST"
    RAMP = "RAMP"

    @property
    def opposite(self) -> Direction:
        """The direction a wavelet sent this way arrives from."""
        return _OPPOSITE[self]

    @property
    def step(self) -> tuple[int, int]:
        """By how much x and y of a PE change that way."""
        return _STEP[self]


AHEAD = {"x": Direction.EAST, "y": Direction.SOUTH}  # to higher places of a line
_STEP = {
    Direction.NORTH: (0, -1),
    Direction.EAST: (1, 0),
    Direction.SOUTH: (0, 1),
    Direction.WEST: (-1, 0),
    Direction.RAMP: (0, 0),
}
_OPPOSITE = {
    Direction.NORTH: Direction.SOUTH,
    Direction.EAST: Direction.WEST,
    Direction.SOUTH: Direction.NORTH,
    Direction.WEST: Direction.EAST,
    Direction.RAMP: Direction.RAMP,
}


@dataclass(frozen=True)
class Route:
    """One router configuration of a color: from where, to where (sorted as in `Direction`)."""

    receive: Direction
    send: tuple[Direction, ...]


@dataclass(frozen=True)
class ColorUse:
    """A color at the routers of a role: its positions in the order they are taken.

    One position is a static route. Position k + 1 differs from position k in the receiving side
    or in the sending side; in both only where the target allows it. In a `ring` the first position
    follows the last one, and a router removes from the control wavelet the command that has moved
    it on (`pop_on_advance`).
    """

    color: str
    positions: tuple[Route, ...]
    ring: bool = False

    @property
    def turns_input(self) -> bool:
        """Whether the last position receives from another side than the first."""
        return self.positions[0].receive is not self.positions[-1].receive

    @property
    def turns_output(self) -> bool:
        """Whether the last position sends to other sides than the first."""
        return self.positions[0].send != self.positions[-1].send


class Advance(Enum):
    """What moves routers on behind a vector."""

    NOTHING = "nothing"
    OWN_ROUTER = "own_router"  # `.advance_switch`: the sender's own router takes the next position
    TURN = "turn"  # the same, by a control wavelet where the slices of a call have no element
    CONTROL = (
        "control"  # a control wavelet behind the vector: all from the own router to the receiver's
    )
    HAND_OVER = "hand_over"  # a control wavelet behind the vector: own router, then the next one
    RESET = "reset"  # a control wavelet behind the vector: all routers on the path, to the first
    TEARDOWN = "teardown"  # the same, but the routers are torn down for the next use of the color


# behind the own vector the own router takes the next position
OF_OWN_ROUTER = frozenset((Advance.OWN_ROUTER, Advance.TURN))
# those done by a control wavelet
BY_WAVELET = frozenset((Advance.CONTROL, Advance.HAND_OVER, Advance.RESET, Advance.TEARDOWN))


# Operations, lanes, roles


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

    With several `blocks` it is an operand of three dimensions: each of the slices stands for those
    at a distance of `period` as well, one in each block, which pass one behind the other before
    those of the next slice. `backward` turns the order of the slices then, but not that of the
    blocks and of the elements in a slice, so that no more than one of the strides is negative.
    """

    first: Number = ZERO
    count: Number = ONE
    backward: bool = False
    blocks: int = 1
    period: int = 0

    def at(self, place: int) -> range:
        """The slices of a place, in the first block."""
        first = self.first.at(place)
        return range(first, first + self.count.at(place))

    def number_at(self, place: int) -> int:
        """How many slices a place has in all blocks."""
        return self.count.at(place) * self.blocks

    def in_all_blocks(self, place: int) -> Iterator[range]:
        """The same block by block."""
        first = self.at(place)
        for block in range(self.blocks):
            yield range(first.start + block * self.period, first.stop + block * self.period)


WHOLE = Slices()


@dataclass(frozen=True)
class Filter:
    """A counter filter between a router and its PE's queue. Wavelets are counted in periods as long
    as the slices of `period`: in each, those of `before` are kept from the PE, the next ones, as
    many as `passes` has, reach it, and the others are kept from it. All go on to neighbours.

    One that is `in_memory` is none of the router's, of which a PE has few: the PE puts aside all
    that comes, and takes what passes from there."""

    period: Slices
    before: Slices
    passes: Slices
    in_memory: bool = False


@dataclass(frozen=True)
class Op:
    """One operation. Its extent is that of its slices, `vectors` times over. A relay has `elements`
    instead where it joins slices that are not adjacent: that many are passed on. `advance` says
    what moves routers on behind it, `filter` what of the arriving words the PE receives. If it
    `returns`, the PE receives what it sends as well, in an operation that ends later. `after` names
    a lane of the PE, whose operation of the same direction, from the fabric or to it, has to end
    first.

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
    def closes(self) -> bool:
        """Whether it tears down routers and moves no element."""
        return self.advance is Advance.TEARDOWN and self.slices.count == ZERO

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
    """Operations that begin together and end before the next entry begins: at each place at most
    one that uses the lane's input, and one that uses its output. Where places differ in what they
    do, an entry has an operation for each, and a place those of which it has slices.

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
    def has_loops(self) -> bool:
        """Whether entries run in loops."""
        return any(isinstance(loop, Loop) for loop in self.loops)

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
    return bool(ops) and all(op.closes for op in ops)


# Phases and plans


@dataclass(frozen=True)
class Detour:
    """How a color leads from a PE to another that is not next to it: the PEs whose routers it goes
    through, each next to the one before, with both ends."""

    color: str
    pes: tuple[tuple[int, int], ...]

    @property
    def routes(self) -> Iterator[tuple[tuple[int, int], Route]]:
        """What is set at each of the routers."""
        sides = [_side(*pair) for pair in pairwise(self.pes)]
        comes = [Direction.RAMP, *(side.opposite for side in sides)]
        for pe, receive, send in zip(self.pes, comes, [*sides, Direction.RAMP], strict=True):
            yield pe, Route(receive, (send,))


def _side(pe: tuple[int, int], other: tuple[int, int]) -> Direction:
    """On which side of a PE its neighbour is."""
    if pe[1] == other[1]:
        return Direction.EAST if other[0] > pe[0] else Direction.WEST
    return Direction.SOUTH if other[1] > pe[1] else Direction.NORTH


@dataclass(frozen=True)
class Phase:
    """One pattern of a collective: roles, and the regions of PEs that play them.

    Regions are disjoint and sorted; PEs in no region take no part. `name` is a CSL identifier
    ("columns", "row", "broadcast"); `axis` is "x", "y" or "xy": the coordinates a role depends on.
    `span` is the step of the program that it is for; phases whose PEs do the same are equal,
    whatever that is.
    Vectors are cut as `slicing` says, into one slice where they stay whole; with `blocks` those of
    a line's block are. `lanes` are the names of the lanes of all roles, in the order in which
    queues are dealt out. With a `path` all this is said of the row that the path is unfolded to: x
    is a place, WEST the way back to the place before, EAST the way on to the next (D29). Where an
    order is not contiguous, `detours` say where colors lead on the grid that go to a place that is
    no neighbour. If it is `paired`, 16-bit elements travel two to a wavelet (D75); if it is `wide`,
    an instruction takes two wavelets (D76).
    """

    name: str
    kind: ContractKind
    axis: str
    order: Order | None
    about: str
    roles: tuple[Role, ...]
    regions: tuple[tuple[Region, int], ...]
    slicing: Slicing
    span: Span = field(compare=False, repr=False)
    lanes: tuple[str, ...] = WHOLE_LANES
    blocks: Blocks | None = None
    path: Path | None = None
    detours: tuple[Detour, ...] = ()
    paired: bool = False
    wide: bool = False

    @cached_property
    def areas(self) -> int:
        """How many areas of a vector's length the stage has, as far as operations use it."""
        places = (
            place for role in self.roles for op in role.ops for place in (op.receive, op.send)
        )
        staged = (one.area for one in places if isinstance(one, Memory) and one.is_stage)
        return max(staged, default=-1) + 1

    @cached_property
    def in_blocks(self) -> bool:
        """Whether some operand has three dimensions: slices in several blocks."""
        return any(op.slices.blocks > 1 for role in self.roles for op in role.ops)

    @cached_property
    def combines(self) -> bool:
        """Whether any operation combines what it takes with the vector."""
        return any(op.action is Action.COMBINE for role in self.roles for op in role.ops)

    @cached_property
    def backward(self) -> bool:
        """Whether some elements pass from the last to the first."""
        return any(op.slices.backward for role in self.roles for op in role.ops)

    @property
    def whole(self) -> bool:
        """Whether vectors stay whole: PEs have one lane, on which they pass."""
        return self.lanes == WHOLE_LANES

    @cached_property
    def has_loops(self) -> bool:
        """Whether some PE goes through slices in loops; whole vectors it may take by loops, too."""
        lanes = (lane for role in self.roles for lane in role.lanes)
        return not self.whole and any(lane.has_loops for lane in lanes)

    def role_at(self, pe: tuple[int, int]) -> Role | None:
        """What a PE does; None where it has no part."""
        return next((self.roles[index] for region, index in self.regions if pe in region), None)

    @property
    def passes(self) -> bool:
        """Whether some PE combines several vectors in memory by one operation."""
        return any(op.stores and op.vectors > 1 for role in self.roles for op in role.ops)


@dataclass(frozen=True)
class Plan:
    """A collective ready to be emitted.

    `colors` numbers the symbolic colors. Queue numbers stand in the order of the phases: one input
    and one output queue for a phase of whole vectors, in which a PE receives on one color and sends
    on one, one of each for every lane of an exchange. Where there are not enough, two phases have
    the same numbers if no PE takes part in both (`collc.plan.slots`). `code_bytes` and `data_bytes`
    are estimates for the largest PE class. Tasks and DSRs are not numbered here: what takes one is
    an operation of the text, and the library deals them out (`collc.emit.numbers`).

    A plan may ask for more than the target has; `collc.checks` refuses it then.
    """

    target: Target
    collective: Collective
    phases: tuple[Phase, ...]
    colors: tuple[tuple[str, int], ...]
    input_queues: tuple[int, ...]
    output_queues: tuple[int, ...]
    code_bytes: int
    data_bytes: int

    @property
    def color_limit(self) -> int:
        """How many colors it may use: the collective's own limit, at most the target's."""
        own, available = self.collective.limits.colors, len(self.target.colors)
        return available if own is None else min(own, available)

    @property
    def element(self) -> ElementType:
        """Element type of the buffer."""
        return self.collective.contract.element

    @property
    def operation(self) -> Operation | OwnOperation | None:
        """The reduction, None for a broadcast."""
        return self.collective.contract.operation


# Programs


@dataclass(frozen=True)
class SharedColor:
    """A color of a program, with the input and the output `queues` that every PE receives it and
    sends it through; None where these are those of lanes, which the plans have.

    `torn_down` says whether its routers change between uses.
    """

    number: int
    queues: tuple[int, int] | None
    torn_down: bool


def ends_torn_down(program: Program) -> bool:
    """Whether a PE's part of a phase is complete when the colors that its router has in it are torn
    down: where a root is the call's, every call sets them anew, so none could begin before."""
    return bool(program.rooted)


@dataclass(frozen=True)
class Use:
    """A phase as the program sees it: whose it is, and the position of each symbolic color it uses
    in `ProgramPlan.colors`."""

    collective: int
    phase: int
    positions: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ProgramPlan:
    """Plans of the collectives, in order of first calls, whose colors are numbered together.

    `uses` are all phases, collective by collective; `calls` are indices of collectives. Where
    phases have colors in turn, the queues are those of `colors`, and not the plans'. `code_bytes`
    and `data_bytes` are estimates for the largest PE class.
    Where calls are in flight at the same time, `call_streams` are programs whose calls may be so,
    each with calls of its own one after the other, and with numbers that no other call stream has;
    the plan is all of them put together.
    """

    target: Target
    program: Program
    plans: tuple[Plan, ...]
    uses: tuple[Use, ...]
    colors: tuple[SharedColor, ...]
    code_bytes: int
    data_bytes: int
    call_streams: tuple[ProgramPlan, ...] = ()

    @property
    def in_turn(self) -> bool:
        """Whether phases have colors, with their queues, in turn."""
        return any(color.queues for color in self.colors)

    @property
    def color_numbers(self) -> tuple[int, ...]:
        """The colors that the program uses."""
        return tuple(color.number for color in self.colors)

    @property
    def queues(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The input and the output queues that the program uses, with repetitions."""
        if self.in_turn:
            both = [color.queues for color in self.colors if color.queues]
            return tuple(into for into, _ in both), tuple(out for _, out in both)
        inputs = (queue for plan in self.plans for queue in plan.input_queues)
        return tuple(inputs), tuple(q for plan in self.plans for q in plan.output_queues)

    def fits(self, most: int) -> bool:
        """Whether it uses only numbers that the target has, and few enough colors."""
        target, (inputs, outputs) = self.target, self.queues
        return (
            len(self.colors) <= most
            and set(self.color_numbers) <= set(target.colors)
            and set(inputs) <= set(target.input_queues)
            and set(outputs) <= set(target.output_queues)
        )

    @property
    def ends_torn_down(self) -> bool:
        """Whether phases end with their teardowns."""
        return ends_torn_down(self.program)

    @cached_property
    def calls(self) -> tuple[int, ...]:
        """The collectives of a round, in order; of a choice by length the one for the longest, by
        root the one that starts at the first rank."""
        most = {one.name: one.length.most for one in self.program.selections}
        return tuple(self.index_of(name, most.get(name, 0)) for name in self.program.calls)

    def index_of(self, call: str, length: int) -> int:
        """The collective that a call runs, for vectors of a length."""
        chosen = {one.name: one for one in self.program.selections}
        rooted = {one.name: one.names[0] for one in self.program.rooted}
        name = chosen[call].chosen(length) if call in chosen else rooted.get(call, call)
        return self.index_of_collective(name)

    def index_of_collective(self, name: str) -> int:
        """The collective of this name."""
        return next(i for i, plan in enumerate(self.plans) if plan.collective.name == name)

    def phase(self, use: Use) -> Phase:
        """The phase of a use."""
        return self.plans[use.collective].phases[use.phase]

    def uses_of(self, collective: int) -> Iterator[tuple[int, Use]]:
        """The uses of one collective, in order, each with its index."""
        return ((i, use) for i, use in enumerate(self.uses) if use.collective == collective)

    def positions_of(self, collective: int) -> dict[str, int]:
        """The position of each color of a collective. A phase may send on one of another phase, as
        the root of a one-word collective does."""
        return {name: at for _, use in self.uses_of(collective) for name, at in use.positions}

    def label(self, use: Use) -> str:
        """How messages name a use: `largest.columns`."""
        return f"{self.plans[use.collective].collective.name}.{self.phase(use).name}"
