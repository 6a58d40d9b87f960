"""The value of an expression for many ranks at once, as arrays of 64 bits.

The same language as in `expressions`, with one number more, the rank of an `each`, and functions
declared by `where`. Both sides of a condition are looked at only for the ranks they concern, so
what has no value for a rank matters only where it is used.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

import numpy as np

from collc.base.columns import Bools, Ints
from collc.language import syntax
from collc.language.expressions import (
    ARITHMETIC,
    FUNCTIONS,
    RELATIONS,
    Binding,
    Scope,
    apply,
    bounded,
    check_function_call,
    named,
    unknown_function,
    wrong_kind,
)
from collc.language.problems import problem
from collc.language.syntax import Call, Expression

Key = tuple[str, tuple[int, ...], bool]  # parameter that varies, the others, whether a condition
Remembered = dict[Key, tuple[Bools, Ints]]  # what is known, and its value; a truth is 0 or 1
Found = dict[tuple[tuple[int, ...], bool], int | bool]  # arguments, whether a condition; its value
V = TypeVar("V", "int | Ints", "bool | Bools")

MAX_EVALUATIONS = 2_000_000
MAX_VALUES = 400_000_000
MAX_NESTED = 32  # calls of functions inside functions
_REMEMBERED = 4096  # arguments below this are remembered
_MOST_REMEMBERED = 10_000_000  # values of all functions together


class Budget:
    """What evaluating the algorithms of a file may still take."""

    def __init__(self) -> None:
        self.remembered = 0
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
        both.remembered = self.remembered + taken.remembered
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
    scope: RankScope
    remembered: Remembered = field(default_factory=dict, compare=False)
    found: Found = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class RankScope:
    """What an expression may name: numbers, the ranks of an `each` with their name, functions."""

    numbers: Mapping[str, Binding]
    functions: Mapping[str, FunctionOf]
    others: Mapping[str, str]
    budget: Budget
    arrays: Mapping[str, Ints]
    size: int = 1
    rank: str = ""  # the name of the rank in `arrays`, for messages
    nested: int = 0
    passes: tuple[str, ...] = ()  # which pass of each loop this is, for messages

    def only(self, chosen: Bools) -> RankScope:
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


def numbers_of(  # noqa: PLR0911 - one for each kind of expression
    expression: Expression, around: RankScope
) -> int | Ints:
    """Whole numbers an expression stands for; one where it does not depend on the rank."""
    around.budget.take(expression, around.size)
    match expression:
        case syntax.Number(value=value):
            return bounded(value, expression.span)
        case syntax.Name(text=text) if text in around.arrays:
            return around.arrays[text]
        case syntax.Name():
            return named(expression, Scope(around.numbers, around.others))
        case syntax.Negative(operand=operand):
            return _computed("-", 0, numbers_of(operand, around), expression, around)
        case syntax.Arithmetic(operator=sign, left=left, right=right):
            first, second = numbers_of(left, around), numbers_of(right, around)
            return _computed(sign, first, second, expression, around)
        case syntax.Conditional():
            return _chosen(expression, around, numbers_of)
        case syntax.Call():
            return _call(expression, around)
        case _:
            raise wrong_kind(expression, "a whole number")


def truths_of(expression: Expression, around: RankScope) -> bool | Bools:
    """For which ranks a condition holds."""
    around.budget.take(expression, around.size)
    match expression:
        case syntax.Not(operand=operand):
            found = truths_of(operand, around)
            return (not found) if isinstance(found, bool) else ~found
        case syntax.Logic(operator=word, left=left, right=right):
            return _both_or_either(word == "and", left, right, around)
        case syntax.Conditional():
            return _chosen(expression, around, truths_of)
        case syntax.Call(name=name) if name.text in around.functions:
            return _call_of_local(expression, around.functions[name.text], around, truths_of)
        case syntax.Comparison(operands=operands, relations=relations):
            values = [numbers_of(operand, around) for operand in operands]
            holds: bool | Bools = True
            for first, second, relation in zip(values, values[1:], relations, strict=False):
                holds = operator.and_(holds, RELATIONS[relation](first, second))  # type: ignore[arg-type]
            return holds
        case _:
            raise wrong_kind(expression, "a condition")


def as_array(values: int | Ints, size: int) -> Ints:
    """One number for each rank."""
    return values if isinstance(values, np.ndarray) else np.full(size, values, dtype=np.int64)


def _both_or_either(
    both: bool, left: Expression, right: Expression, around: RankScope
) -> bool | Bools:
    """`and`, `or`; the right side for the ranks whose left side does not decide."""
    first = truths_of(left, around)
    if isinstance(first, bool):
        return truths_of(right, around) if first is both else first
    undecided = first if both else ~first
    if not undecided.any():
        return first
    found = first.copy()
    found[undecided] = truths_of(right, around.only(undecided))
    return found


def _chosen(
    expression: syntax.Conditional,
    around: RankScope,
    evaluate: Callable[[Expression, RankScope], V],
) -> V:
    """`condition ? chosen : otherwise`, each side for the ranks that take it."""
    holds = truths_of(expression.condition, around)
    if isinstance(holds, bool):
        return evaluate(expression.chosen if holds else expression.otherwise, around)
    sides = ((expression.chosen, holds), (expression.otherwise, ~holds))
    parts = [(w, evaluate(part, around.only(w))) for part, w in sides if w.any()]
    found = np.empty(around.size, dtype=np.result_type(*(values for _, values in parts)))
    for which, values in parts:
        found[which] = values
    return cast(V, found)


def _computed(
    sign: str, left: int | Ints, right: int | Ints, expression: Expression, around: RankScope
) -> int | Ints:
    """Arithmetic that neither divides by zero nor leaves 64 bits."""
    if sign in ("div", "mod"):
        zero = np.flatnonzero(np.equal(right, 0))
        if len(zero):
            dividend = as_array(left, around.size)[zero[0]]
            message = f"{dividend} {sign} 0 has no value{around.which(int(zero[0]))}"
            raise problem("C115", message, expression.span)
    if isinstance(left, int) and isinstance(right, int):
        return bounded(ARITHMETIC[sign](left, right), expression.span)
    extremes = [
        ARITHMETIC[sign](a, b)
        for a in _extremes(left)
        for b in _extremes(right)
        if sign not in ("div", "mod")
    ]
    if extremes and not (min(extremes) >= -(2**63) and max(extremes) < 2**63):
        _find_overflow(sign, left, right, expression, around)
    if sign == "div" and -(2**63) in _extremes(left):
        _find_overflow(sign, left, right, expression, around)
    return ARITHMETIC[sign](left, right)  # type: ignore[arg-type]


def _extremes(values: int | Ints) -> tuple[int, ...]:
    if isinstance(values, int):
        return (values,)
    return (int(values.min()), int(values.max())) if len(values) else ()


def _find_overflow(
    sign: str, left: int | Ints, right: int | Ints, expression: Expression, around: RankScope
) -> None:
    """Refuse the first rank whose result has more than 64 bits."""
    pairs = zip(as_array(left, around.size), as_array(right, around.size), strict=True)
    for index, (a, b) in enumerate(pairs):
        if not -(2**63) <= ARITHMETIC[sign](int(a), int(b)) < 2**63:
            message = f"this number does not fit into 64 bits{around.which(index)}"
            raise problem("C116", message, expression.span)


def _call(call: Call, around: RankScope) -> int | Ints:
    name = call.name.text
    if name in around.functions:
        return _call_of_local(call, around.functions[name], around, numbers_of)
    if name not in FUNCTIONS:
        raise unknown_function(call.name, {**FUNCTIONS, **around.functions})
    check_function_call(call)
    values = [numbers_of(argument.value, around) for argument in call.arguments]
    if all(isinstance(value, int) for value in values):
        return apply(call, [int(value) for value in values])
    if name in ("min", "max"):
        pick = np.minimum if name == "min" else np.maximum
        least_or_most = as_array(values[0], around.size)
        for value in values[1:]:
            least_or_most = pick(least_or_most, value)
        return least_or_most
    # Few different arguments occur, so each combination is computed once.
    if len(values) == 1:
        first, places = np.unique(values[0], return_inverse=True)
        different = first[:, None]
    else:
        table = np.stack([as_array(value, around.size) for value in values], axis=1)
        different, places = np.unique(table, axis=0, return_inverse=True)
    results: Ints = np.array([apply(call, row) for row in different.tolist()], dtype=np.int64)
    return results[places.reshape(-1)]


def _call_of_local(
    call: Call,
    function: FunctionOf,
    around: RankScope,
    evaluate: Callable[[Expression, RankScope], V],
) -> V:
    """A function declared by `where`; what it found for a number before is looked up."""
    parameters = function.declaration.parameters or ()
    if around.nested >= MAX_NESTED:
        message = f"{call.name.text} is nested more than {MAX_NESTED} calls deep"
        help = "let every call halve something, or count by a loop"
        raise problem("C103", message, call.span, help=help)
    values = [numbers_of(argument.value, around) for argument in call.arguments]
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
            nested=around.nested + 1,
            passes=around.passes,
            rank=next(iter(arrays), ""),
        )
        return evaluate(function.declaration.value, body)

    if len(arrays) == 1:
        (name,) = arrays
        asked, key = arrays[name], (name, tuple(numbers.values()), evaluate is truths_of)
        if len(asked) and asked.min() >= 0 and asked.max() < _REMEMBERED:
            return cast(V, _looked_up(function, key, asked, around.budget, evaluated))
    if arrays:
        return evaluated(arrays, around.size)
    found = (tuple(numbers.values()), evaluate is truths_of)
    if found not in function.found:
        value = evaluated({}, around.size)
        assert isinstance(value, int)
        function.found[found] = value
    return cast(V, function.found[found])


def _looked_up(
    function: FunctionOf,
    key: Key,
    asked: Ints,
    budget: Budget,
    evaluated: Callable[[Mapping[str, Ints], int], int | bool | Ints | Bools],
) -> Ints | Bools:
    """Values of a function that depends on one array of small numbers, each `evaluated` once."""
    known, table = _table(function, key, int(asked.max()) + 1, budget)
    unknown = ~known[asked]
    if unknown.any():
        wanted = np.zeros(len(known), np.bool_)
        wanted[asked[unknown]] = True
        new = np.flatnonzero(wanted)
        values = evaluated({key[0]: new}, len(new))
        # calls within this one may have found values, too, and made the table longer
        known, table = _table(function, key, len(known), budget)
        table[new], known[new] = values, True
    return table[asked] != 0 if key[2] else table[asked]


def _table(function: FunctionOf, key: Key, size: int, budget: Budget) -> tuple[Bools, Ints]:
    """What is known of a function for numbers up to `size`, to be written to; kept for the next
    time as long as there is room."""
    known, table = function.remembered.get(key, (np.zeros(0, np.bool_), np.zeros(0, np.int64)))
    missing = size - len(known)
    if missing > 0:
        known = np.concatenate((known, np.zeros(missing, np.bool_)))
        table = np.concatenate((table, np.zeros(missing, np.int64)))
        budget.remembered += missing
        if budget.remembered <= _MOST_REMEMBERED:
            function.remembered[key] = (known, table)
    return known, table
