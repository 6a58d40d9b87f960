"""Rows that repeat, found in compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collc.compiled import compiled

Ints = npt.NDArray[np.int64]

ANY, NONE = -1, -2  # shifts: whatever it is, there is none


@compiled
def shifts(rows: Ints, size: int, slices: int, out: int, into: int) -> Ints:
    """[places, rows - size]: by how many slices a row goes on in the row `size` behind it. Rows
    with a bit of `out` and of `into` say which slices they put out and take."""
    places, total, _ = rows.shape
    found = np.full((places, max(total - size, 0)), ANY)
    for place in range(places):
        for row in range(total - size):
            one, other = rows[place, row], rows[place, row + size]
            if one[0] != other[0] or one[2] != other[2] or one[4] != other[4]:
                found[place, row] = NONE
                continue
            if one[0] & out:
                found[place, row] = (other[1] - one[1]) % slices
            if one[0] & into:
                shift = (other[3] - one[3]) % slices
                if found[place, row] == ANY:
                    found[place, row] = shift
                elif found[place, row] != shift:
                    found[place, row] = NONE
    return found


@compiled
def ends(shift: Ints) -> Ints:
    """For each row, the first one behind it that does not go on by the same shift as all between
    do, at some place."""
    places, columns = shift.shape
    found = np.full(columns, columns)
    for place in range(places):
        following = columns  # the next row in which a shift is known
        for row in range(columns - 1, -1, -1):
            own = shift[place, row]
            if own == NONE:
                found[row] = row
            elif own >= 0:
                # a known shift is broken by the next known one, if that is another
                if following < columns and shift[place, following] != own:
                    found[row] = min(found[row], following)
                following = row
    for row in range(columns - 2, -1, -1):
        found[row] = min(found[row], found[row + 1])
    return found
