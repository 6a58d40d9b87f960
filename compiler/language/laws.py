"""Whether an operation of the user's own is associative, and commutative where it is called so, as
far as can be found out by trying.

A reduction combines vectors in an order that the compiler chooses, so an operation that breaks the
law gives another result for every tree. `operands` says what is tried, the same in every run. Whole
numbers are compared exactly. Floats break a law where the results differ by more than rounding can
explain: where they would differ without any (`collc.spec.unrounded`). Operands for which a result
overflows say nothing.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from collc.base.columns import Array, Bools
from collc.language.operands import Numbers, Operands, triples
from collc.language.problems import ProblemError, problem
from collc.spec import OwnOperation
from collc.spec.formula import Formula, evaluate
from collc.spec.unrounded import Known, exactly, unrounded

_LOOKED_AT = 4096  # results that differ in floats, of which rounding is followed
# Parts of the largest number at hand: the roundings of a formula's numbers, such as 0.1, do not
# explain a larger difference.
_FAR = {2: 2.0**-3, 4: 2.0**-8}
_COMPARED = 256  # operands that break a law, of which the plainest is shown


def broken_law(operation: OwnOperation, *, associative: bool) -> ProblemError | None:
    """The problem of an operation that breaks a law, with a counterexample; None if none is found.

    `associative` says whether that law is looked at: the user may have assumed it.
    """
    formula, element = operation.formula, operation.element.value
    if operation.commutative:
        found = _counterexample(formula, element, 2)
        if found is not None:
            return _not_commutative(operation, *found)
    found = _counterexample(formula, element, 3) if associative else None
    return None if found is None else _not_associative(operation, *found)


@lru_cache(maxsize=256)
def _counterexample(formula: Formula, element: str, count: int) -> tuple[Any, ...] | None:
    """The plainest operands found that break a law: two for commutativity, three for the other."""
    given = _tried(formula, element)[:count]
    broken = np.flatnonzero(_breaks(formula, given))
    if not len(broken):
        return None
    sizes = np.max([np.abs(side[broken].astype(np.float64)) for side in given], axis=0)
    nearest = broken[np.argsort(np.abs(np.log(sizes + 1e-300)), kind="stable")[:_COMPARED]]
    columns = [tuple(side[at] for side in given) for at in nearest]
    return _simplified(formula, element, min(columns, key=_effort))


@lru_cache(maxsize=8)
def _tried(formula: Formula, element: str) -> Operands:
    return triples(formula, element)


def _sides(formula: Formula, given: Operands) -> tuple[tuple[Array, Array], Bools]:
    """The results that a law says are equal, and which of them say something about it."""
    with np.errstate(all="ignore"):
        if len(given) == 2:
            a, b = given
            sides = evaluate(formula, a, b), evaluate(formula, b, a)
            parts: tuple[Array, ...] = sides
        else:
            a, b, c = given
            left, right = evaluate(formula, a, b), evaluate(formula, b, c)
            sides = evaluate(formula, left, c), evaluate(formula, a, right)
            parts = (left, right, *sides)
        return sides, np.logical_and.reduce([np.isfinite(part) for part in parts])


def _breaks(formula: Formula, given: Operands) -> Bools:
    """Which operands break a law."""
    (left, right), finite = _sides(formula, given)
    differs: Bools = finite & (left != right)
    if left.dtype.kind != "f":
        return differs
    chosen = np.flatnonzero(differs)
    if len(chosen) > _LOOKED_AT:
        chosen = chosen[np.argsort(-_relative(left, right, given, chosen))[:_LOOKED_AT]]
    differs[:] = False
    some = tuple(side[chosen] for side in given)
    far = _relative(left, right, given, chosen) > _FAR[left.dtype.itemsize]
    differs[chosen] = _differ_unrounded(formula, some, as_rounded=False)
    differs[chosen] |= far & _differ_unrounded(formula, some, as_rounded=True)
    return differs


def _relative(left: Array, right: Array, given: Operands, chosen: Array) -> Array:
    """By how much results differ, as a part of the largest number at hand."""
    parts = [side[chosen].astype(np.float64) for side in (left, right, *given)]
    apart = np.abs(parts[0] - parts[1])
    return np.asarray(apart / np.max(np.abs(parts), axis=0))


def _differ_unrounded(formula: Formula, given: Operands, *, as_rounded: bool) -> Bools:
    """Which results would differ without rounding; `as_rounded` takes a formula's numbers for what
    they are in their type."""
    sides = [exactly(side) for side in given]

    def f(own: Known, received: Known) -> Known:
        return unrounded(formula, own, received, as_rounded=as_rounded)

    if len(sides) == 2:
        a, b = sides
        return f(a, b).differs(f(b, a))
    a, b, c = sides
    return f(f(a, b), c).differs(f(a, f(b, c)))


def _simplified(formula: Formula, element: str, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands that break the law as well, each replaced by plainer ones as long as that goes."""
    numbers = Numbers(element)
    for _ in range(3):
        before = found
        for place, value in enumerate(found):
            others = _plainer(numbers, value, found)
            columns = [np.full(len(others), operand) for operand in found]
            columns[place] = others
            breaking = others[_breaks(formula, tuple(columns))]
            best = min((value, *breaking), key=lambda n: _effort((n,)))
            found = (*found[:place], best, *found[place + 1 :])
        if found == before:
            break
    return found


