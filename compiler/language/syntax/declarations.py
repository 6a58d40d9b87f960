"""What is declared outside of collectives: parameters, grids, trees, algorithms, contracts."""

from __future__ import annotations

from collc.base.values import dataclass
from collc.language.syntax.expressions import Argument, Expression, Syntax, Word
from collc.spec.contract import RunLength


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
    """`allreduce(x: f32[B], add)`; a barrier has no buffer. A contract of one's own may be given
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
