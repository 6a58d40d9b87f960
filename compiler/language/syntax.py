"""What a `.coll` file says, before any name is looked up: one frozen class per construct.

Values here compare by identity (`eq=False`): a hostile file may nest them thousands deep.
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.base.diagnostics import Span


@dataclass(frozen=True)
class Word:
    """A word of the source, with its place."""

    text: str
    span: Span


@dataclass(frozen=True, eq=False)
class Number:
    """A whole number; one too long for 64 bits is kept as 10**19."""

    value: int
    span: Span


@dataclass(frozen=True, eq=False)
class Fraction:
    """A number with a point; only expectations may have one."""

    value: float
    span: Span


@dataclass(frozen=True, eq=False)
class Name:
    """A name standing for a number or for a tree without parameters."""

    text: str
    span: Span


@dataclass(frozen=True, eq=False)
class Negative:
    """`-operand`."""

    operand: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class Not:
    """`not operand`."""

    operand: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """`left + right`; the operator is one of + - * div mod."""

    operator: str
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class Logic:
    """`left and right`, `left or right`."""

    operator: str
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class Comparison:
    """`1 <= P <= 750`: one operand more than relations."""

    operands: tuple[Expression, ...]
    relations: tuple[str, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class Conditional:
    """`condition ? chosen : otherwise`."""

    condition: Expression
    chosen: Expression
    otherwise: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class Argument:
    """`S = 4` or, with `name` None, `4`."""

    name: Word | None
    value: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class Call:
    """`isqrt(P)`, `join(a, b)`, `two_phase(n - g, S)`."""

    name: Word
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class Node:
    """A rank written by hand, with the ranks it receives from, in order of receipt."""

    rank: int
    children: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class Literal:
    """A tree written by hand: `0 <- [1 <- [2, 3], 4]`."""

    root: Node
    span: Span


Expression = (
    Number
    | Fraction
    | Name
    | Negative
    | Not
    | Arithmetic
    | Logic
    | Comparison
    | Conditional
    | Call
    | Literal
)


@dataclass(frozen=True, eq=False)
class NeedsDecl:
    """`requires collc >= 0.2`."""

    tool: Word
    relation: str
    version: Word
    span: Span


@dataclass(frozen=True, eq=False)
class ImportDecl:
    """`import "trees.coll"`."""

    file: Word
    span: Span


@dataclass(frozen=True, eq=False)
class TargetDecl:
    """`target wse2`."""

    name: Word
    span: Span


@dataclass(frozen=True, eq=False)
class ParamDecl:
    """`param P = 64 where 1 <= P <= 750`."""

    name: Word
    default: Expression | None
    condition: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class GridDecl:
    """`grid row = P x 1`."""

    name: Word
    width: Expression
    by: Word
    height: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class ExtentDecl:
    """`0 .. W - 1` of a part of a grid, or one column or row: then `last` is None."""

    first: Expression
    last: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class PartDecl:
    """`grid last = pes[W - 1, 0 .. H - 1]`: columns and rows of another grid."""

    name: Word
    of: Word
    columns: ExtentDecl
    rows: ExtentDecl
    span: Span


@dataclass(frozen=True, eq=False)
class LocalDecl:
    """`where h = pow2_below(n)`: a number with a name, seen by the body and the locals after it.

    With `parameters`, `next(r) = (r + 1) mod n`, it is a function; only algorithms have them.
    """

    name: Word
    parameters: tuple[Word, ...] | None
    value: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class TreeDecl:
    """`tree chain(n) = ... where ...`."""

    name: Word
    parameters: tuple[Word, ...]
    body: Expression
    locals: tuple[LocalDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class FormulaDecl:
    """`: i -> (i mod W, y) where y = i div W`: the PE of rank i."""

    rank: Word
    arrow: Word
    pe: PeDecl
    locals: tuple[LocalDecl, ...]


@dataclass(frozen=True, eq=False)
class OrderDecl:
    """`order snake(W, H) : i -> ...` or `order round = [(0, 0), (1, 0), (1, 1), (0, 1)]`."""

    name: Word
    parameters: tuple[Word, ...]
    pes: FormulaDecl | tuple[PeDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class RangeDecl:
    """`s in 0 .. n - 2`: all numbers from the first to the last; none if the last is less."""

    name: Word
    first: Expression
    last: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class SlicesDecl:
    """`slice E`, or `slices E .. F`; `last` is None for one slice."""

    first: Expression
    last: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class EachDecl:
    """`each r where COND : slice E  r => F as slice G`; `sent` None is the whole vector.

    `each r, q : ...` has a transfer for every pair of ranks; `other` is the second one.
    """

    rank: Word
    other: Word | None
    condition: Expression | None
    sent: SlicesDecl | None
    source: Word
    combines: bool
    destination: Expression
    into: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class StepDecl:
    """`step s in 0 .. n - 2 where d = pow2(s) { ... }`: transfers that do not wait for each other,
    once for every number of the range, or once."""

    range: RangeDecl | None
    locals: tuple[LocalDecl, ...]
    transfers: tuple[EachDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class LoopDecl:
    """`for i in 0 .. k { steps }`."""

    range: RangeDecl
    locals: tuple[LocalDecl, ...]
    actions: tuple[Action, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class IncludeDecl:
    """`run binomial_scatter(n)` within an algorithm: the steps of another one."""

    name: Word
    arguments: tuple[Argument, ...]
    span: Span


Action = StepDecl | LoopDecl | IncludeDecl


@dataclass(frozen=True, eq=False)
class AlgorithmDecl:
    """`algorithm ring(n) slices n requires n > 1 where ... { steps }`; without `slices`, a vector
    is one slice."""

    name: Word
    parameters: tuple[Word, ...]
    slices: Expression | None
    condition: Expression | None
    locals: tuple[LocalDecl, ...]
    actions: tuple[Action, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class OperationDecl:
    """`operation farther(a, b: i32) commutative = a * a < b * b ? b : a where ...`."""

    name: Word
    own: Word
    received: Word
    element: Word
    commutative: bool
    assumed: Word | None
    body: Expression
    locals: tuple[LocalDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class HeldDecl:
    """`after each r, q where q <= r : r has slice E of q as slice F`; `part` None is all of it.

    `when` is `before` or `after`, `holder` the rank again, `has` and `of` are those words.
    """

    when: Word
    rank: Word
    other: Word | None
    condition: Expression | None
    holder: Word
    has: Word
    part: SlicesDecl | None
    of: Word | None
    whose: Expression
    into: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class OwnContractDecl:
    """`contract sums(n, G) slices 1 requires n mod G == 0 where ... { what ranks have }`."""

    name: Word
    parameters: tuple[Word, ...]
    slices: Expression | None
    condition: Expression | None
    locals: tuple[LocalDecl, ...]
    held: tuple[HeldDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class RunLengthDecl:
    """`n <= B` with a number for B: a length of the run, at least `least`."""

    name: Word
    most: int
    span: Span
    least: int = 1


@dataclass(frozen=True, eq=False)
class BufferDecl:
    """`x: f32[B], add`: what a contract is about. In an alternative of a choice by length
    `run_length` is that choice's, and `length` the most that the alternative is for."""

    name: Word
    element: Word
    length: Expression
    operation: Word | None
    run_length: RunLengthDecl | None = None


