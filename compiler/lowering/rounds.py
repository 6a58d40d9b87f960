"""How many operations it takes to add several vectors into memory."""

from __future__ import annotations


def rounds_for(vectors: int, length: int, max_extent: int) -> int:
    """The smallest divisor k of `vectors` with `vectors / k * length <= max_extent` elements.

    If not even one vector fits, `vectors`; the check of extents refuses that plan.
    """
    fitting = (
        rounds
        for rounds in range(1, vectors + 1)
        if vectors % rounds == 0 and vectors // rounds * length <= max_extent
    )
    return next(fitting, vectors)
