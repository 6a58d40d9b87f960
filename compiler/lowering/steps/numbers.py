"""One number for each of several places, as a formula of the place if there is one.

Three kinds of formulas are tried: a line; a table with a period; a line over groups of places plus
a table within and among them, which is what partners that differ in one binary digit need.
"""

from collections.abc import Iterator
from functools import reduce
from math import gcd

import numpy as np
from collc_evaluator import first_period

from collc.base.columns import Bools, Ints
from collc.plan import Number

LARGEST = 0xFFFF  # the formulas are evaluated with 16 bits
SHORT = 4  # entries of a table that is good enough


def number_of(places: Ints, values: Ints, modulus: int, used: Bools | None = None) -> Number:
    """A number with `values[i]` at `places[i]`, which are ascending, as far as they are `used`.
    Numbers below `modulus` may be remainders by it; a table is as long as its period. At all
    places it is a number of 16 bits, with room for a slice.
    """
    last = int(places[-1])
    if used is not None:
        places, values = places[used], values[used]
    if not len(places) or (values == values[0]).all():
        return Number(int(values[0]) if len(places) else 0)
    most = LARGEST - modulus
    return _line(places, values, modulus, last, most) or _shortest_table(places, values, last, most)


def _line(places: Ints, values: Ints, modulus: int, last: int, most: int) -> Number | None:
    """A line, or the remainder of one."""
    divisor = _distance(places)
    index = places // divisor
    slope = (int(values[1]) - int(values[0])) // int(index[1] - index[0])
    for modulo, by in ((0, slope), (modulus, slope), (modulus, slope % max(modulus, 1))):
        for step in (by, by - modulo) if modulo else (by,):
            found = _affine(index, values, step, modulo, last // divisor, most)
            if found is not None:
                return Number(*found, divisor, modulo)
    return None


def _distance(places: Ints) -> int:
    """The greatest distance of which all distances are multiples; 1 for a place alone."""
    return max(reduce(gcd, np.diff(places).tolist(), 0), 1)


def _affine(  # noqa: PLR0913, PLR0917 - the points, the line, its limits
    index: Ints, values: Ints, slope: int, modulus: int, last: int, most: int
) -> tuple[int, int] | None:
    """Offset and slope of the line through all points, if it stays within 0 to `most` up to index
    `last`."""
    offset = int(values[0] - slope * index[0])
    if modulus:
        offset %= modulus
        least = min(0, slope * last)
        offset += -(-max(0, -(least + offset)) // modulus) * modulus
    ends = (offset, offset + slope * last)
    if min(ends) < 0 or max(ends) > most or abs(slope) * last > most:
        return None
    line = slope * index + offset
    return (offset, slope) if ((line % modulus if modulus else line) == values).all() else None


def _shortest_table(places: Ints, values: Ints, last: int, most: int) -> Number:
    """A table, or a line over groups of places and a table, whichever has fewer entries."""
    every, table = _table(places, values)
    best = Number(0, every=every, table=table)
    if len(table) <= SHORT:
        return best
    for group, slope in _groups(places, values):
        reached = abs(slope) * (last // group)
        offset = reached if slope < 0 else 0
        rest = values - (slope * (places // group) + offset)
        if rest.min() < 0 or reached + int(rest.max()) > most:
            continue
        every, table = _table(places, rest)
        if len(table) + 1 < len(best.table):
            best = Number(offset, slope, group, every=every, table=table)
    return best


def _groups(places: Ints, values: Ints) -> Iterator[tuple[int, int]]:
    """Sizes of groups, and by how much numbers may go on from group to group."""
    rise = round(int(values[-1] - values[0]) / int(places[-1] - places[0]))
    for bit in range(1, int(places[-1]).bit_length()):
        for slope in sorted({1, -1, rise} - {0}):
            yield 1 << bit, slope << bit


def _table(places: Ints, values: Ints) -> tuple[int, tuple[int, ...]]:
    """How many places share an entry, and the shortest period that fits; entries that no place asks
    for are 0."""
    every = _shared(places, values)
    index = places // every
    span = int(index[-1]) + 1
    periods = sorted({*range(2, min(span, 9)), *_sizes(span)})
    period = first_period(index, values, [*periods, span]) or span
    table = np.zeros(period, dtype=np.int64)
    table[index % period] = values
    return every, tuple(table.tolist())


def _shared(places: Ints, values: Ints) -> int:
    """How many places that follow each other may share an entry."""
    distance = _distance(places)
    changes = values[1:] != values[:-1]
    apart = reduce(gcd, places[1:][changes].tolist(), 0)
    powers = (distance << bit for bit in range(int(places[-1]).bit_length(), 0, -1))
    for every in (apart, *powers):
        group = places // max(every, 1)
        if every > distance and not (changes & (group[1:] == group[:-1])).any():
            return every
    return distance


def _sizes(span: int) -> set[int]:
    """Powers of two, and three times them, below `span`."""
    powers = {1 << bit for bit in range(1, span.bit_length())}
    return {size for power in powers for size in (power, 3 * power // 2) if 2 <= size < span}
