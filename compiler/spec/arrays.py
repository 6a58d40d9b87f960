"""Vectors as NumPy has them, and its ways to combine them."""

from functools import partial, reduce
from typing import Any

import numpy as np

from collc.base.columns import Array
from collc.spec import ElementType, Operation
from collc.spec.formula import DTYPE_OF_NUMBER

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
    ufunc = operation.facts.ufunc
    if not operation.of_pairs:
        return np.asarray(ufunc(own, received, dtype=own.dtype))
    ties = (own["value"] == received["value"]) & (received["index"] < own["index"])
    return np.where(ufunc(received["value"], own["value"]) | ties, received, own)


def reduced(operation: Operation, operands: Array) -> Array:
    """All operands, [count, ...], combined in their order, in their type."""
    if operation.of_pairs:
        return reduce(partial(combine, operation), operands)
    return np.asarray(operation.facts.ufunc.reduce(operands, axis=0, dtype=operands.dtype))


def words_of(vectors: Array) -> Array:
    """The words of vectors one after the other, as they are copied to and from PEs."""
    flat = np.ascontiguousarray(vectors).reshape(-1)
    return flat.view(np.uint32) if vectors.dtype.names else flat
