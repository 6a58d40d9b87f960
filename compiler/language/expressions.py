"""Expressions: what they may name, what they are made of, and their values, of one number or for
many ranks at once, as arrays of 64 bits.

Division rounds down, `mod` has the sign of its right side, subtraction associates to the left.
Functions declared by `where` are evaluated here, too. Both sides of a condition are looked at only
for the ranks they concern, so what has no value for a rank matters only where it is used.
Expressions are at most `parser.MAX_DEPTH` deep, so the functions here may recurse.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from math import isqrt
from typing import TypeVar, cast

import numpy as np

from collc.base.columns import Bools, Ints
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
from collc.language.syntax import Call, Expression

# What an expression may name: numbers, ranks and functions; and what evaluating may take.


Binding = int | ProblemError | None
"""What a name stands for: a number, a problem met on use, or something already reported."""

Key = tuple[str, tuple[int, ...], bool]  # parameter that varies, the others, whether a condition
Memoized = dict[Key, tuple[Bools, Ints]]  # what is known, and its value; a truth is 0 or 1
Found = dict[tuple[tuple[int, ...], bool], int | bool]  # arguments, whether a condition; its value

# Limits on the work that a file may ask for, since its text is untrusted; not numbers of a machine.
MAX_EVALUATIONS = 2_000_000  # of expressions, each for any number of ranks
MAX_VALUES = 400_000_000  # that all of these find, one for each rank


class Budget:
    """What evaluating the algorithms of a file may still take."""

    def __init__(self) -> None:
        self.memoized = 0
        self._evaluations = 0
        self._values = 0

    def take(self, expression: Expression, size: int) -> None:
        """Count one evaluation for `size` ranks; raises `ProblemError` when there are too many."""
        self._evaluations += 1
        self._values += size
        if not self._is_kept():
            message = f"working out the steps takes more than {MAX_EVALUATIONS} evaluations"
            help = "take fewer steps, or name what is used often with `where`"
            raise problem("C157", message, expression.span, help=help)

    def take_all(self, taken: Budget) -> bool:
        """Count what was taken of another budget, if there is as much left."""
        both = Budget()
        both.memoized = self.memoized + taken.memoized
        both._evaluations = self._evaluations + taken._evaluations
        both._values = self._values + taken._values
        if both._is_kept():
            vars(self).update(vars(both))
        return both._is_kept()

    def _is_kept(self) -> bool:
        return self._evaluations <= MAX_EVALUATIONS and self._values <= MAX_VALUES


@dataclass(frozen=True)
class FunctionOf:
    """A function declared by `where`, with what it sees."""

    declaration: syntax.LocalDecl
    scope: Scope
    memoized: Memoized = field(default_factory=dict, compare=False)
    found: Found = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Scope:
    """What an expression may name: numbers, functions, and the ranks of an `each` with their name;
    and what else the file declares, for messages. Without a `budget` the effort is limited by
    whoever evaluates it."""

    numbers: Mapping[str, Binding]
    others: Mapping[str, str] = field(default_factory=dict)  # name -> "tree", "grid", ...
    budget: Budget | None = None
    functions: Mapping[str, FunctionOf] = field(default_factory=dict)
    arrays: Mapping[str, Ints] = field(default_factory=dict)
    size: int = 1
    rank: str = ""  # the name of the rank in `arrays`, for messages
    nested: int = 0
    passes: tuple[str, ...] = ()  # which pass of each loop this is, for messages

    def only(self, chosen: Bools) -> Scope:
        """The same for some of the ranks."""
        size = int(np.count_nonzero(chosen))
        if size == self.size:
            return self
        arrays = {name: values[chosen] for name, values in self.arrays.items()}
        return replace(self, arrays=arrays, size=size)

    def which(self, index: int) -> str:
        """The rank at an index and the passes of the loops around it, for a message."""
        values = self.arrays.get(self.rank)
        rank = () if values is None else (f"{self.rank} = {values[index]}",)
        places = ", ".join((*self.passes, *rank))
        return f" (for {places})" if places else ""


# What expressions are made of: whole numbers of 64 bits, operators, functions and names.


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


def is_auto(expression: syntax.Expression | syntax.PeDecl | None) -> bool:
    """Whether this is `auto`."""
    return isinstance(expression, syntax.Name) and expression.text == AUTO


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


# Values, for one number or for many ranks.


V = TypeVar("V", "int | Ints", "bool | Bools")

# Limits on depth and memory, as those of `collc.language.expressions`.
MAX_NESTED = 32  # calls of functions inside functions
_MEMOIZED = 4096  # arguments below this are memoized
_MOST_MEMOIZED = 10_000_000  # values of all functions together


def number(expression: Expression, scope: Scope) -> int:
    """The whole number an expression stands for that depends on no rank; raises `ProblemError` if
    it is none."""
    value = numbers_of(expression, scope)
    assert isinstance(value, int), "nothing in it depends on a rank"
    return value


def truth(expression: Expression, scope: Scope) -> bool:
    """Whether such a condition holds; raises `ProblemError` if the expression is none."""
    holds = truths_of(expression, scope)
    assert isinstance(holds, bool), "nothing in it depends on a rank"
    return holds


def value_or_problem(value: Expression, scope: Scope) -> Binding:
    """What a name declared by `where` stands for: a number without a value is a mistake only where
    it is used, but too much work (C157) is one at once."""
    try:
        return number(value, scope)
    except ProblemError as error:
        if error.diagnostic.code == "C157":
            raise
        return error
    except KnownProblemError:
        return None


def numbers_for_all(expression: Expression, seen: Scope) -> Ints:
    """The number for each of the ranks, [seen.size]."""
    return _as_array(numbers_of(expression, seen), seen.size)


def numbers_of(  # noqa: PLR0911 - one for each kind of expression
    expression: Expression, scope: Scope
) -> int | Ints:
    """Whole numbers an expression stands for; one where it does not depend on the rank."""
    if scope.budget is not None:
        scope.budget.take(expression, scope.size)
    match expression:
        case syntax.Number(value=value):
            return bounded(value, expression.span)
        case syntax.Name(text=text) if text in scope.arrays:
            return scope.arrays[text]
        case syntax.Name():
            return named(expression, scope)
        case syntax.Negative(operand=operand):
            return _computed("-", 0, numbers_of(operand, scope), expression, scope)
        case syntax.Arithmetic(operator=sign, left=left, right=right):
            first, second = numbers_of(left, scope), numbers_of(right, scope)
            return _computed(sign, first, second, expression, scope)
        case syntax.Conditional():
            return _chosen(expression, scope, numbers_of)
        case syntax.Call():
            return _call(expression, scope)
        case _:
            raise wrong_kind(expression, "a whole number")


def truths_of(expression: Expression, scope: Scope) -> bool | Bools:
    """For which ranks a condition holds."""
    if scope.budget is not None:
        scope.budget.take(expression, scope.size)
    match expression:
        case syntax.Not(operand=operand):
            found = truths_of(operand, scope)
            return (not found) if isinstance(found, bool) else ~found
        case syntax.Logic(operator=word, left=left, right=right):
            return _both_or_either(word == "and", left, right, scope)
        case syntax.Conditional():
            return _chosen(expression, scope, truths_of)
        case syntax.Call(name=name) if name.text in scope.functions:
            return _call_of_local(expression, scope.functions[name.text], scope, truths_of)
        case syntax.Comparison(operands=operands, relations=relations):
            values = [numbers_of(operand, scope) for operand in operands]
            holds: bool | Bools = True
            for first, second, relation in zip(values, values[1:], relations, strict=False):
                holds = operator.and_(holds, RELATIONS[relation](first, second))  # type: ignore[arg-type]
            return holds
        case _:
            raise wrong_kind(expression, "a condition")


def _as_array(values: int | Ints, size: int) -> Ints:
    return values if isinstance(values, np.ndarray) else np.full(size, values, dtype=np.int64)


def _both_or_either(both: bool, left: Expression, right: Expression, scope: Scope) -> bool | Bools:
    """`and`, `or`; the right side for the ranks whose left side does not decide."""
    first = truths_of(left, scope)
    if isinstance(first, bool):
        return truths_of(right, scope) if first is both else first
    undecided = first if both else ~first
    if not undecided.any():
        return first
    found = first.copy()
    found[undecided] = truths_of(right, scope.only(undecided))
    return found


def _chosen(
    expression: syntax.Conditional,
    scope: Scope,
    evaluate: Callable[[Expression, Scope], V],
) -> V:
    """`condition ? chosen : otherwise`, each side for the ranks that take it."""
    holds = truths_of(expression.condition, scope)
    if isinstance(holds, bool):
        return evaluate(expression.chosen if holds else expression.otherwise, scope)
    sides = ((expression.chosen, holds), (expression.otherwise, ~holds))
    parts = [(w, evaluate(part, scope.only(w))) for part, w in sides if w.any()]
    found = np.empty(scope.size, dtype=np.result_type(*(values for _, values in parts)))
    for which, values in parts:
        found[which] = values
    return cast(V, found)


def _computed(
    sign: str, left: int | Ints, right: int | Ints, expression: Expression, scope: Scope
) -> int | Ints:
    """Arithmetic that neither divides by zero nor leaves 64 bits."""
    if sign in ("div", "mod") and (right == 0 if isinstance(right, int) else (right == 0).any()):
        raise _divided_by_zero(left, right, expression, scope)
    if isinstance(left, int) and isinstance(right, int):
        return bounded(ARITHMETIC[sign](left, right), expression.span)
    extremes = [
        ARITHMETIC[sign](a, b)
        for a in _extremes(left)
        for b in _extremes(right)
        if sign not in ("div", "mod")
    ]
    if extremes and not (min(extremes) >= -(2**63) and max(extremes) < 2**63):
        _find_overflow(sign, left, right, expression, scope)
    if sign == "div" and -(2**63) in _extremes(left):
        _find_overflow(sign, left, right, expression, scope)
    return ARITHMETIC[sign](left, right)  # type: ignore[arg-type]


def _divided_by_zero(
    left: int | Ints, right: int | Ints, expression: Expression, scope: Scope
) -> ProblemError:
    """The problem with the first rank that divides by 0."""
    assert isinstance(expression, syntax.Arithmetic), "it divides"
    index = int(np.flatnonzero(np.equal(right, 0))[0])
    dividend = _as_array(left, scope.size)[index]
    message = f"{dividend} {expression.operator} 0 has no value{scope.which(index)}"
    notes = ((expression.right.span, "this is 0"),) if scope.budget is None else ()
    return problem("C115", message, expression.span, *notes)


def _extremes(values: int | Ints) -> tuple[int, ...]:
    if isinstance(values, int):
        return (values,)
    return (int(values.min()), int(values.max())) if len(values) else ()


def _find_overflow(
    sign: str, left: int | Ints, right: int | Ints, expression: Expression, scope: Scope
) -> None:
    """Refuse the first rank whose result has more than 64 bits."""
    pairs = zip(_as_array(left, scope.size), _as_array(right, scope.size), strict=True)
    for index, (a, b) in enumerate(pairs):
        if not -(2**63) <= ARITHMETIC[sign](int(a), int(b)) < 2**63:
            message = f"this number does not fit into 64 bits{scope.which(index)}"
            raise problem("C116", message, expression.span)


def _call(call: Call, scope: Scope) -> int | Ints:
    name = call.name.text
    if name in scope.functions:
        return _call_of_local(call, scope.functions[name], scope, numbers_of)
    if name not in FUNCTIONS:
        if name == "join" or scope.others.get(name) == "tree":
            raise is_something_else(f"{name}(...)", "tree", call.span)
        raise unknown_function(call.name, {**FUNCTIONS, **scope.functions})
    check_function_call(call)
    values = [numbers_of(argument.value, scope) for argument in call.arguments]
    if all(isinstance(value, int) for value in values):
        return apply(call, [int(value) for value in values])
    if name in ("min", "max"):
        pick = np.minimum if name == "min" else np.maximum
        least_or_most = _as_array(values[0], scope.size)
        for value in values[1:]:
            least_or_most = pick(least_or_most, value)
        return least_or_most
    # Few different arguments occur, so each combination is computed once.
    if len(values) == 1:
        first, places = np.unique(values[0], return_inverse=True)
        different = first[:, None]
    else:
        table = np.stack([_as_array(value, scope.size) for value in values], axis=1)
        different, places = np.unique(table, axis=0, return_inverse=True)
    results: Ints = np.array([apply(call, row) for row in different.tolist()], dtype=np.int64)
    return results[places.reshape(-1)]


def _call_of_local(
    call: Call,
    function: FunctionOf,
    scope: Scope,
    evaluate: Callable[[Expression, Scope], V],
) -> V:
    """A function declared by `where`; what it found for a number before is looked up."""
    parameters = function.declaration.parameters or ()
    if scope.nested >= MAX_NESTED:
        message = f"{call.name.text} is nested more than {MAX_NESTED} calls deep"
        help = "let every call halve something, or count by a loop"
        raise problem("C103", message, call.span, help=help)
    values = [numbers_of(argument.value, scope) for argument in call.arguments]
    names = [word.text for word in parameters]
    arrays = {k: v for k, v in zip(names, values, strict=True) if not isinstance(v, int)}
    numbers = {k: v for k, v in zip(names, values, strict=True) if isinstance(v, int)}

    def evaluated(arrays: Mapping[str, Ints], size: int) -> V:
        inside = function.scope
        body = replace(
            inside,
            numbers={**inside.numbers, **numbers},
            functions={**inside.functions, call.name.text: function},
            arrays=arrays,
            size=size,
            nested=scope.nested + 1,
            passes=scope.passes,
            rank=next(iter(arrays), ""),
        )
        return evaluate(function.declaration.value, body)

    if len(arrays) == 1:
        (name,) = arrays
        asked, key = arrays[name], (name, tuple(numbers.values()), evaluate is truths_of)
        if len(asked) and asked.min() >= 0 and asked.max() < _MEMOIZED:
            return cast(V, _looked_up(function, key, asked, evaluated))
    if arrays:
        return evaluated(arrays, scope.size)
    found = (tuple(numbers.values()), evaluate is truths_of)
    if found not in function.found:
        value = evaluated({}, scope.size)
        assert isinstance(value, int)
        function.found[found] = value
    return cast(V, function.found[found])


def _looked_up(
    function: FunctionOf,
    key: Key,
    asked: Ints,
    evaluated: Callable[[Mapping[str, Ints], int], int | bool | Ints | Bools],
) -> Ints | Bools:
    """Values of a function that depends on one array of small numbers, each `evaluated` once."""
    known, table = _table(function, key, int(asked.max()) + 1)
    unknown = ~known[asked]
    if unknown.any():
        wanted = np.zeros(len(known), np.bool_)
        wanted[asked[unknown]] = True
        new = np.flatnonzero(wanted)
        values = evaluated({key[0]: new}, len(new))
        # calls within this one may have found values, too, and made the table longer
        known, table = _table(function, key, len(known))
        table[new], known[new] = values, True
    return table[asked] != 0 if key[2] else table[asked]


def _table(function: FunctionOf, key: Key, size: int) -> tuple[Bools, Ints]:
    """What is known of a function for numbers up to `size`, to be written to; kept for the next
    time as long as there is room."""
    known, table = function.memoized.get(key, (np.zeros(0, np.bool_), np.zeros(0, np.int64)))
    missing = size - len(known)
    if missing > 0:
        known = np.concatenate((known, np.zeros(missing, np.bool_)))
        table = np.concatenate((table, np.zeros(missing, np.int64)))
        budget = function.scope.budget
        assert budget is not None, "functions are of what is evaluated for many ranks"
        budget.memoized += missing
        if budget.memoized <= _MOST_MEMOIZED:
            function.memoized[key] = (known, table)
    return known, table
