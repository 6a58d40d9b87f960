"""What is declared outside of collectives: parameters, grids, trees, algorithms, contracts."""

from __future__ import annotations

from dataclasses import dataclass

from collc.base.diagnostics import Span
from collc.language.syntax.expressions import Argument, Expression, Word


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
    span: Span


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
    arrow: str
    destination: Expression
    into: Expression | None
    span: Span

    @property
    def combines(self) -> bool:
        """Whether the receiver combines what it gets with its own."""
        return self.arrow == "=>"


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
    """`n <= B` with a number for B: a dynamic length, at least `least`."""

    name: Word
    most: int
    span: Span
    least: int = 1


@dataclass(frozen=True, eq=False)
class BufferDecl:
    """`x: f32[B] by 3, add`: what a contract is about. In an alternative of a choice by length
    `run_length` is that choice's, and `length` the most that the alternative is for."""

    name: Word
    element: Word
    length: Expression
    stride: Expression | None
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
    into: IntoDecl | None = None


@dataclass(frozen=True, eq=False)
class IntoDecl:
    """`into y by 4`: the buffer of the result."""

    name: Word
    stride: Expression | None
    span: Span


@dataclass(frozen=True, eq=False)
class PeDecl:
    """`(x, y)`, a PE of the grid."""

    x: Expression
    y: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class NeedsDecl:
    """`requires collc >= 0.2`."""

    tool: Word
    relation: str
    version: Word
    span: Span
