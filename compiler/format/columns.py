"""The lines of the output as text: comments above and beside, neighbours of one kind aligned."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from collc.base.values import dataclass
from collc.format.lines import INDENT, WIDTH, Line
from collc.format.spacing import WIDE

_ALIGNED = frozenset(("param", "each", "held", "alternative"))


@dataclass(frozen=True)
class _Row:
    """A line of text in cells, with the gap before each; `block` tells its neighbours."""

    indent: int
    cells: tuple[str, ...]
    gaps: tuple[str, ...]
    comment: str
    kind: str
    block: int

    def text(self, widths: Sequence[int]) -> str:
        """The line without its comment, cells as wide as is said."""
        wide = (c.ljust(w) for c, w in zip(self.cells, widths, strict=True))
        parts = (gap + cell for gap, cell in zip(self.gaps, wide, strict=True))
        return (" " * self.indent + "".join(parts)).rstrip()

    @property
    def widths(self) -> tuple[int, ...]:
        """How wide its cells are by themselves."""
        return tuple(map(len, self.cells))


def aligned(lines: Iterable[Line]) -> str:
    """The whole text. Blank lines are as the author has them, one at a time, none at the edge of a
    block."""
    rows = list(_rows(lines))
    while rows and rows[-1].cells == ("",):
        rows.pop()
    texts: list[tuple[_Row, str]] = []
    for _, group in groupby(rows, key=lambda row: (row.block, row.kind, row.gaps, row.indent)):
        texts += _group(tuple(group))
    printed: list[str] = []
    for _, beside in groupby(texts, key=lambda one: (one[0].block, bool(one[0].comment))):
        printed += _with_comments(tuple(beside))
    return "".join(f"{text}\n" for text in printed)


def _group(rows: tuple[_Row, ...]) -> list[tuple[_Row, str]]:
    widths = [max(column) for column in zip(*(row.widths for row in rows), strict=True)]
    together = rows[0].kind in _ALIGNED and all(len(row.text(widths)) <= WIDTH for row in rows)
    return [(row, row.text(widths if together else row.widths)) for row in rows]


def _with_comments(rows: tuple[tuple[_Row, str], ...]) -> Iterator[str]:
    if not rows[0][0].comment:
        return (text for _, text in rows)
    width = max(len(text) for _, text in rows)
    return (f"{text:<{width}}{WIDE}{row.comment}" for row, text in rows)


def _rows(lines: Iterable[Line]) -> Iterator[_Row]:
    """Lines and the comments above them; what is apart by a blank line or by such a comment is
    another block."""
    block, opened = 0, True
    for line in lines:
        first, last = line.pieces[0], line.pieces[-1]
        closes = first.text == "}"
        for comment in first.above:
            if comment.after_blank and not opened:
                yield _alone("", 0, block)
            block += 1
            yield _alone(comment.text, line.indent + INDENT * closes, block)
            opened = False
        if first.after_blank and not (opened or closes):
            yield _alone("", 0, block)
        block += bool(first.above or first.after_blank)
        if first.kind:
            yield _row(line, block)
        opened = last.text == "{"


def _alone(text: str, indent: int, block: int) -> _Row:
    """A comment on a line of its own, or a blank line."""
    return _Row(indent if text else 0, (text,), ("",), "", "", block)


def _row(line: Line, block: int) -> _Row:
    """A line of words: cut into cells where its kind is aligned."""
    cells, before = [""], [""]
    for at, piece in enumerate(line.pieces):
        if line.kind in _ALIGNED and at and _begins_cell(line, at):
            before.append(piece.gap)
            cells.append(piece.text)
        else:
            cells[-1] += (piece.gap if at else "") + piece.text
    beside = line.pieces[-1].beside
    return _Row(line.indent, tuple(cells), tuple(before), beside, line.kind, block)


def _begins_cell(line: Line, at: int) -> bool:
    """`param P = 4 | where ...`, `each r | : slice s | r -> q`, `n <= 4: | reduce ...`."""
    piece, before = line.pieces[at].text, line.pieces[at - 1].text
    if line.kind == "param":
        return piece == "where"
    if line.kind == "alternative":
        return before == ":" and ":" not in (p.text for p in line.pieces[: at - 1])
    return line.pieces[at].gap == WIDE or (
        piece == ":" and ":" not in (p.text for p in line.pieces[:at])
    )
