"""Expressions as they are written: numbers, names, calls, conditions."""

from __future__ import annotations

from dataclasses import field

from collc.base.diagnostics import Span
from collc.base.values import dataclass


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
