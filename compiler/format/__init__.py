"""One style for `.coll` files: `format_text` takes a text that parses, and keeps its declarations.

The stages, in order: `tokens` (words with the comments beside them), `lines` (one logical line for
each clause), `spacing` (what is between two words), `breaking` (lines of at most 100 columns),
`columns` (what is aligned). The style is described in docs/format.md.
"""

from collections.abc import Iterator

from collc.format.breaking import broken
from collc.format.columns import aligned
from collc.format.lines import Line, lines_of
from collc.format.tokens import Piece, pieces_of
from collc.language.parser import parse_text

__all__ = ["format_text"]


def format_text(file: str, text: str) -> str:
    """The text in the one style: same words, same comments, in which characters that are not
    visible are escapes; raises CollcError if it does not parse.

    Formatting what is formatted changes nothing.
    """
    parse_text(file, text)
    return aligned(_physical(pieces_of(text)))


def _physical(declarations: tuple[tuple[Piece, ...], ...]) -> Iterator[Line]:
    for pieces in declarations:
        for logical in lines_of(pieces):
            yield from broken(logical)
