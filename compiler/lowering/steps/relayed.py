"""Parts of relay lanes, laid in compiled loops: every transfer at all places on its way, made one
with its neighbours there at once. Of a quarter of a million transfers between 512 places there
would be 45 million parts otherwise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collc.compiled import compiled

Ints = npt.NDArray[np.int64]

# what is given of a transfer, or of something that is done at one place: the slot (lane of a place)
# where it begins, the distance to the next slot on its way and how many there are behind the first,
# its time; then kind, first and count of the part at the beginning, of those between, at the end
SLOT, STEP, HOPS, TIME, BEGINNING, BETWEEN, END, GIVEN = 0, 1, 2, 3, 4, 7, 10, 13
PART = 4  # numbers of a part: time, kind, first, count


@compiled
def lay(  # noqa: PLR0913, PLR0917 - what, how it joins, then where it goes
    given: Ints, way: int, most: int, by_length: bool, begin: Ints, parts: Ints
) -> Ints:
    """How many parts every slot has. If there is room for `parts`, [parts, PART], they are written
    there, those of a slot from `begin` on.

    What is `given` stands in the order in which lanes do it. A part is joined to the one before it
    in its slot if that has the same time and kind and its slices follow, up (`way` 1) or down (-1).
    Those between join whatever their slices are, unless a multiple of `most` elements has been
    passed since the first of them; `by_length` they are like all others. `most` is positive.
    """
    counts = np.zeros(len(begin), np.int64)
    # of the part before: time, kind, first, count, what was passed before, how often `most` of it
    last = np.full((len(begin), PART + 2), -1)
    for one in range(len(given)):
        slot, hops, time = given[one, SLOT], given[one, HOPS], given[one, TIME]
        for hop in range(hops + 1):
            passes = hop > 0 and hop < hops
            at = END if hop == hops else BETWEEN if passes else BEGINNING
            kind, first, count = given[one, at], given[one, at + 1], given[one, at + 2]
            joins = last[slot, 0] == time and last[slot, 1] == kind
            passed = last[slot, 4] + last[slot, 3] if joins else 0
            filled = passed // most
            if passes and not by_length:
                joins = joins and filled == last[slot, 5]
            elif way > 0:
                joins = joins and last[slot, 2] + last[slot, 3] == first
            else:
                joins = joins and first + count == last[slot, 2]
            if not joins:
                counts[slot] += 1
            if len(parts):
                _write(parts, begin[slot] + counts[slot] - 1, joins, (time, kind, first, count))
            last[slot, 0], last[slot, 1], last[slot, 2] = time, kind, first
            last[slot, 3], last[slot, 4], last[slot, 5] = count, passed, filled
            slot += given[one, STEP]
    return counts


@compiled
def _write(parts: Ints, at: int, joins: bool, part: tuple[int, int, int, int]) -> None:
    """Write a part, or make it one with what is there."""
    time, kind, first, count = part
    if joins:
        parts[at, 2] = min(parts[at, 2], first)
        parts[at, 3] += count
    else:
        parts[at, 0], parts[at, 1], parts[at, 2], parts[at, 3] = time, kind, first, count
