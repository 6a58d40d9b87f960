"""From a file's bytes to text, within limits, with a located message for what is no text; and
characters of a text that nobody sees.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from unicodedata import category, name

from collc.base.diagnostics import Diagnostic, Span, shown
from collc.language.problems import problem, refuse

MAX_SOURCE_BYTES = 128 * 1024  # a tree of 1000 ranks written by hand takes 10 KB


def read_source(path: Path) -> str:
    """Text of a `.coll` file; raises `CollcError` if it cannot be read as one."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        message = f"cannot read {shown(path)}: {error.strerror or error}"
        raise refuse(problem("C101", message, None)) from None
    return decode_source(str(path), data)


def quotable(path: Path) -> str:
    """The text for messages to quote, also where it is too long or no UTF-8; empty where it cannot
    be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_SOURCE_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def decode_source(file: str, data: bytes) -> str:
    """Text of a file's bytes; raises `CollcError` if they are too many or not UTF-8."""
    check_size(file, len(data))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # `start` counts from behind a byte order mark, if there is one
        before = data.removeprefix(b"\xef\xbb\xbf")[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8 text"
        at = Span(file, line, column, line, column + 1)
        help = "save the file as UTF-8; outside comments, .coll files need only ASCII"
        raise refuse(problem("C101", message, at, help=help)) from None


def check_size(file: str, size: int) -> None:
    """Refuse a source text beyond `MAX_SOURCE_BYTES`."""
    if size > MAX_SOURCE_BYTES:
        at = Span(file, 1, 1, 1, 1)
        message = f"the file is larger than {MAX_SOURCE_BYTES} bytes"
        help = "describe large trees by recursion instead of writing them out"
        raise refuse(problem("C102", message, at, help=help))


# Characters that nobody sees: a text may then read otherwise than it is compiled.
#
# A control character for the direction of text shows the rest of its line in another order; a
# character of no width, or one that only looks like the end of a line, hides where words end. They
# can stand in comments and in names of files, since all other text is ASCII.


_BIDIRECTIONAL = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and a pattern with no ink
_CATEGORIES = frozenset(("Cc", "Cf", "Zl", "Zp"))
_OUTSIDE_ASCII_OR_CONTROL = re.compile(r"[^\n\t -~]")


def is_hidden(character: str) -> bool:
    """Whether a character shows nothing of itself; a tab and the end of a line do."""
    return character not in "\t\n" and (category(character) in _CATEGORIES or character in _FILLERS)


def with_escapes(text: str) -> str:
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
