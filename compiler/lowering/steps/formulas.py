"""Columns of numbers, one for each of several places, as formulas of the place."""

import numpy as np

from collc.base.columns import Bools, Ints
from collc.lowering.steps.numbers import number_of
from collc.plan import Number

Formulas = dict[bytes, Number]  # those found so far, by places, values and which of them are used
LARGEST = np.iinfo(np.int64).max


def formulas_of(
    places: Ints, columns: Ints, used: Bools, modulus: int, formulas: Formulas
) -> list[Number]:
    """Each of [places, columns] as a formula of the place, as far as it is `used`; numbers below
    `modulus` may be remainders by it."""
    least = np.where(used, columns, LARGEST).min(axis=0)
    most = np.where(used, columns, 0).max(axis=0)
    constants = {value: Number(value) for value in set(most.tolist())}
    found = [constants[value] for value in most.tolist()]
    varying = np.flatnonzero(least < most)
    if not len(varying):
        return found
    used = np.ascontiguousarray(used[:, varying].T)
    values = np.where(used, columns[:, varying].T, 0)
    for column, own, where in zip(varying.tolist(), values, used, strict=True):
        key = places.tobytes() + own.tobytes() + where.tobytes()
        if key not in formulas:
            formulas[key] = number_of(places, own, modulus, where)
        found[column] = formulas[key]
    return found
