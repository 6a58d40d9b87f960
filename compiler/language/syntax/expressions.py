"""Expressions as they are written: numbers, names, calls, conditions."""

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

    left: Expression
    operator: str
    right: Expression
    span: Span


@dataclass(frozen=True, eq=False)
class Logic:
    """`left and right`, `left or right`."""

    left: Expression
    operator: str
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
