"""The words of a text, each with the comments beside it."""

from collections.abc import Iterator, Sequence

from lark import Token

from collc.base.values import dataclass
from collc.language.parser import lexed, pieces
from collc.language.source import with_escapes


@dataclass(frozen=True)
class Comment:
    """A comment on a line of its own."""

    text: str
    after_blank: bool


@dataclass(frozen=True)
class Piece:
    """A word or sign; `kind` is its name in the grammar, empty for the end of the text."""

    kind: str
    text: str
    above: tuple[Comment, ...]  # on lines of their own before it
    starts_line: bool
    after_blank: bool
    beside: str  # a comment behind it on the same line
    gap: str = ""  # what the one style has between it and the word before


def pieces_of(text: str) -> tuple[tuple[Piece, ...], ...]:
    """The words of each declaration; the last group is the end of the text, with what is above
    it."""
    text = text.removeprefix("\ufeff") + "\n"
    tokens = lexed(text)
    read = iter(_with_comments(text, tokens))
    groups = [tuple(next(read) for _ in piece) for piece, _ in pieces(tokens)]
    return (*groups, tuple(read))


def _with_comments(text: str, tokens: Sequence[Token]) -> Iterator[Piece]:
    """All words, and the end of the text."""
    bounds = [0]
    for token in tokens:
        assert token.start_pos is not None and token.end_pos is not None
        bounds += [token.start_pos, token.end_pos]
    gaps = [text[a:b] for a, b in zip(bounds[::2], [*bounds[1::2], len(text)], strict=True)]
    read = [_gap(gap, first=i == 0) for i, gap in enumerate(gaps)]
    besides = [beside for beside, _, _, _ in read[1:]]
    for token, (_, above, starts, blank), beside in zip(tokens, read[:-1], besides, strict=True):
        yield Piece(token.type, str(token), above, starts, blank, beside)
    _, above, starts, blank = read[-1]
    yield Piece("", "", above, starts, blank, "")


def _gap(gap: str, *, first: bool) -> tuple[str, tuple[Comment, ...], bool, bool]:
    """What is between two words: the comment behind the one, those above the other, whether that
    begins a line, and whether a blank line is right before it."""
    rows = [with_escapes(row.strip()) for row in gap.split("\n")]
    beside = "" if first else rows.pop(0)
    above, blank = [], False
    for row in rows[:-1]:  # the last one is what is before the word on its line
        if row:
            above.append(Comment(row, blank))
        blank = not row
    return beside, tuple(above), first or bool(rows), blank
