"""Tables as text."""

from collections.abc import Container, Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> Iterator[str]:
    """Rows of as many cells as lines, cells below each other, those of some columns at their right
    ends."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        placed = (c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(cells))
        yield "  ".join(placed).rstrip()