@dataclass(frozen=True, eq=False)
class ContractDecl:
    """`allreduce(x: f32[B], add)`; a barrier has no buffer. A contract of one's own may be given
    numbers: `sums(x: f32[B], add, G = 4)`."""

    kind: Word
    buffer: BufferDecl | None
    span: Span
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, eq=False)
class OrderClause:
    """`order north_to_south, west_to_east` or `order spiral(S = 3)`."""

    uses: tuple[TreeUse, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class PeDecl:
    """`(x, y)`, a PE of the grid."""

    x: Expression
    y: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class TreeUse:
    """`two_phase(S = 4)`: a tree or algorithm by name, its first parameter left to the line it is
    used on; or an order, whose first two are left to the grid."""

    name: Word
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class ReduceClause:
    """`reduce columns by chain, star to 3`: a tree for each side of the root, or one for both;
    `then` says whether the word stood before it."""

    lines: Word | None
    tree: TreeUse
    upper: TreeUse | None
    to: PeDecl | Expression | None
    then: bool
    span: Span


@dataclass(frozen=True, eq=False)
class BroadcastClause:
    """`broadcast from 0`."""

    root: PeDecl | Expression
    then: bool
    span: Span


@dataclass(frozen=True, eq=False)
class RunClause:
    """`run rows by ring_allreduce in simd`; `root` is the place behind `from` or `to`, `taken` the
    word behind `in`."""

    lines: Word | None
    algorithm: TreeUse
    root: PeDecl | Expression | None
    then: bool
    span: Span
    taken: Word | None = None


@dataclass(frozen=True, eq=False)
class WithinClause:
    """`within colors <= 3`."""

    quantity: Word
    most: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class ReservationDecl:
    """`colors 0 .. 3`; `last` is None for one number."""

    resource: Word
    first: Expression
    last: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class ReserveClause:
    """`reserve colors 0 .. 3, tasks 10`: what the program around the collective uses."""

    reservations: tuple[ReservationDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class ExpectClause:
    """`expect cycles <= 1.4 * bound`."""

    quantity: Word
    relation: str
    value: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class AlternativeDecl:
    """`n <= 8: reduce star to 0`; of `else: ...` `name` and `most` are None."""

    name: Word | None
    most: Expression | None
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class SelectClause:
    """`select by n { n <= 8: reduce star to 0  else: reduce chain to 0 }`."""

    name: Word
    alternatives: tuple[AlternativeDecl, ...]
    span: Span


Clause = (
    OrderClause
    | ReduceClause
    | BroadcastClause
    | RunClause
    | WithinClause
    | ReserveClause
    | ExpectClause
    | SelectClause
)


@dataclass(frozen=True, eq=False)
class PlaceDecl:
    """`on pes`, or `on each row of pes`: then `lines` is `row`, and `of` is `of`."""

    lines: Word | None
    of: Word | None
    grid: Word
    span: Span


@dataclass(frozen=True, eq=False)
class CollectiveDecl:
    """`collective total = contract on grid { clauses }`."""

    name: Word
    contract: ContractDecl
    place: PlaceDecl
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class TogetherDecl:
    """`rows and columns`: calls that are in flight at the same time."""

    names: tuple[Word, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class RepeatDecl:
    """`repeat 100 { largest spread }`."""

    rounds: Expression
    names: tuple[Word | TogetherDecl, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class ReconfigureClause:
    """`reconfigure teardown`."""

    way: Word
    span: Span


ProgramItem = Word | TogetherDecl | RepeatDecl | WithinClause | ReserveClause | ReconfigureClause


@dataclass(frozen=True, eq=False)
class ProgramDecl:
    """`program { total }`; what stands in it, in order."""

    items: tuple[ProgramItem, ...]
    span: Span


Declaration = (
    NeedsDecl
    | ImportDecl
    | TargetDecl
    | ParamDecl
    | GridDecl
    | PartDecl
    | OrderDecl
    | TreeDecl
    | AlgorithmDecl
    | OperationDecl
    | OwnContractDecl
    | CollectiveDecl
    | ProgramDecl
)
