"""The Spec: a `.coll` file with its parameters bound and its trees unfolded.

Made by `collc.language`, read by `collc.schedule`. Every value is frozen, has its ranges checked
and its names resolved; spans point into the source for later messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from collc.diagnostics import Span
from collc.formula import Formula
from collc.grids import Grid
from collc.paths import Path
from collc.steps import Moves


class ElementType(Enum):
    """Element types of a buffer, spelled as in CSL."""

    F32 = "f32"
    F16 = "f16"
    I32 = "i32"
    U32 = "u32"
    I16 = "i16"
    U16 = "u16"

    @property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return 4 if self.value.endswith("32") else 2


class Operation(Enum):
    """Reduction operations of the language; all are associative and commutative up to rounding."""

    ADD = "add"
    MAX = "max"
    MIN = "min"
    MUL = "mul"
    AND = "and"
    OR = "or"
    XOR = "xor"

    @property
    def commutative(self) -> bool:
        """Whether operands may be taken out of rank order."""
        return True

    @property
    def bitwise(self) -> bool:
        """Whether it combines the binary digits of integers."""
        return self in (Operation.AND, Operation.OR, Operation.XOR)

    def combines(self, element: ElementType) -> bool:
        """Whether elements of this type can be combined."""
        return not self.bitwise or element not in (ElementType.F32, ElementType.F16)


@dataclass(frozen=True)
class OwnOperation:
    """An operation of the user's own, on elements of one type. That it is associative, and that it
    is commutative if it is so called, is the user's word.

    `operands` are the names of the own and of the received element, `value` that of the operation.
    """

    value: str
    operands: tuple[str, str]
    element: ElementType
    commutative: bool
    formula: Formula
    span: Span


class ContractKind(Enum):
    """What a collective promises."""

    BROADCAST = "broadcast"
    REDUCE = "reduce"
    ALLREDUCE = "allreduce"
    SCATTER = "scatter"
    GATHER = "gather"
    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"
    BARRIER = "barrier"

    @property
    def reduces(self) -> bool:
        """Whether it combines vectors, and so has an operation."""
        return self in (ContractKind.REDUCE, ContractKind.ALLREDUCE, ContractKind.REDUCE_SCATTER)

    @property
    def by_slices(self) -> bool:
        """Whether slice r of a vector belongs to rank r."""
        return self in _BY_SLICES


_BY_SLICES = frozenset(
    (
        ContractKind.SCATTER,
        ContractKind.GATHER,
        ContractKind.ALLGATHER,
        ContractKind.REDUCE_SCATTER,
        ContractKind.ALL_TO_ALL,
    )
)


class Order(Enum):
    """How ranks are laid along a line: rank 0 is at the side named first."""

    WEST_TO_EAST = "west_to_east"
    EAST_TO_WEST = "east_to_west"
    NORTH_TO_SOUTH = "north_to_south"
    SOUTH_TO_NORTH = "south_to_north"


@dataclass(frozen=True)
class RunLength:
    """`n <= B`: a length that is given when the program runs, by this name. The buffer holds `most`
    elements; what is said here is for `least` to `longest` of them."""

    name: str
    most: int
    span: Span
    least: int
    longest: int


@dataclass(frozen=True)
class Contract:
    """`allreduce(x: f32[256], add)`; `operation` is None where nothing is combined.

    A barrier has no buffer: no name, a length of 0. With a `run_length` vectors have up to `length`
    elements.
    """

    kind: ContractKind
    buffer: str
    element: ElementType
    length: int
    operation: Operation | OwnOperation | None
    span: Span
    run_length: RunLength | None = None

    @property
    def held(self) -> int:
        """Elements of the buffer."""
        return self.run_length.most if self.run_length else self.length


@dataclass(frozen=True)
class Tree:
    """A tree of ranks: `children[r]` lists r's children in order of receipt; the root is rank 0.

    `text` is how the source names it (`two_phase(S = 4)`). The language has checked that every
    rank 0..n-1 occurs exactly once and that the numbering is pre-order. Of a tree that the
    compiler is to choose, `candidates` are those it chooses from, this one among them.
    """

    text: str
    children: tuple[tuple[int, ...], ...]
    span: Span
    candidates: tuple[Tree, ...] = ()


@dataclass(frozen=True)
class ReduceStep:
    """Reduce every line of one axis to one rank by a tree, or by two that meet there.

    On a W x 1 or 1 x H grid there is one line. On a wider grid "columns" reduces every column,
    and "row" the one row that holds the results of the columns before. Ranks run in `order`.
    `tree` is that of the root's own side, the root included; if the root is within the line, that
    is the smaller side, of two equal ones that of the lower ranks, and `far` is the tree of the
    other side, without the root, whose own root comes next to it.
    """

    order: Order
    tree: Tree
    span: Span
    root: int = 0
    far: Tree | None = None


@dataclass(frozen=True)
class BroadcastStep:
    """Multicast from PE (x, y) to the whole grid."""

    x: int
    y: int
    span: Span


@dataclass(frozen=True, eq=False)
class Algorithm:
    """An algorithm on a line of `ranks` ranks whose vectors are cut into `slices` slices.

    `text` is how the source names it (`butterfly(G = 3)`). The language has checked that ranks and
    slices exist and that no rank sends to itself; no step is empty.
    """

    text: str
    ranks: int
    slices: int
    steps: tuple[Moves, ...]
    span: Span


@dataclass(frozen=True)
class RunStep:
    """An algorithm run along lines of one axis, "x" or "y".

    `order` is a word of the language, `places[r]` is where it puts rank r on a line. `lines` are
    the coordinates, on the other axis, of the first and the last line. If it is `wide`, an
    instruction takes two wavelets of the fabric.
    """

    axis: str
    order: str
    places: tuple[int, ...]
    lines: tuple[int, int]
    algorithm: Algorithm
    span: Span
    wide: bool = False


Step = ReduceStep | BroadcastStep | RunStep


@dataclass(frozen=True)
class Reserved:
    """Numbers that the program around a collective, or around several, uses, in rising order; none
    is for a collective. `clauses` are the places that say so."""

    colors: tuple[int, ...] = ()
    input_queues: tuple[int, ...] = ()
    output_queues: tuple[int, ...] = ()
    tasks: tuple[int, ...] = ()
    dsrs: tuple[int, ...] = ()
    clauses: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Limits:
    """What the collective may use; None is the target's own limit."""

    colors: int | None
    colors_span: Span | None
    reserved: Reserved = Reserved()


