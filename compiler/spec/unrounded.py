"""What an operation on floats would give if nothing were rounded, as far as that is known.

`unrounded` follows a formula in intervals: each holds what is computed, and what would have been
without rounding, by this operation and by those that its operands come from. Exact sums and
products widen nothing, so with numbers of few digits the result is known exactly. Where rounding
may have decided a comparison, the interval holds what either answer gives.

The rules are those of interval arithmetic (Moore, Kearfott, Cloud, Introduction to Interval
Analysis, 2009, chapters 2 and 3), in float64 rounded outward.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from collc.base.columns import Array, Bools
from collc.base.values import dataclass
from collc.spec.formula import (
    ARITHMETIC,
    BOOL,
    DTYPE_OF_NUMBER,
    FLOATS,
    Formula,
    Node,
    values_of_nodes,
)

_FEW_DIGITS = 256  # spacings of which a number is a multiple if it needs fewer digits than it has


@dataclass(frozen=True, eq=False)
class Known:
    """Elements as they are computed, and between which float64s they would be unrounded. Of a
    condition `low` says whether it certainly holds, `high` whether it may."""

    value: Array
    low: Array
    high: Array

    def differs(self, other: Known) -> Bools:
        """Which elements differ from the other's whatever is rounded."""
        return np.asarray((self.high < other.low) | (other.high < self.low))


def exactly(values: Array) -> Known:
    """Elements that are given."""
    wide = values.astype(np.float64)
    return Known(values, wide, wide)


def unrounded(formula: Formula, own: Known, received: Known, *, as_rounded: bool) -> Known:
    """The result of a formula on floats, whose operands have one shape.

    A number such as 0.1 stands in sums and products for every number that is rounded to it, unless
    it is taken `as_rounded`.
    """
    given = {"own": own, "received": received}
    known: list[Known] = []
    with np.errstate(all="ignore"):
        values = values_of_nodes(formula, own.value, received.value)
        for node, value in zip(formula, values, strict=True):
            if node.kind in given:
                known.append(given[node.kind])
                continue
            of = [known[index] for index in node.of]
            if node.kind in ARITHMETIC and not as_rounded:
                written = (formula[index] for index in node.of)
                of = [_as_written(*pair) for pair in zip(written, of, strict=True)]
            known.append(_known(node, value, of))
    return known[-1]


def _as_written(node: Node, known: Known) -> Known:
    """A number of the formula, or what may have been rounded to it."""
    if node.kind != "constant" or node.type not in FLOATS:
        return known
    spacing = float(np.spacing(DTYPE_OF_NUMBER[node.type](abs(node.value))))
    whole = spacing <= 1 and node.value % 1 == 0
    if whole or node.value % (_FEW_DIGITS * spacing) == 0:
        return known
    return Known(known.value, known.low - spacing / 2, known.high + spacing / 2)


def _known(node: Node, value: Array, of: list[Known]) -> Known:
    if node.type == BOOL:
        return Known(value, *_condition(node, of))
    if node.kind == "constant":
        return exactly(value)
    low, high = _number(node, of)
    wide = value.astype(np.float64)
    return Known(
        value,
        np.where(np.isnan(low), -np.inf, np.fmin(low, wide)),
        np.where(np.isnan(high), np.inf, np.fmax(high, wide)),
    )


def _condition(node: Node, of: list[Known]) -> tuple[Array, Array]:
    """Whether a condition certainly holds, and whether it may."""
    if node.kind == "not":
        return ~of[0].high, ~of[0].low
    one, other = of
    match node.kind:
        case "and":
            return one.low & other.low, one.high & other.high
        case "or":
            return one.low | other.low, one.high | other.high
        case "<" | "<=":
            return _COMPARED[node.kind](one, other)
        case ">" | ">=":
            return _COMPARED[node.kind.replace(">", "<")](other, one)
    equal = (one.high <= other.low) & (one.low >= other.high)
    meet = (one.low <= other.high) & (other.low <= one.high)
    return (equal, meet) if node.kind == "==" else (~meet, ~equal)


_COMPARED: dict[str, Callable[[Known, Known], tuple[Array, Array]]] = {
    "<": lambda one, other: (one.high < other.low, one.low < other.high),
    "<=": lambda one, other: (one.high <= other.low, one.low <= other.high),
}


def _number(node: Node, of: list[Known]) -> tuple[Array, Array]:
    """Between which numbers the result of a node would be unrounded; NaN where nothing is known."""
    if node.kind == "choose":
        return _chosen(*of)
    if node.type not in FLOATS:
        unknown = np.logical_or.reduce([one.low != one.high for one in of])
        return np.where(unknown, -np.inf, np.inf), np.where(unknown, np.inf, -np.inf)
    if node.kind == "negate":
        return -of[0].high, -of[0].low
    if node.kind == "cast":
        return of[0].low, of[0].high
    return _OF_TWO[node.kind](*of)


def _chosen(condition: Known, chosen: Known, otherwise: Known) -> tuple[Array, Array]:
    return (
        np.where(
            condition.low,
            chosen.low,
            np.where(condition.high, np.minimum(chosen.low, otherwise.low), otherwise.low),
        ),
        np.where(
            condition.low,
            chosen.high,
            np.where(condition.high, np.maximum(chosen.high, otherwise.high), otherwise.high),
        ),
    )


def _sum(one: Array, other: Array) -> tuple[Array, Array]:
    """A sum rounded down and up; what is lost in it is found as in Knuth's TwoSum, and no number
    where the sum leaves the range of a float64: it is then beyond the largest."""
    found = one + other
    part = found - one
    lost = (one - (found - part)) + (other - part)
    return (
        np.where(lost >= 0, found, np.nextafter(found, -np.inf)),
        np.where(lost <= 0, found, np.nextafter(found, np.inf)),
    )


def _product(one: Array, other: Array) -> tuple[Array, Array]:
    """A product rounded down and up; that of two numbers of 24 digits each is exact."""
    found = one * other
    exact = (one.astype(np.float32) == one) & (other.astype(np.float32) == other)
    return (
        np.where(exact, found, np.nextafter(found, -np.inf)),
        np.where(exact, found, np.nextafter(found, np.inf)),
    )


def _least_and_most(one: Known, other: Known) -> tuple[Array, Array]:
    """A product of intervals: the least and the largest of those of their ends."""
    ends = [_product(x, y) for x in (one.low, one.high) for y in (other.low, other.high)]
    lows, highs = zip(*ends, strict=True)
    return np.minimum.reduce(lows), np.maximum.reduce(highs)


_OF_TWO: dict[str, Callable[[Known, Known], tuple[Array, Array]]] = {
    "min": lambda a, b: (np.minimum(a.low, b.low), np.minimum(a.high, b.high)),
    "max": lambda a, b: (np.maximum(a.low, b.low), np.maximum(a.high, b.high)),
    "add": lambda a, b: (_sum(a.low, b.low)[0], _sum(a.high, b.high)[1]),
    "sub": lambda a, b: (_sum(a.low, -b.high)[0], _sum(a.high, -b.low)[1]),
    "mul": _least_and_most,
}