def _plainer(numbers: Numbers, value: Any, beside: tuple[Any, ...]) -> Array:  # noqa: ANN401
    """Small numbers, the other operands, and the number with fewer digits."""
    exact = float(value)
    shorter = []
    for digits in range(1, 8):
        unit = 10.0 ** (np.floor(np.log10(abs(exact) or 1.0)) - digits + 1)
        shorter += [unit * round_(exact / unit) for round_ in (np.floor, np.ceil)]
    small = [0, 1, 2, 3, 4, 5, 7, 8, 10, 100, 1000, *([0.5, 0.25] if numbers.floats else [])]
    beside_it = [float(other) for other in beside]
    shorter = [float(f"{n:.7g}") for n in shorter]
    return numbers.fitting([*small, *(-n for n in small), *beside_it, *shorter])


def _effort(operands: tuple[Any, ...]) -> tuple[int, float, bool]:
    """How hard operands are to read: their digits, then their size."""
    text = sum(len(str(operand).removesuffix(".0")) for operand in operands)
    return text, float(max(abs(float(n)) for n in operands)), any(n < 0 for n in operands)


def _not_commutative(operation: OwnOperation, a: Any, b: Any) -> ProblemError:  # noqa: ANN401
    name = operation.value
    x, y = (_result(operation, *pair) for pair in ((a, b), (b, a)))
    message = (
        f"{name} is not commutative: {name}({a!s}, {b!s}) = {x!s}, {name}({b!s}, {a!s}) = {y!s}"
    )
    return problem("C163", message, operation.span, help="leave `commutative` out")


def _not_associative(operation: OwnOperation, a: Any, b: Any, c: Any) -> ProblemError:  # noqa: ANN401
    name = operation.value
    left = _result(operation, _result(operation, a, b), c)
    right = _result(operation, a, _result(operation, b, c))
    message = f"{name} is not associative: {name}({name}({a!s}, {b!s}), {c!s}) = {left!s}, "
    message += f"{name}({a!s}, {name}({b!s}, {c!s})) = {right!s}"
    help = (
        "combine by an operation whose result does not depend on the grouping (for a mean `add`, "
    )
    help += "and scale the result); if the vectors never hold such elements, or results may depend "
    help += "on the tree, write `assume associative` before the `=`"
    return problem("C163", message, operation.span, help=help)


def _result(operation: OwnOperation, a: Any, b: Any) -> Any:  # noqa: ANN401
    with np.errstate(all="ignore"):
        return evaluate(operation.formula, np.asarray(a)[None], np.asarray(b)[None])[0]