@dataclass(frozen=True)
class Expectation:
    """`expect cycles <= 1.4 * bound`: predicted `quantity` ("cycles", "colors", "memory_bytes")
    compared with `factor * bound` if `times_bound`, else with `factor`."""

    quantity: str
    relation: str
    factor: float
    times_bound: bool
    text: str
    span: Span


@dataclass(frozen=True)
class Gap:
    """A number that a program leaves to the compiler: "root" of a line of so many ranks, or the
    `name` of a parameter of a "tree" or an "algorithm" there."""

    what: str
    name: str
    ranks: int


@dataclass(frozen=True, eq=False)
class Undecided:
    """What a collective leaves to the compiler, and how to say it in full.

    It is everything (`run auto`) or the numbers of `gaps`. `extents` are the numbers of ranks
    along the lines of its grid, of a path or a single line one number; `ordered` says whether
    an order of the ranks is given, `root` where it has to start or end, if that is said. `fill`
    takes a number for each gap, `write` all steps as text; both give the collective in full
    and raise `CollcError`.
    """

    gaps: tuple[Gap, ...]
    extents: tuple[int, ...]
    ordered: bool
    root: tuple[int, int] | None
    fill: Callable[[tuple[int, ...]], Collective]
    write: Callable[[str], Collective]
    span: Span


@dataclass(frozen=True)
class Considered:
    """A way to carry out a collective. It takes `at_least` so many cycles; `cycles`, `colors` and
    `memory_bytes` are None where that, or a refusal, was reason enough to look no further.
    `terms` says where the cycles go, and sums up to them."""

    text: str
    at_least: int
    cycles: int | None
    colors: int | None
    memory_bytes: int | None
    refused: str
    terms: tuple[tuple[str, int], ...]

    @property
    def term(self) -> str:
        """What most of the cycles go into."""
        return max(self.terms, key=lambda term: term[1])[0] if self.terms else ""


