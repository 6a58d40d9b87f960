"""The value of an expression: whole numbers of 64 bits, conditions, and fractions in expectations.

Division rounds down, `mod` has the sign of its right side, subtraction associates to the left.
Expressions are at most `parser.MAX_DEPTH` deep, so the functions here may recurse.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isqrt

from collc.diagnostics import Span
from collc.language import syntax
from collc.language.problems import KnownProblemError, ProblemError, problem, suggest
from collc.language.syntax import Expression

_LEAST, _MOST = -(2**63), 2**63 - 1

Binding = int | ProblemError | None
"""What a name stands for: a number, a problem met on use, or something already reported."""


@dataclass(frozen=True)
class Scope:
    """The numbers an expression may name, and what else the file declares (for messages)."""

    numbers: Mapping[str, Binding]
    others: Mapping[str, str] = field(default_factory=dict)  # name -> "tree", "grid", ...


def pow2_below(n: int) -> int:
    """Largest power of two below n, but at least 1; n >= 1."""
    return 1 << max((n - 1).bit_length() - 1, 0)


def log2ceil(n: int) -> int:
    """Least k with 2**k >= n; n >= 1."""
    return (n - 1).bit_length()


@dataclass(frozen=True)
class Function:
    """A function of the language: how many arguments, from which value on, and what it does."""

    compute: Callable[..., int]
    arity: int | None  # None: two or more
    least: int | None  # the smallest argument with a value


FUNCTIONS: Mapping[str, Function] = {
    "isqrt": Function(isqrt, 1, 0),
    "pow2_below": Function(pow2_below, 1, 1),
    "log2ceil": Function(log2ceil, 1, 1),
    "min": Function(min, None, None),
    "max": Function(max, None, None),
}
RESERVED = frozenset((*FUNCTIONS, "leaf", "join", "bound"))

_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "div": operator.floordiv,
    "mod": operator.mod,
}
_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def number(expression: Expression, scope: Scope) -> int:
    """Whole number an expression stands for; raises `ProblemError` if it is none."""
    match expression:
        case syntax.Number(value=value):
            return _bounded(value, expression.span)
        case syntax.Name():
            return _named(expression, scope)
        case syntax.Negative(operand=operand):
            return _bounded(-number(operand, scope), expression.span)
        case syntax.Arithmetic():
            return _arithmetic(expression, scope)
        case syntax.Conditional(condition=condition):
            chosen = truth(condition, scope)
            return number(expression.chosen if chosen else expression.otherwise, scope)
        case syntax.Call():
            return _call(expression, scope)
        case _:
            raise wrong_kind(expression, "a whole number")


def truth(expression: Expression, scope: Scope) -> bool:
    """Whether a condition holds; raises `ProblemError` if the expression is none."""
    match expression:
        case syntax.Not(operand=operand):
            return not truth(operand, scope)
        case syntax.Logic(operator="and", left=left, right=right):
            return truth(left, scope) and truth(right, scope)
        case syntax.Logic(left=left, right=right):
            return truth(left, scope) or truth(right, scope)
        case syntax.Conditional(condition=condition):
            chosen = truth(condition, scope)
            return truth(expression.chosen if chosen else expression.otherwise, scope)
        case syntax.Comparison(operands=operands, relations=relations):
            values = [number(operand, scope) for operand in operands]
            pairs = zip(values, values[1:], relations, strict=False)
            return all(_RELATIONS[relation](a, b) for a, b, relation in pairs)
        case _:
            raise wrong_kind(expression, "a condition")


def wrong_kind(expression: Expression, wanted: str) -> ProblemError:
    """Message for an expression that is something else than what its place asks for."""
    what, help = "a whole number", ""
    match expression:
        case syntax.Fraction():
            what, help = "a fraction", "fractions stand only in front of `bound`, in `expect`"
        case syntax.Comparison() | syntax.Logic() | syntax.Not():
            what, help = "a condition", "choose a number by it: `condition ? 1 : 0`"
        case syntax.Literal():
            what = "a tree"
        case syntax.Name(text="leaf") | syntax.Call(name=syntax.Word(text="join")):
            what = "a tree"
        case syntax.Name(text="bound"):
            what, help = "the bound of the model", "it stands only in `expect`: `1.4 * bound`"
    if wanted == "a condition":
        help = "compare it with something: `n == 1`"
    return problem("C113", f"this is {what}, where {wanted} is wanted", expression.span, help=help)


def _bounded(value: int, span: Span) -> int:
    if _LEAST <= value <= _MOST:
        return value
    raise problem("C116", "this number does not fit into 64 bits", span)


def _named(name: syntax.Name, scope: Scope) -> int:
    if name.text not in scope.numbers:
        if name.text in scope.others:
            message = f"{name.text} is a {scope.others[name.text]}, where a number is wanted"
            raise problem("C113", message, name.span)
        raise (
            wrong_kind(name, "a whole number")
            if name.text in RESERVED
            else unknown_name(name.text, name.span, scope.numbers)
        )
    value = scope.numbers[name.text]
    if isinstance(value, ProblemError):
        raise value.with_note(name.span, f"{name.text} is needed here")
    if value is None:
        raise KnownProblemError
    return value


def unknown_name(name: str, span: Span, known: Mapping[str, object]) -> ProblemError:
    """Message for a name that stands for nothing."""
    help = suggest(name, known) or "declare it with `param`"
    return problem("C110", f"there is no number called {name} here", span, help=help)


def _arithmetic(expression: syntax.Arithmetic, scope: Scope) -> int:
    left, right = number(expression.left, scope), number(expression.right, scope)
    if expression.operator in ("div", "mod") and right == 0:
        message = f"{left} {expression.operator} 0 has no value"
        raise problem("C115", message, expression.span, (expression.right.span, "this is 0"))
    return _bounded(_ARITHMETIC[expression.operator](left, right), expression.span)


def _call(call: syntax.Call, scope: Scope) -> int:
    name = call.name.text
    if name not in FUNCTIONS:
        what = "a tree" if name == "join" or scope.others.get(name) == "tree" else ""
        if what:
            raise problem("C113", f"{name}(...) is {what}, where a number is wanted", call.span)
        raise unknown_function(call.name, FUNCTIONS)
    check_function_call(call)
    function = FUNCTIONS[name]
    values = [number(argument.value, scope) for argument in call.arguments]
    if function.least is not None and values[0] < function.least:
        message = f"{name}({values[0]}) has no value: its argument is {function.least} or more"
        raise problem("C117", message, call.span)
    return function.compute(*values)


def unknown_function(name: syntax.Word, known: Mapping[str, object]) -> ProblemError:
    """Message for a call of something that is neither function nor tree."""
    message = f"there is no function or tree called {name.text}"
    return problem("C110", message, name.span, help=suggest(name.text, known))


def check_function_call(call: syntax.Call) -> None:
    """Refuse a call of a function with names, or with more or fewer arguments than it takes."""
    arity, given = FUNCTIONS[call.name.text].arity, len(call.arguments)
    named = next((a.name for a in call.arguments if a.name is not None), None)
    if named is not None:
        message = f"the arguments of {call.name.text} have no names"
        raise problem("C114", message, named.span)
    if (arity is None and given < 2) or (arity is not None and given != arity):
        wanted = "two or more arguments" if arity is None else f"{arity} argument"
        raise problem("C114", f"{call.name.text} takes {wanted}, not {given}", call.span)
