"""What expressions are made of: whole numbers of 64 bits, operators, functions and names.

Division rounds down, `mod` has the sign of its right side, subtraction associates to the left.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from math import isqrt

from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.problems import (
    KnownProblemError,
    ProblemError,
    nearest,
    problem,
    suggest,
    unknown,
)
from collc.language.scope import Scope
from collc.language.syntax import Expression


def pow2_below(n: int) -> int:
    """Largest power of two below n, but at least 1; n >= 1."""
    return 1 << max((n - 1).bit_length() - 1, 0)


def log2ceil(n: int) -> int:
    """Least k with 2**k >= n; n >= 1."""
    return (n - 1).bit_length()


def reverse_bits(a: int, k: int) -> int:
    """The k lowest bits of a in reverse; a >= 0, 0 <= k <= 62."""
    reversed_bits = 0
    for _ in range(k):
        reversed_bits, a = 2 * reversed_bits + a % 2, a // 2
    return reversed_bits


def logfloor(n: int, base: int) -> int:
    """Largest k with base**k <= n; n >= 1, base >= 2."""
    k, reached = 0, base
    while reached <= n:
        k, reached = k + 1, reached * base
    return k


def power(base: int, k: int) -> int:
    """`base` multiplied k times; 0 <= k <= 62."""
    return int(base**k)


@dataclass(frozen=True)
class Function:
    """A function of the language: from which value on it takes each argument, and up to which.

    `arguments` None: two or more, of any value.
    """

    compute: Callable[..., int]
    arguments: tuple[tuple[int, int], ...] | None


_LEAST, _MOST = -(2**63), 2**63 - 1
_EXPONENT = (0, 62)

FUNCTIONS: Mapping[str, Function] = {
    "isqrt": Function(isqrt, ((0, _MOST),)),
    "pow2": Function(lambda k: 1 << k, (_EXPONENT,)),
    "pow2_below": Function(pow2_below, ((1, _MOST),)),
    "log2ceil": Function(log2ceil, ((1, _MOST),)),
    "logfloor": Function(logfloor, ((1, _MOST), (2, _MOST))),
    "power": Function(power, ((_LEAST, _MOST), _EXPONENT)),
    "log2floor": Function(lambda n: n.bit_length() - 1, ((1, _MOST),)),
    "reverse_bits": Function(reverse_bits, ((0, _MOST), _EXPONENT)),
    "xor": Function(operator.xor, ((0, _MOST), (0, _MOST))),
    "min": Function(min, None),
    "max": Function(max, None),
}
AUTO = "auto"  # a number, a place or a whole plan that is left to the compiler
RESERVED = frozenset((*FUNCTIONS, "leaf", "join", "bound", AUTO))

ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "div": operator.floordiv,
    "mod": operator.mod,
}
RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


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
        case syntax.Name(text="auto"):
            what = "left to the compiler"
            help = "`auto` replaces a number in `reduce` and `run`, for a place behind `to`"
        case syntax.Name(text="bound"):
            what, help = "the bound of the model", "it stands only in `expect`: `1.4 * bound`"
    if wanted == "a condition":
        help = "compare it with something: `n == 1`"
    return problem("C113", f"this is {what}, where {wanted} is wanted", expression.span, help=help)


def fits_64_bits(value: int) -> bool:
    """Whether a number is one of the language's."""
    return _LEAST <= value <= _MOST


def bounded(value: int, span: Span) -> int:
    """The value, if it is a number of 64 bits."""
    if fits_64_bits(value):
        return value
    help = f"numbers are {_LEAST} to {_MOST}"
    raise problem("C116", "this number does not fit into 64 bits", span, help=help)


def named(name: syntax.Name, scope: Scope) -> int:
    """The number that a name stands for."""
    if name.text not in scope.numbers:
        if name.text in scope.others:
            raise is_something_else(name.text, scope.others[name.text], name.span, scope.numbers)
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


def is_something_else(
    name: str, kind: str, span: Span, known: Iterable[str] = (), wanted: str = "a number"
) -> ProblemError:
    """Message for the name of a declaration, of a kind, where a number is wanted."""
    message = f"{name} is {'an' if kind[0] in 'aeio' else 'a'} {kind}, where {wanted} is wanted"
    return problem("C113", message, span, help=suggest(name, known))


def unknown_name(name: str, span: Span, known: Mapping[str, object]) -> ProblemError:
    """Message for a name that stands for nothing."""
    help = suggest(name, known) or "declare it with `param`"
    message = f"there is no number called {name} here"
    return problem("C110", message, span, help=help, fix=nearest(name, known))


def apply(call: syntax.Call, values: list[int]) -> int:
    """Value of a function for its arguments; raises `ProblemError` where it has none."""
    function = FUNCTIONS[call.name.text]
    for value, (least, most) in zip(values, function.arguments or (), strict=False):
        if not least <= value <= most:
            shown = ", ".join(map(str, values))
            which = "its argument" if len(values) == 1 else f"{value}"
            limits = f"{least} or more" if most == _MOST else f"{least} to {most}"
            verb = "is" if len(values) == 1 else "has to be"
            message = f"{call.name.text}({shown}) has no value: {which} {verb} {limits}"
            raise problem("C117", message, call.span)
    return bounded(function.compute(*values), call.span)


def unknown_function(name: syntax.Word, known: Mapping[str, object]) -> ProblemError:
    """Message for a call of something that is neither function nor tree."""
    message = f"there is no function or tree called {name.text}"
    return unknown("C110", message, name, known)


def check_function_call(call: syntax.Call) -> None:
    """Refuse a call of a function with names, or with more or fewer arguments than it takes."""
    arguments, given = FUNCTIONS[call.name.text].arguments, len(call.arguments)
    arity = None if arguments is None else len(arguments)
    named = next((a.name for a in call.arguments if a.name is not None), None)
    if named is not None:
        message = f"the arguments of {call.name.text} have no names"
        raise problem("C114", message, named.span)
    if (arity is None and given < 2) or (arity is not None and given != arity):
        words = {None: "two or more arguments", 1: "1 argument"}
        wanted = words.get(arity, f"{arity} arguments")
        raise problem("C114", f"{call.name.text} takes {wanted}, not {given}", call.span)
