"""Whether an operation of the user's own is associative, and commutative where it is called so, as
far as samples can tell.

A reduction combines vectors in an order that the compiler chooses, so an operation that breaks the
law gives another result for every tree. Whole numbers are compared exactly; floats within rounding,
a multiple of the spacing of floats at the largest value that occurs. Samples are the same in every
run: small numbers, which meet in ties, the ends of the type, and numbers drawn at random.
"""

from itertools import product
from typing import Any

import numpy as np

from collc.base.columns import Array
from collc.language.problems import ProblemError, problem
from collc.spec import OwnOperation
from collc.spec.formula import FLOATS, INTEGERS, evaluate

_DRAWN = 2048  # triples at random, of each kind
_ROUNDINGS = 64  # spacings of floats by which results of either order may differ
_FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 7.25, -100.0)
_SMALL = (0, 1, 2, 3, 7)


def broken_law(operation: OwnOperation, *, associative: bool) -> ProblemError | None:
    """The problem of an operation that breaks a law, with a counterexample; None if no sample does.

    `associative` says whether that law is looked at: the user may have assumed it.
    """
    a, b, c = _samples(operation.element.value)
    if operation.commutative:
        found = _first_difference(_apply(operation, a, b), _apply(operation, b, a), (a, b))
        if found is not None:
            return _not_commutative(operation, a[found], b[found])
    if not associative:
        return None
    left_part, right_part = _apply(operation, a, b), _apply(operation, b, c)
    left, right = _apply(operation, left_part, c), _apply(operation, a, right_part)
    found = _first_difference(left, right, (a, b, c, left_part, right_part))
    return None if found is None else _not_associative(operation, a[found], b[found], c[found])


def _apply(operation: OwnOperation, own: Array, received: Array) -> Array:
    with np.errstate(all="ignore"):
        return evaluate(operation.formula, own, received)


def _samples(element: str) -> tuple[Array, Array, Array]:
    """Three arrays of one length, the operands of as many triples."""
    dice = np.random.default_rng(1)
    if element in FLOATS:
        dtype = np.dtype({"f32": np.float32, "f16": np.float16}[element])
        chosen = np.array(_FLOATS)
        drawn = dice.normal(size=(3, _DRAWN)) * dice.choice([0.01, 1, 10], (3, _DRAWN))
        tied = dice.integers(-3, 4, (3, _DRAWN)).astype(float)
    else:
        assert element in INTEGERS, "an operation combines numbers"
        dtype = np.dtype({"i32": "i4", "u32": "u4", "i16": "i2", "u16": "u2"}[element])
        ends = np.iinfo(dtype)
        signs = (1, -1) if ends.min < 0 else (1,)
        small = {sign * n for sign, n in product(signs, _SMALL)}
        chosen = np.array(
            sorted({*small, ends.min, ends.max, ends.max - 1, ends.max // 2 + 1}, key=_plainness)
        )
        drawn = dice.integers(ends.min, ends.max, (3, _DRAWN), endpoint=True)
        tied = dice.integers(max(ends.min, -3), 4, (3, _DRAWN))
    triples = np.array(list(product(chosen, repeat=3))).T
    a, b, c = np.concatenate([triples, tied, drawn], axis=1).astype(dtype)
    return a, b, c


def _plainness(number: int) -> tuple[int, bool]:
    # a counterexample is the first one found, so small numbers come first
    return abs(number), number < 0


def _first_difference(left: Array, right: Array, given: tuple[Array, ...]) -> int | None:
    """The first sample whose results differ, if any does; those that overflow say nothing."""
    differs = left != right
    if left.dtype.kind == "f":
        finite = np.isfinite(left) & np.isfinite(right)
        sizes = [np.abs(values) for values in (*given, left, right)]
        finite &= np.all([np.isfinite(size) for size in sizes], axis=0)
        with np.errstate(all="ignore"):
            allowed = _ROUNDINGS * np.finfo(left.dtype).eps * np.max(sizes, axis=0)
            differs = finite & (np.abs(left - right) > allowed)
    return int(np.argmax(differs)) if differs.any() else None


def _not_commutative(operation: OwnOperation, a: Any, b: Any) -> ProblemError:  # noqa: ANN401
    name = operation.value
    x, y = (_result(operation, *pair) for pair in ((a, b), (b, a)))
    message = f"{name} is not commutative: {name}({a}, {b}) = {x}, {name}({b}, {a}) = {y}"
    return problem("C163", message, operation.span, help="leave `commutative` out")


def _not_associative(operation: OwnOperation, a: Any, b: Any, c: Any) -> ProblemError:  # noqa: ANN401
    name = operation.value
    left = _result(operation, _result(operation, a, b), c)
    right = _result(operation, a, _result(operation, b, c))
    message = f"{name} is not associative: {name}({name}({a}, {b}), {c}) = {left}, "
    message += f"{name}({a}, {name}({b}, {c})) = {right}"
    help = (
        "combine by an operation whose result does not depend on the grouping (for a mean `add`, "
    )
    help += "and scale the result); if the vectors never hold such elements, or results may depend "
    help += "on the tree, write `assume associative` before the `=`"
    return problem("C163", message, operation.span, help=help)


def _result(operation: OwnOperation, a: Any, b: Any) -> Any:  # noqa: ANN401
    return _apply(operation, np.asarray(a)[None], np.asarray(b)[None])[0]
