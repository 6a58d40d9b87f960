"""Walking through what a `.coll` file says: the expressions of a declaration and their parts."""

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import cast, get_args

from collc.base.diagnostics import Span
from collc.language.syntax import Expression, Literal, Word

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
