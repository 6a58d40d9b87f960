"""The value of an expression, of one number or for many ranks at once, as arrays of 64 bits.

Functions declared by `where` are evaluated here, too. Both sides of a condition are looked at only
for the ranks they concern, so what has no value for a rank matters only where it is used.
Expressions are at most `parser.MAX_DEPTH` deep, so the functions here may recurse.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from collc.base.columns import Bools, Ints
from collc.language import syntax
from collc.language.expressions import (
    ARITHMETIC,
    FUNCTIONS,
    RELATIONS,
    apply,
    bounded,
    check_function_call,
    is_something_else,
    named,
    unknown_function,
    wrong_kind,
)
from collc.language.problems import KnownProblemError, ProblemError, problem
from collc.language.scope import Binding, FunctionOf, Key, Scope
from collc.language.syntax import Call, Expression

V = TypeVar("V", "int | Ints", "bool | Bools")

# Limits on depth and memory, as those of `collc.language.scope`.
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
