"""What a `.coll` file says, before any name is looked up: one frozen class per construct.

Values here compare by identity (`eq=False`): a hostile file may nest them thousands deep.
Expressions come first, then declarations and what is in them, then collectives and programs; at the
end, how to walk through them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from functools import cache
from typing import TypeVar, cast, get_args

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.spec.contract import RunLength

# Expressions as they are written: numbers, names, calls, conditions.


@dataclass(frozen=True, eq=False)
class Syntax:
    """What is said somewhere in a file."""

    span: Span = field(kw_only=True)


@dataclass(frozen=True)
class Word:
    """A word of the source, with its place."""

    text: str
    span: Span


@dataclass(frozen=True, eq=False)
class Number(Syntax):
    """A whole number; one too long for 64 bits is kept as 10**19."""

    value: int


@dataclass(frozen=True, eq=False)
class Fraction(Syntax):
    """A number with a point; only expectations may have one."""

    value: float


@dataclass(frozen=True, eq=False)
class Name(Syntax):
    """A name standing for a number or for a tree without parameters."""

    text: str


@dataclass(frozen=True, eq=False)
class Negative(Syntax):
    """`-operand`."""

    operand: Expression


@dataclass(frozen=True, eq=False)
class Not(Syntax):
    """`not operand`."""

    operand: Expression


@dataclass(frozen=True, eq=False)
class Arithmetic(Syntax):
    """`left + right`; the operator is one of + - * div mod."""

    left: Expression
    operator: str
    right: Expression


@dataclass(frozen=True, eq=False)
class Logic(Syntax):
    """`left and right`, `left or right`."""

    left: Expression
    operator: str
    right: Expression


@dataclass(frozen=True, eq=False)
class Comparison(Syntax):
    """`1 <= P <= 750`: one operand more than relations."""

    operands: tuple[Expression, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Conditional(Syntax):
    """`condition ? chosen : otherwise`."""

    condition: Expression
    chosen: Expression
    otherwise: Expression


@dataclass(frozen=True, eq=False)
class Argument(Syntax):
    """`S = 4` or, with `name` None, `4`."""

    name: Word | None
    value: Expression


@dataclass(frozen=True, eq=False)
class Call(Syntax):
    """`isqrt(P)`, `join(a, b)`, `two_phase(n - g, S)`."""

    name: Word
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, eq=False)
class Node(Syntax):
    """A rank written by hand, with the ranks it receives from, in order of receipt."""

    rank: int
    children: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Literal(Syntax):
    """A tree written by hand: `0 <- [1 <- [2, 3], 4]`."""

    root: Node


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


# What is declared outside of collectives: parameters, grids, trees, algorithms, contracts.


@dataclass(frozen=True, eq=False)
class ImportDecl(Syntax):
    """`import "trees.coll"`."""

    file: Word


@dataclass(frozen=True, eq=False)
class TargetDecl(Syntax):
    """`target wse2`."""

    name: Word


@dataclass(frozen=True, eq=False)
class ParamDecl(Syntax):
    """`param P = 64 where 1 <= P <= 750`."""

    name: Word
    default: Expression | None
    condition: Expression | None


@dataclass(frozen=True, eq=False)
class GridDecl(Syntax):
    """`grid row = P x 1`."""

    name: Word
    width: Expression
    by: Word
    height: Expression


@dataclass(frozen=True, eq=False)
class ExtentDecl(Syntax):
    """`0 .. W - 1` of a part of a grid, or one column or row: then `last` is None."""

    first: Expression
    last: Expression | None


@dataclass(frozen=True, eq=False)
class PartDecl(Syntax):
    """`grid last = pes[W - 1, 0 .. H - 1]`: columns and rows of another grid."""

    name: Word
    of: Word
    columns: ExtentDecl
    rows: ExtentDecl


@dataclass(frozen=True, eq=False)
class LocalDecl(Syntax):
    """`where h = pow2_below(n)`: a number with a name, seen by the body and the locals after it.

    With `parameters`, `next(r) = (r + 1) mod n`, it is a function; only algorithms have them.
    """

    name: Word
    parameters: tuple[Word, ...] | None
    value: Expression


@dataclass(frozen=True, eq=False)
class TreeDecl(Syntax):
    """`tree two_phase(n, S) requires S >= 1 = ... where ...`."""

    name: Word
    parameters: tuple[Word, ...]
    condition: Expression | None
    body: Expression
    locals: tuple[LocalDecl, ...]


@dataclass(frozen=True, eq=False)
class FormulaDecl(Syntax):
    """`: i -> (i mod W, y) where y = i div W`: the PE of rank i."""

    rank: Word
    arrow: Word
    pe: PeDecl
    locals: tuple[LocalDecl, ...]


@dataclass(frozen=True, eq=False)
class OrderDecl(Syntax):
    """`order snake(W, H) : i -> ...` or `order round = [(0, 0), (1, 0), (1, 1), (0, 1)]`."""

    name: Word
    parameters: tuple[Word, ...]
    pes: FormulaDecl | tuple[PeDecl, ...]


@dataclass(frozen=True, eq=False)
class RangeDecl(Syntax):
    """`s in 0 .. n - 2`: all numbers from the first to the last; none if the last is less."""

    name: Word
    first: Expression
    last: Expression


@dataclass(frozen=True, eq=False)
class SlicesDecl(Syntax):
    """`slice E`, or `slices E .. F`; `last` is None for one slice."""

    first: Expression
    last: Expression | None


@dataclass(frozen=True, eq=False)
class EachDecl(Syntax):
    """`each r where COND : slice E  r => F as slice G`; `sent` None is the whole vector.

    `each r, q : ...` has a transfer for every pair of ranks; `other` is the second one.
    """

    rank: Word
    other: Word | None
    condition: Expression | None
    sent: SlicesDecl | None
    source: Word
    arrow: str
    destination: Expression
    into: Expression | None

    @property
    def combines(self) -> bool:
        """Whether the receiver combines what it gets with its own."""
        return self.arrow == "=>"


@dataclass(frozen=True, eq=False)
class StepDecl(Syntax):
    """`step s in 0 .. n - 2 where d = pow2(s) { ... }`: transfers that do not wait for each other,
    once for every number of the range, or once."""

    range: RangeDecl | None
    locals: tuple[LocalDecl, ...]
    transfers: tuple[EachDecl, ...]


@dataclass(frozen=True, eq=False)
class LoopDecl(Syntax):
    """`for i in 0 .. k { steps }`."""

    range: RangeDecl
    locals: tuple[LocalDecl, ...]
    actions: tuple[Action, ...]


@dataclass(frozen=True, eq=False)
class IncludeDecl(Syntax):
    """`run binomial_scatter(n)` within an algorithm: the steps of another one."""

    name: Word
    arguments: tuple[Argument, ...]


Action = StepDecl | LoopDecl | IncludeDecl


@dataclass(frozen=True, eq=False)
class AlgorithmDecl(Syntax):
    """`algorithm ring(n) slices n requires n > 1 where ... { steps }`; without `slices`, a vector
    is one slice."""

    name: Word
    parameters: tuple[Word, ...]
    slices: Expression | None
    condition: Expression | None
    locals: tuple[LocalDecl, ...]
    actions: tuple[Action, ...]


@dataclass(frozen=True, eq=False)
class OperationDecl(Syntax):
    """`operation farther(a, b: i32) commutative = a * a < b * b ? b : a where ...`."""

    name: Word
    own: Word
    received: Word
    element: Word
    commutative: bool
    assumed: Word | None
    body: Expression
    locals: tuple[LocalDecl, ...]


@dataclass(frozen=True, eq=False)
class HeldDecl(Syntax):
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


@dataclass(frozen=True, eq=False)
class OwnContractDecl(Syntax):
    """`contract sums(n, G) slices 1 requires n mod G == 0 where ... { what ranks have }`."""

    name: Word
    parameters: tuple[Word, ...]
    slices: Expression | None
    condition: Expression | None
    locals: tuple[LocalDecl, ...]
    held: tuple[HeldDecl, ...]


@dataclass(frozen=True, eq=False)
class RunLengthDecl(Syntax):
    """`n <= B` with a number for B: a dynamic length, at least `least`."""

    name: Word
    most: int
    least: int = 1

    def given(self, longest: int) -> RunLength:
        """The length as a contract has it that is for at most `longest` elements."""
        return RunLength(self.name.text, self.most, self.span, self.least, longest)


@dataclass(frozen=True, eq=False)
class BufferDecl(Syntax):
    """`x: f32[B] by 3, add`: what a contract is about; its place ends before `, add`. In an
    alternative of a choice by length `run_length` is that choice's, and `length` the most that the
    alternative is for."""

    name: Word
    element: Word
    length: Expression
    stride: Expression | None
    operation: Word | None
    run_length: RunLengthDecl | None = None


@dataclass(frozen=True, eq=False)
class ContractDecl(Syntax):
    """`allreduce(x: f32[B], add)`; a barrier has no buffer. A user-defined contract may be given
    numbers: `sums(x: f32[B], add, G = 4)`."""

    kind: Word
    buffer: BufferDecl | None
    arguments: tuple[Argument, ...] = ()
    into: IntoDecl | None = None


@dataclass(frozen=True, eq=False)
class IntoDecl(Syntax):
    """`into y by 4`: the buffer of the result."""

    name: Word
    stride: Expression | None


@dataclass(frozen=True, eq=False)
class PeDecl(Syntax):
    """`(x, y)`, a PE of the grid."""

    x: Expression
    y: Expression


@dataclass(frozen=True, eq=False)
class NeedsDecl(Syntax):
    """`requires collc >= 0.2`."""

    tool: Word
    relation: str
    version: Word


C = TypeVar("C")


# Collectives, their clauses, and programs.


@dataclass(frozen=True, eq=False)
class OrderClause(Syntax):
    """`order north_to_south, west_to_east` or `order spiral(S = 3)`."""

    uses: tuple[TreeUse, ...]


@dataclass(frozen=True, eq=False)
class FixedClause(Syntax):
    """`order fixed`: operands are combined in the order of ranks, one by one."""


@dataclass(frozen=True, eq=False)
class TreeUse(Syntax):
    """`two_phase(S = 4)`: a tree or algorithm by name, its first parameter left to the line it is
    used on; or an order, whose first two are left to the grid."""

    name: Word
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, eq=False)
class ReduceClause(Syntax):
    """`reduce columns by chain, star to 3`: a tree for each side of the root, or one for both;
    `then` says whether the word stood before it. `lower_first`: the lower ranks' sum comes first
    whichever side is the smaller one."""

    lines: Word | None
    tree: TreeUse
    upper: TreeUse | None
    to: PeDecl | Expression | None
    then: bool = False
    lower_first: bool = False


@dataclass(frozen=True, eq=False)
class BroadcastClause(Syntax):
    """`broadcast from 0`."""

    root: PeDecl | Expression
    then: bool = False


@dataclass(frozen=True, eq=False)
class RunClause(Syntax):
    """`run rows by ring_allreduce in simd`; `root` is the place behind `from` or `to`, which is
    `end`, `on_slices` that word, where it is there, `taken` the word behind `in`."""

    lines: Word | None
    algorithm: TreeUse
    end: Word | None
    root: PeDecl | Expression | None
    on_slices: Word | None
    taken: Word | None
    then: bool = False


StepClause = ReduceClause | BroadcastClause | RunClause


@dataclass(frozen=True, eq=False)
class WithinClause(Syntax):
    """`within colors <= 3`."""

    quantity: Word
    most: Expression


@dataclass(frozen=True, eq=False)
class ReservationDecl(Syntax):
    """`colors 0 .. 3`; `last` is None for one number."""

    resource: Word
    first: Expression
    last: Expression | None


@dataclass(frozen=True, eq=False)
class ReserveClause(Syntax):
    """`reserve colors 0 .. 3, tasks 10`: what the program around the collective uses."""

    reservations: tuple[ReservationDecl, ...]


@dataclass(frozen=True, eq=False)
class ExpectClause(Syntax):
    """`expect cycles <= 1.4 * bound`."""

    quantity: Word
    relation: str
    value: Expression


@dataclass(frozen=True, eq=False)
class AlternativeDecl(Syntax):
    """`n <= 8: reduce star to 0`; of `else: ...` `name` and `most` are None."""

    name: Word | None
    most: Expression | None
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, eq=False)
class SelectClause(Syntax):
    """`select by n { n <= 8: reduce star to 0  else: reduce chain to 0 }`."""

    name: Word
    alternatives: tuple[AlternativeDecl, ...]


Clause = (
    OrderClause
    | FixedClause
    | ReduceClause
    | BroadcastClause
    | RunClause
    | WithinClause
    | ReserveClause
    | ExpectClause
    | SelectClause
)


@dataclass(frozen=True, eq=False)
class PlaceDecl(Syntax):
    """`on pes`, or `on each row of pes`: then `lines` is `row`, and `of` is `of`."""

    lines: Word | None
    of: Word | None
    grid: Word


@dataclass(frozen=True, eq=False)
class CollectiveDecl(Syntax):
    """`collective total = contract on grid { clauses }`."""

    name: Word
    contract: ContractDecl
    place: PlaceDecl
    clauses: tuple[Clause, ...]

    def of_kind(self, kind: type[C]) -> tuple[C, ...]:
        """Its clauses of a kind, in their order."""
        return tuple(clause for clause in self.clauses if isinstance(clause, kind))


@dataclass(frozen=True, eq=False)
class TogetherDecl(Syntax):
    """`rows and columns`: calls that are in flight at the same time."""

    names: tuple[Word, ...]


@dataclass(frozen=True, eq=False)
class RepeatDecl(Syntax):
    """`repeat 100 { largest spread }`."""

    rounds: Expression
    names: tuple[Word | TogetherDecl, ...]


@dataclass(frozen=True, eq=False)
class ReconfigureClause(Syntax):
    """`reconfigure teardown`."""

    way: Word


ProgramItem = Word | TogetherDecl | RepeatDecl | WithinClause | ReserveClause | ReconfigureClause


@dataclass(frozen=True, eq=False)
class ProgramDecl(Syntax):
    """`program { total }`; what stands in it, in order."""

    items: tuple[ProgramItem, ...]


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


# Walking through syntax: the expressions of a declaration, and their parts.


_EXPRESSIONS = get_args(Expression)


def expressions_of(syntax: object) -> Iterator[Expression]:
    """Outermost expressions of a piece of syntax, in the order of the source."""
    pending = [syntax]  # no recursion: a hostile file nests loops thousands deep
    while pending:
        here = pending.pop()
        if isinstance(here, _EXPRESSIONS):
            yield cast(Expression, here)
        else:
            pending.extend(reversed(_parts(here)))


def walk(expression: Expression) -> Iterator[tuple[Expression, int]]:
    """Expression and all inside it, in the order of the source, with how deep each lies."""
    pending = [(expression, 1)]
    while pending:
        here, depth = pending.pop()
        yield here, depth
        if not isinstance(here, Literal):  # a tree by hand has ranks inside, not expressions
            inside = (part for value in _parts(here) for part in expressions_of(value))
            pending.extend((part, depth + 1) for part in reversed(list(inside)))


def _parts(here: object) -> tuple[object, ...]:
    """What is directly inside a piece of syntax or a tuple of them."""
    if isinstance(here, tuple):
        return here
    of: type = type(here)
    return tuple(getattr(here, name) for name in _fields(of))


@cache
def _fields(of: type) -> tuple[str, ...]:
    """The fields of a class of syntax; none of what is no such class, or has no parts."""
    if not hasattr(of, "__dataclass_fields__") or of in (Word, Span):
        return ()
    return tuple(field.name for field in fields(of))
