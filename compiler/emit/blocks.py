"""The first word of a line's block as an expression of the line's coordinate."""

from collc.spec.exchange import Blocks


def first_of_block(blocks: Blocks, line: str, words: int) -> str:
    """What a layout computes for the lines at coordinate `line`; lines stand in their order, the
    other way round, or as a ring, and elements have so many words."""
    count = len(blocks.lines)
    rank = _rank(blocks.lines, line)
    if blocks.length % count == 0:
        return f"({rank} * {blocks.length // count * words})"
    first = f"@as(u16, ((@as(u32, {rank}) * {blocks.length}) / {count}))"
    return first if words == 1 else f"({first} * {words})"


def _rank(lines: tuple[int, ...], line: str) -> str:
    """The block of the line at a coordinate."""
    count = len(lines)
    ranks = {coordinate: rank for rank, coordinate in enumerate(lines)}
    forward, backward = line, f"({count - 1} - {line})"
    half = f"({line} / 2)"
    if all(rank == at for at, rank in ranks.items()):
        return forward
    if all(rank == count - 1 - at for at, rank in ranks.items()):
        return backward
    folded = {at: at // 2 if at % 2 == 0 else count - 1 - at // 2 for at in range(count)}
    assert ranks == folded, "an order of lines that there is"
    return f"(if (({line} % 2) == 0) {half} else ({count - 1} - {half}))"
