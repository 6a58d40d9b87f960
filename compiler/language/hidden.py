"""Characters that nobody sees: a text may then read otherwise than it is compiled.

A control character for the direction of text shows the rest of its line in another order; a
character of no width, or one that only looks like the end of a line, hides where words end. They
can stand in comments and in names of files, since all other text is ASCII.
"""

import re
from collections.abc import Iterator
from unicodedata import category, name

from collc.base.diagnostics import Diagnostic, Span

_BIDIRECTIONAL = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and a pattern with no ink
_CATEGORIES = frozenset(("Cc", "Cf", "Zl", "Zp"))
_OUTSIDE_ASCII_OR_CONTROL = re.compile(r"[^\n\t -~]")


def is_hidden(character: str) -> bool:
    """Whether a character shows nothing of itself; a tab and the end of a line do."""
    return character not in "\t\n" and (category(character) in _CATEGORIES or character in _FILLERS)


def shown(text: str) -> str:
    r"""The text with an escape in place of each character that is not seen: `\u202e`."""
    return _OUTSIDE_ASCII_OR_CONTROL.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    if not is_hidden(character):
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def hidden_characters(file: str, text: str) -> Iterator[Diagnostic]:
    """C811: a warning for each line with such characters, at the first one."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    for row, line in enumerate(lines, 1):
        found = _OUTSIDE_ASCII_OR_CONTROL.finditer(line)
        columns = [one.start() + 1 for one in found if is_hidden(one[0])]
        if columns:
            first = line[columns[0] - 1]
            at = Span(file, row, columns[0], row, columns[0] + 1)
            more = f", and {len(columns) - 1} more in this line" if columns[1:] else ""
            yield Diagnostic(
                "C811",
                f"U+{ord(first):04X} ({name(first, 'a control character')}) {_does(first)}{more}",
                at,
                help="delete it; in a comment `collc fmt` writes an escape in its place",
            )


def _does(character: str) -> str:
    if character in _BIDIRECTIONAL:
        return "changes the order in which the line is shown"
    return "is not visible"
