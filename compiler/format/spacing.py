"""What is between two words on a line."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from collc.format.tokens import Piece

WIDE = "  "  # between a slice and the ranks that it goes between

_OPERANDS = frozenset(("NAME", "INTEGER", "FRACTION", "RPAR", "RSQB"))
_ARROWS = frozenset(("=>", "->", "->*"))


def joined(pieces: Sequence[Piece]) -> str:
    """Words that have their gaps as one line, or a part of one."""
    return "".join((piece.gap if at else "") + piece.text for at, piece in enumerate(pieces))


def spaced(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The words of a logical line with the gap before each."""
    return tuple(replace(piece, gap=gap) for piece, gap in zip(pieces, _gaps(pieces), strict=True))


def _gaps(pieces: Sequence[Piece]) -> Iterator[str]:
    within = [""]  # innermost last: brackets, and conditionals whose `:` is to come
    for at, piece in enumerate(pieces):
        if piece.text in (")", "]"):
            within.pop()
        yield _gap(pieces, at, within[-1]) if at else ""
        if piece.text in ("(", "[", "?"):
            within.append(piece.text)
        elif piece.text == ":" and within[-1] == "?":
            within.pop()


def _gap(pieces: Sequence[Piece], at: int, within: str) -> str:
    before, piece = pieces[at - 1], pieces[at]
    if before.text in ("(", "[") or piece.text in (")", "]", ","):
        return ""
    if piece.text == "}" and before.text == "{":
        return ""
    if before.text == "-" and not is_binary(pieces, at - 1):
        return ""
    if piece.text in ("(", "["):
        return "" if _is_call(pieces, at) else " "
    if piece.text == ":" and within != "?" and (within == "(" or _is_alternative(pieces)):
        return ""
    return WIDE if is_source(pieces, at) else " "


def _is_alternative(pieces: Sequence[Piece]) -> bool:
    """Whether a line begins `n <= 16:` or `else:`."""
    return pieces[0].text == "else" or [p.text for p in pieces[1:2]] == ["<="]


def is_binary(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a minus is between two operands."""
    return at > 0 and pieces[at - 1].kind in _OPERANDS


def is_source(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a word is the rank that sends what is said before it."""
    arrow = at + 1 < len(pieces) and pieces[at + 1].text in _ARROWS
    return arrow and pieces[at - 1].text != ":"


def _is_call(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a bracket belongs to the name before it, or to the pair of an element type:
    `(f32, u32)[B]`. A name behind an operand is called by nobody: `grid g = P x (Q)`, `r has (q)`.
    """
    before = pieces[at - 1]
    if before.text in ("reduce", "broadcast") or (before.text, pieces[at].text) == (")", "["):
        return True
    if before.kind != "NAME":
        return False
    listed = pieces[0].text == "reserve" and pieces[at - 2].text in ("reserve", ",")
    return not listed and (at < 2 or pieces[at - 2].kind not in _OPERANDS)
