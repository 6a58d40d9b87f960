"""What vectors give when they are combined in any order, as far as their type rounds.

What is never rounded is the same in every order. A sum is off by at most half a step of the type
for each operand, of the sizes of all of them, since a partial sum may be larger than the whole; a
product is so by parts of its own size. Partial results that leave the type's range end anywhere.
"""

from dataclasses import dataclass

import numpy as np

from collc.base.columns import Array, Bools
from collc.spec import Operation
from collc.spec.arrays import reduced

_MOST_AT_ONCE = 1 << 26  # bytes of operands, whose copies in wider arithmetic take four times that


@dataclass(frozen=True, eq=False)
class InAnyOrder:
    """`plain` is the result of one order, [length]; that of another is as far from it as `most`,
    which is infinite where it may be anything, and None where no order rounds."""

    plain: Array
    most: Array | None

    def allows(self, results: Array) -> Bools:
        """Which of the results, [..., length], may be those of some order."""
        same = results == self.plain
        if results.dtype.names is None:
            same |= np.isnan(results) & np.isnan(self.plain)
        if self.most is None:
            return np.asarray(same)
        with np.errstate(invalid="ignore"):  # of infinite ones, that may be anything
            near = np.abs(results - self.plain) <= self.most
        return np.asarray(same | near | np.isinf(self.most))


def in_any_order(operation: Operation, operands: Array) -> InAnyOrder:
    """What the operands, [count, length], give."""
    floating = np.issubdtype(operands.dtype, np.floating)
    if not floating or not operation.facts.rounds:
        return InAnyOrder(reduced(operation, operands), None)
    parts = max(1, min(operands.shape[1], operands.nbytes // _MOST_AT_ONCE))
    found = [_rounded(operation, part) for part in np.array_split(operands, parts, axis=1)]
    return InAnyOrder(*(np.concatenate(of_parts) for of_parts in zip(*found, strict=True)))


def _rounded(operation: Operation, operands: Array) -> tuple[Array, Array]:
    """`plain` and `most` of an operation that rounds."""
    ufunc = operation.facts.ufunc
    info = np.finfo(operands.dtype)
    exact = operands.astype(np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        plain = ufunc.reduce(exact, axis=0)
        exact = np.abs(exact)
        if operation is Operation.ADD:
            sizes = exact.sum(axis=0)
            in_range = sizes <= info.max
        else:
            sizes = np.abs(plain)
            largest = np.multiply.reduce(exact, axis=0, where=exact > 1)
            smallest = np.multiply.reduce(exact, axis=0, where=exact < 1)
            in_range = (largest <= info.max) & (smallest >= info.tiny) & ~np.isnan(plain)
        most = len(operands) * float(info.eps) * sizes
    return plain, np.where(in_range, most, np.inf)