@dataclass(frozen=True)
class Decision:
    """What was chosen for a collective, and what lost: first what was predicted, the fastest
    first, then what was ruled out."""

    chosen: Considered
    lost: tuple[Considered, ...]

    @property
    def runner_up(self) -> Considered | None:
        """The next best that was predicted."""
        return next((other for other in self.lost if other.cycles is not None), None)


@dataclass(frozen=True)
class Collective:
    """One collective: contract, grid, steps in order, limits, expectations.

    As long as it is `undecided` it has no steps; `decision` is how it came to them. `root` is the
    PE that a rooted contract starts from or ends at. None: reductions end at rank 0 and a broadcast
    step says where it starts. `path` is the order of all PEs that its other steps go along; None:
    they go along rows and columns.
    """

    name: str
    contract: Contract
    grid: Grid
    steps: tuple[Step, ...]
    limits: Limits
    expectations: tuple[Expectation, ...]
    span: Span
    root: tuple[int, int] | None = None
    path: Path | None = None
    undecided: Undecided | None = None
    decision: Decision | None = None

    @property
    def lined(self) -> Grid:
        """The grid whose rows and columns its steps go along: with a path a row, the path's."""
        if self.path is None:
            return self.grid
        return replace(self.grid, width=len(self.path), height=1)


@dataclass(frozen=True)
class Parameter:
    """A parameter and the value it got."""

    name: str
    value: int
    span: Span


@dataclass(frozen=True)
class Selection:
    """A collective with a length that is given when the program runs: `select by n { ... }`, or one
    way for all lengths.

    `names` are those of its alternatives, each a collective of the Spec, for short vectors first.
    Alternative i is for lengths up to `limits[i]`, the last one for all that are left; None is a
    limit that is left to the compiler. `fill` gives an alternative, by its index, for vectors of at
    least and at most so many elements; it raises `CollcError`.
    """

    name: str
    length: RunLength
    names: tuple[str, ...]
    limits: tuple[int | None, ...]
    span: Span
    fill: Callable[[int, int, int], Collective] = field(compare=False, repr=False)

    def chosen(self, length: int) -> str:
        """The alternative for a length; all limits are known."""
        below = sum(limit is not None and limit < length for limit in self.limits)
        return self.names[below]

    def lengths(self, index: int) -> tuple[int, int]:
        """The first and the last length of an alternative; all limits are known."""
        limits = [0, *(limit or 0 for limit in self.limits), self.length.most]
        return limits[index] + 1, limits[index + 1]


class Reconfigure(Enum):
    """How a color gets from one use of a program to the next, spelled as in the language."""

    AUTO = "auto"  # what costs least: a color for each use where there are enough of them
    TEARDOWN = "teardown"  # colors are torn down behind every use


@dataclass(frozen=True)
class Program:
    """What a program of several calls runs: `rounds` times the collectives of `calls`, by name;
    those of `selections` stand for their alternatives.

    `colors` is the most that all of them may use together; None is the target's own limit.
    `reserved` is what the program around them uses. The calls whose indices are in `together` are
    in flight at the same time as the one before them.
    """

    calls: tuple[str, ...]
    rounds: int
    colors: int | None
    colors_span: Span | None
    reconfigure: Reconfigure
    span: Span
    reserved: Reserved = Reserved()
    selections: tuple[Selection, ...] = ()
    together: tuple[int, ...] = ()

    @property
    def lengths(self) -> tuple[tuple[str, int], ...]:
        """The lengths that are given when the program runs, each with the most that it can be."""
        most: dict[str, int] = {}
        for one in self.selections:
            given = one.length
            most[given.name] = min(given.most, most.get(given.name, given.most))
        return tuple(sorted(most.items()))

    @property
    def turns(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the calls, those together that are in flight at the same time."""
        turns: list[tuple[int, ...]] = []
        for call in range(len(self.calls)):
            with_last = (*turns.pop(), call) if call in self.together else (call,)
            turns.append(with_last)
        return tuple(turns)


@dataclass(frozen=True)
class Spec:
    """A whole file: target name ("wse2" or "wse3"), parameters, the collectives it runs in order of
    their first calls. `program` is None where that is one collective, called once.
    """

    file: str
    target: str
    parameters: tuple[Parameter, ...]
    collectives: tuple[Collective, ...]
    program: Program | None = None
