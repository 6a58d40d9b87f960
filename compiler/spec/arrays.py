"""Vectors as NumPy has them, and its ways to combine them."""

from functools import partial, reduce
from typing import Any

import numpy as np

from collc.base.columns import Array, Bools
from collc.spec import ElementType, Operation
from collc.spec.formula import DTYPE_OF_NUMBER, takes

DTYPE: dict[ElementType, np.dtype[Any]] = {
    one: np.dtype(
        [("value", DTYPE_OF_NUMBER[one.pair_of.value]), ("index", np.uint32)]
        if one.pair_of
        else DTYPE_OF_NUMBER[one.value]
    )
    for one in ElementType
}


def combine(operation: Operation, own: Array, received: Array) -> Array:
    """Own elements combined with received ones, in their type. Of two pairs one is chosen: the
    larger (smaller) value, of equal ones the lower index."""
    facts = operation.facts
    if operation.of_pairs:
        values = (in_order(facts.chooses, pairs["value"]) for pairs in (own, received))
        first, second = values
        lower = (first == second) & (received["index"] < own["index"])
        return np.where(takes(facts.chooses, first, second) | lower, received, own)
    if facts.chooses and own.dtype.kind == "f":
        return np.where(takes(facts.chooses, own, received), received, own)
    return np.asarray(facts.ufunc(own, received, dtype=own.dtype))


def in_order(chooses: str, values: Array) -> Array:
    """Integers that compare as the values of pairs do: of floats, -0.0 is below 0.0, and a NaN is
    where it is not chosen before a number; of several their bits decide."""
    if values.dtype.kind != "f":
        return values
    bits = values.view(np.int32)
    rising = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    beyond = np.int32(0x7FFFFF)  # so many NaN are at either end
    return rising + beyond if chooses == "max" else rising - beyond


def reduced(operation: Operation, operands: Array) -> Array:
    """All operands, [count, ...], combined in their order, in their type."""
    if operation.facts.chooses and operands.dtype.kind not in "iu":
        return reduce(partial(combine, operation), operands)
    return np.asarray(operation.facts.ufunc.reduce(operands, axis=0, dtype=operands.dtype))


def same(one: Array, other: Array) -> Bools:
    """Which elements are equal bit by bit, but that every NaN is equal to every other."""
    if one.dtype.names:
        found = same(one["value"], other["value"]) & (one["index"] == other["index"])
        return np.asarray(found)
    bits = f"u{one.dtype.itemsize}"
    equal = one.view(bits) == other.view(bits)
    if one.dtype.kind == "f" and not equal.all():
        equal |= np.isnan(one) & np.isnan(other)
    return np.asarray(equal)


def words_of(vectors: Array) -> Array:
    """The words of vectors one after the other, as they are copied to and from PEs."""
    flat = np.ascontiguousarray(vectors).reshape(-1)
    return flat.view(np.uint32) if vectors.dtype.names else flat
