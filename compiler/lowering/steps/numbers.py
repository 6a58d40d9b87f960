"""One number for each of several places, as a formula of the place if there is one."""

from __future__ import annotations

from functools import reduce
from math import gcd

import numpy as np

from collc.lowering.steps.traffic import Ints
from collc.plan import Number

LARGEST = 0xFFFF  # the formulas are evaluated with 16 bits


def number_of(places: Ints, values: Ints, modulus: int) -> Number:
    """A number with `values[i]` at `places[i]`, which are ascending. Numbers below `modulus` may be
    remainders by it; a table is as long as its period.
    """
    if (values == values[0]).all():
        return Number(int(values[0]))
    divisor = reduce(gcd, np.diff(places).tolist())
    index = places // divisor
    slope = (int(values[1]) - int(values[0])) // int(index[1] - index[0])
    for modulo, by in ((0, slope), (modulus, slope), (modulus, slope % modulus)):
        for step in (by, by - modulo) if modulo else (by,):
            found = _affine(index, values, step, modulo, divisor)
            if found is not None:
                return found
    return Number(0, divisor=divisor, table=_table(index, values))


def _affine(index: Ints, values: Ints, slope: int, modulus: int, divisor: int) -> Number | None:
    """The number slope * index + offset, by `modulus` if that is not 0, within 0..LARGEST."""
    offset = int(values[0] - slope * index[0])
    if modulus:
        offset %= modulus
        least = min(0, slope * int(index[-1]))
        offset += -(-max(0, -(least + offset)) // modulus) * modulus
    line = slope * index + offset
    reached = max(offset, int(line.max()), abs(slope) * int(index[-1]))
    if reached > LARGEST or int(line.min()) < 0 or offset < 0:
        return None
    if ((line % modulus if modulus else line) == values).all():
        return Number(offset, slope, divisor, modulus)
    return None


def _table(index: Ints, values: Ints) -> tuple[int, ...]:
    """The shortest period that fits; entries that no place asks for are 0."""
    span = int(index[-1]) + 1
    periods = sorted({*range(2, min(span, 9)), *_sizes(span)})
    for period in (*periods, span):
        table = np.zeros(period, dtype=np.int64)
        table[index % period] = values
        if (table[index % period] == values).all():
            break
    return tuple(table.tolist())


def _sizes(span: int) -> set[int]:
    """Powers of two, and three times them, below `span`."""
    powers = {1 << bit for bit in range(1, span.bit_length())}
    return {size for power in powers for size in (power, 3 * power // 2) if 2 <= size < span}
