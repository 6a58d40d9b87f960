"""Whether an algorithm combines neighbouring ranges of ranks only.

If every partial result covers consecutive ranks, the lower operand can be put first, and the
algorithm serves operations that do not commute.
"""

from __future__ import annotations

from collc.spec import Algorithm

Range = tuple[int, int]


def keeps_rank_order(algorithm: Algorithm) -> bool:
    """Follow the range of ranks in every slice of every vector."""
    held: dict[tuple[int, int], Range] = {
        (rank, part): (rank, rank)
        for rank in range(algorithm.ranks)
        for part in range(algorithm.slices)
    }
    for moves in algorithm.steps:
        before = dict(held)
        columns = (moves.source, moves.destination, moves.slice, moves.count, moves.combines)
        for source, destination, first, count, combines in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            for part in range(first, first + count):
                arrived = before[source, part]
                if not combines:
                    held[destination, part] = arrived
                    continue
                joined = _joined(arrived, held[destination, part])
                if joined is None:
                    return False
                held[destination, part] = joined
    return True


def _joined(one: Range, other: Range) -> Range | None:
    """Two ranges that follow each other as one."""
    low, high = sorted((one, other))
    return (low[0], high[1]) if low[1] + 1 == high[0] else None
