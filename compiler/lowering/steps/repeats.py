"""Rows that repeat, found in compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collc.compiled import compiled

Ints = npt.NDArray[np.int64]

ANY, NONE = -1, -2  # shifts: whatever it is, there is none


@compiled
def repeats(rows: Ints, longest: int, slices: int, out: int, into: int) -> tuple[Ints, Ints]:
    """For each size of a group of rows, up to the `longest`, less one: [size, places, row], by how
    many slices a row goes on in the row that is `size` behind it, as far as there is one; and
    [size, row], the first one behind it that does not go on by the same shift as all between do, at
    some place, or 0. Rows with a bit of `out` and of `into` say which slices they put out and take.
    """
    places, total, _ = rows.shape
    shift = np.full((longest, places, total), ANY)
    end = np.zeros((longest, total), np.int64)
    for size in range(1, min(longest, total - 1) + 1):
        own = shift[size - 1, :, : total - size]
        _shifts(rows, size, slices, (out, into), own)
        _ends(own, end[size - 1, : total - size])
    return shift, end


@compiled
def _shifts(rows: Ints, size: int, slices: int, bits: tuple[int, int], found: Ints) -> None:
    """Find how many slices rows go on by; `found` has room for those with one `size` behind."""
    out, into = bits
    for place in range(found.shape[0]):
        for row in range(found.shape[1]):
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


@compiled
def _ends(shift: Ints, found: Ints) -> None:
    """Find up to where rows go on by the same shift at all places."""
    places, columns = shift.shape
    found[:] = columns
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
