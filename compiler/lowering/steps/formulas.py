"""Columns of numbers, one for each of several places, as formulas of the place."""

from __future__ import annotations

import numpy as np

from collc.lowering.steps.numbers import number_of
from collc.lowering.steps.traffic import Bools, Ints
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
    used = used[:, varying]
    values = np.where(used, columns[:, varying], 0)
    _, first, index = np.unique(
        np.concatenate((values, used)), axis=1, return_index=True, return_inverse=True
    )
    different = []
    for column in first.tolist():
        key = b"".join(part.tobytes() for part in (places, values[:, column], used[:, column]))
        if key not in formulas:
            formulas[key] = number_of(places, values[:, column], modulus, used[:, column])
        different.append(formulas[key])
    for column, at in zip(varying.tolist(), index.reshape(-1).tolist(), strict=True):
        found[column] = different[at]
    return found
