"""What a `.coll` file says, before any name is looked up: one frozen class per construct.

Values here compare by identity (`eq=False`): a hostile file may nest them thousands deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collc.diagnostics import Span


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
class LocalDecl:
    """`where h = pow2_below(n)`: a number with a name, seen by the tree and the locals after it."""

    name: Word
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
class ContractDecl:
    """`allreduce(x: f32[B], add)`."""

    kind: Word
    buffer: Word
    element: Word
    length: Expression
    operation: Word | None
    span: Span


@dataclass(frozen=True, eq=False)
class OrderClause:
    """`order north_to_south, west_to_east`."""

    names: tuple[Word, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class PeDecl:
    """`(x, y)`, a PE of the grid."""

    x: Expression
    y: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class TreeUse:
    """`two_phase(S = 4)`: a tree by name, its first parameter left to the line it is used on."""

    name: Word
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class ReduceClause:
    """`reduce columns by binomial to 0`; `then` says whether the word stood before it."""

    lines: Word | None
    tree: TreeUse
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
class WithinClause:
    """`within colors <= 3`."""

    quantity: Word
    most: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class ExpectClause:
    """`expect cycles <= 1.4 * bound`."""

    quantity: Word
    relation: str
    value: Expression
    span: Span


Clause = OrderClause | ReduceClause | BroadcastClause | WithinClause | ExpectClause


@dataclass(frozen=True, eq=False)
class CollectiveDecl:
    """`collective total = contract on grid { clauses }`."""

    name: Word
    contract: ContractDecl
    grid: Word
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class ProgramDecl:
    """`program { total }`."""

    names: tuple[Word, ...]
    span: Span


Declaration = TargetDecl | ParamDecl | GridDecl | TreeDecl | CollectiveDecl | ProgramDecl


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Expressions directly inside another."""
    match expression:
        case Negative(operand=operand) | Not(operand=operand):
            return (operand,)
        case Arithmetic(left=left, right=right) | Logic(left=left, right=right):
            return (left, right)
        case Comparison(operands=operands):
            return operands
        case Conditional():
            return (expression.condition, expression.chosen, expression.otherwise)
        case Call(arguments=arguments):
            return tuple(argument.value for argument in arguments)
        case _:
            return ()


def walk(expression: Expression) -> Iterator[tuple[Expression, int]]:
    """Expression and all inside it, in the order of the source, with how deep each lies."""
    pending: list[tuple[Expression, int]] = [(expression, 1)]
    while pending:
        here, depth = pending.pop()
        yield here, depth
        pending.extend((part, depth + 1) for part in reversed(parts_of(here)))


def expressions_of(declaration: Declaration) -> Iterator[Expression]:
    """Outermost expressions of a declaration."""
    match declaration:
        case ParamDecl():
            yield from (e for e in (declaration.default, declaration.condition) if e is not None)
        case GridDecl():
            yield from (declaration.width, declaration.height)
        case TreeDecl():
            yield from (declaration.body, *(local.value for local in declaration.locals))
        case CollectiveDecl():
            yield declaration.contract.length
            for clause in declaration.clauses:
                yield from _expressions_of_clause(clause)
        case _:
            return


def _expressions_of_clause(clause: Clause) -> Iterator[Expression]:
    match clause:
        case ReduceClause():
            yield from (argument.value for argument in clause.tree.arguments)
            yield from _expressions_of_place(clause.to)
        case BroadcastClause():
            yield from _expressions_of_place(clause.root)
        case WithinClause():
            yield clause.most
        case ExpectClause():
            yield clause.value
        case _:
            return


def _expressions_of_place(place: PeDecl | Expression | None) -> Iterator[Expression]:
    match place:
        case None:
            return
        case PeDecl():
            yield from (place.x, place.y)
        case _:
            yield place
