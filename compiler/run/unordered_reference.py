"""What vectors give when they are combined in any order, as far as their type rounds.

What is never rounded is the same in every order. A sum is off by at most half a step of the type
for each operand, of the sizes of all of them, since a partial sum may be larger than the whole; a
product is so by parts of its own size. Partial results that leave the type's range end anywhere;
where none can, infinities and NaN among the operands decide in every order alike.

An operation of the user's own is taken to be the same in every order where the language has tried
it: on integers, and where it chooses one of two floats. Where it rounds, or depends on the order of
its operands, nothing is said.
"""

from functools import partial, reduce

import numpy as np

from collc.base.columns import Array, Bools
from collc.base.values import dataclass
from collc.spec import Operation, OwnOperation
from collc.spec.arrays import reduced, same
from collc.spec.formula import evaluate, only_chooses

_MOST_AT_ONCE = 1 << 26  # bytes of operands, whose copies in wider arithmetic take four times that


@dataclass(frozen=True, eq=False)
class InAnyOrder:
    """`plain` is the result of one order, [length]; that of another is as far from it as `most`,
    which is infinite where it may be anything, and None where no order rounds."""

    plain: Array
    most: Array | None

    def allows(self, results: Array) -> Bools:
        """Which of the results, [..., length], may be those of some order."""
        if self.most is None:
            return same(results, self.plain)
        alike = (results == self.plain) | (np.isnan(results) & np.isnan(self.plain))
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite ones, and far apart
            near = np.abs(results - self.plain) <= self.most
        return np.asarray(alike | near | np.isinf(self.most))


def in_any_order(operation: Operation | OwnOperation, operands: Array) -> InAnyOrder:
    """What the operands, [count, length], give."""
    if isinstance(operation, OwnOperation):
        return _of_own(operation, operands)
    floating = np.issubdtype(operands.dtype, np.floating)
    if not floating or not operation.facts.rounds:
        return InAnyOrder(reduced(operation, operands), None)
    parts = max(1, min(operands.shape[1], operands.nbytes // _MOST_AT_ONCE))
    found = [_rounded(operation, part) for part in np.array_split(operands, parts, axis=1)]
    return InAnyOrder(*(np.concatenate(of_parts) for of_parts in zip(*found, strict=True)))


def _of_own(operation: OwnOperation, operands: Array) -> InAnyOrder:
    exact = operands.dtype.kind != "f" or only_chooses(operation.formula)
    if operation.assumed_associative or not operation.commutative or not exact:
        return InAnyOrder(operands[0], np.full(operands.shape[1:], np.inf))
    return InAnyOrder(reduce(partial(evaluate, operation.formula), operands), None)


def _rounded(operation: Operation, operands: Array) -> tuple[Array, Array]:
    """`plain` and `most` of an operation that rounds."""
    ufunc = operation.facts.ufunc
    info = np.finfo(operands.dtype)
    nowhere = np.isnan(operands).any(axis=0)  # a number in no order
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        exact = operands.astype(np.float64)
        plain = ufunc.reduce(exact, axis=0)
        finite = np.isfinite(exact)
        exact = np.abs(exact)
        roundings = len(operands) * float(info.eps)
        if operation is Operation.ADD:
            sizes = exact.sum(axis=0, where=finite)
            in_range = sizes * (1 + roundings) <= info.max
        else:
            sizes = np.where(np.isfinite(plain), np.abs(plain), 0)
            largest = np.multiply.reduce(exact, axis=0, where=finite & (exact > 1))
            smallest = np.multiply.reduce(exact, axis=0, where=(exact > 0) & (exact < 1))
            in_range = largest * (1 + roundings) <= info.max
            in_range &= smallest * (1 - roundings) >= info.tiny
        most = roundings * sizes
    return plain, np.where(in_range | nowhere, most, np.inf)
