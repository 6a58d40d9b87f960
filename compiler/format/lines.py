"""From the words of a declaration to logical lines: a clause each, whatever the author's breaks.

A block is on one line if its author began it so and it fits; otherwise every item has its own.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from collc.base.values import dataclass
from collc.format.spacing import joined, spaced
from collc.format.tokens import Piece
from collc.language.parser import words_beginning

WIDTH, INDENT = 100, 4  # columns

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class Line:
    """A line, logical or of the output: its words; `kind` is what it is aligned with."""

    indent: int
    pieces: tuple[Piece, ...]
    kind: str


def lines_of(pieces: tuple[Piece, ...]) -> Iterator[Line]:
    """The logical lines of a declaration, or of the end of the text."""
    return _item(pieces, 0, pieces[0].text)


def closing(pieces: Sequence[Piece], opening: int) -> int:
    """Where the bracket closes that is opened at an index."""
    depth = 0
    for at in range(opening, len(pieces)):
        depth += (pieces[at].text in _OPEN) - (pieces[at].text in _CLOSE)
        if not depth:
            return at
    raise AssertionError("the text has been parsed")


def _item(pieces: tuple[Piece, ...], indent: int, kind: str) -> Iterator[Line]:
    """A declaration, clause or action: one line, or a head, what is in its braces, and `}`."""
    pieces = spaced(pieces)
    opening = next((i for i, piece in enumerate(pieces) if piece.text == "{"), None)
    if opening is None or _fits(pieces, opening, indent):
        yield Line(indent, pieces, kind)
        return
    end = closing(pieces, opening)
    yield Line(indent, pieces[: opening + 1], "{")
    body = pieces[opening + 1 : end]
    head = kind if kind in ("collective", "contract", "program", "select") else "steps"
    for item in _items(body, "program" if kind == "repeat" else head):
        yield from _item(item, indent + INDENT, _kind(item, head))
    yield Line(indent, pieces[end:], "}")


def _kind(item: tuple[Piece, ...], head: str) -> str:
    return "held" if head == "contract" else "alternative" if head == "select" else item[0].text


def _fits(pieces: tuple[Piece, ...], opening: int, indent: int) -> bool:
    """Whether a block may be on one line: begun so by its author, no comment within, no block of
    several items within, and not too long."""
    inner = pieces[opening + 1 : -1]
    begun = not (inner and pieces[opening + 1].starts_line)
    comments = any(piece.beside for piece in pieces[:-1]) or any(p.above for p in pieces[1:])
    return begun and not comments and indent + len(joined(pieces)) <= WIDTH and _is_flat(inner)


def _is_flat(inner: Sequence[Piece]) -> bool:
    return not any(piece.text == "{" and inner[i + 1].starts_line for i, piece in enumerate(inner))


def _items(body: tuple[Piece, ...], head: str) -> Iterator[tuple[Piece, ...]]:
    """What is in a block, item by item."""
    starts, depth = [], 0
    for at, piece in enumerate(body):
        if depth == 0 and (at == 0 or _begins(body, at, head)):
            starts.append(at)
        depth += (piece.text in _OPEN) - (piece.text in _CLOSE)
    for first, last in pairwise([*starts, len(body)]):
        yield body[first:last]


def _begins(body: Sequence[Piece], at: int, head: str) -> bool:
    """Whether an item begins at a word that is in no bracket."""
    before, piece = body[at - 1], body[at]
    following = body[at + 1].text if at + 1 < len(body) else ""
    if head == "collective":
        return piece.text in words_beginning("_clause") and before.text != "then"
    if head == "contract":
        return following == "each"
    if head == "select":
        return piece.text == "else" or (piece.kind == "NAME" and following == "<=")
    if head == "program":
        apart = piece.starts_line and "and" not in (before.text, piece.text) and piece.text != ","
        return piece.text in words_beginning("_item") or before.text == "}" or apart
    return piece.text == "each" or piece.text in words_beginning("_action")
