"""What every stage reports: one form of problem, with its place, the other places, and a remedy.

`Diagnostic` is data; `render` in `collc.language.show` turns it into text or JSON. A stage yields
diagnostics or raises `CollcError` with all it found. `shown` is how names of files are printed,
whatever they consist of, here and everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collc.base.values import dataclass


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of a source text; lines and columns count from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Edit:
    """A text to write where a span is: an empty text deletes, an empty span inserts."""

    at: Span
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """One problem: its code (`C012`), what is wrong, where, the other places, and what to do. Its
    texts are printable, whatever names they quote.

    `fix` is what the help says, or the first of its ways, as edits of the same file that do not
    overlap; it is empty where a reader has to decide.
    """

    code: str
    message: str
    at: Span | None
    also: tuple[tuple[Span, str], ...] = ()
    help: str = ""
    fix: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        also = tuple((span, printable(note)) for span, note in self.also)
        texts = {"message": printable(self.message), "help": printable(self.help), "also": also}
        for name, text in texts.items():
            object.__setattr__(self, name, text)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda one: one.at, reverse=True):
        at = edit.at
        before, behind = lines[at.line - 1][: at.column - 1], lines[at.end_line - 1]
        written = f"{before}{edit.text}{behind[at.end_column - 1 :]}"
        lines[at.line - 1 : at.end_line] = written.split("\n")
    return "\n".join(lines)


def behind(span: Span) -> Span:
    """The empty span at the end of one."""
    return tail(span, span)


def tail(first: Span, last: Span) -> Span:
    """From the end of a span to the end of a later one: with the comma or word between them."""
    return Span(first.file, first.end_line, first.end_column, last.end_line, last.end_column)


def head(first: Span, last: Span) -> Span:
    """From the beginning of a span to the beginning of a later one."""
    return Span(first.file, first.line, first.column, last.line, last.column)


def whole(first: Span, last: Span) -> Span:
    """From the beginning of a span to the end of a later one."""
    return Span(first.file, first.line, first.column, last.end_line, last.end_column)


def left_out(spans: Sequence[Span], index: int) -> tuple[Edit, ...]:
    """One of a list left out, with its comma."""
    if index:
        return (Edit(tail(spans[index - 1], spans[index]), ""),)
    return (Edit(head(spans[0], spans[1]) if len(spans) > 1 else spans[0], ""),)


def shown(name: object) -> str:
    r"""A file's name as it is printed: in a line, and nothing that a terminal would obey. What is
    not printable is an escape: `\n`, `\x1b`, `\u202e`; `\xe9` is also a byte that is no text in
    the encoding of file names, which Python has as U+DCE9."""
    text = str(name)
    return text if text.isprintable() else "".join(map(_escaped, text))


def printable(text: str) -> str:
    """A text of several lines likewise."""
    return "\n".join(map(shown, text.split("\n")))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()


class CollcError(Exception):
    """The program is at fault; carries every diagnostic found, sorted by place."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(sorted(diagnostics, key=_place))
        super().__init__("\n".join(map(_in_words, self.diagnostics)))

    def __reduce__(self) -> tuple[type[CollcError], tuple[object, ...]]:
        """How it gets from one process to another: by what it was made from."""
        return type(self), (self.diagnostics,)


def _in_words(one: Diagnostic) -> str:
    """Its place, code, message and help; what quotes the text is `collc.language.show`."""
    at = f"{shown(one.at.file)}:{one.at.line}:{one.at.column}: " if one.at else ""
    return f"{at}{one.code}: {one.message}" + (f"\n  help: {one.help}" if one.help else "")


def _place(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
    at = diagnostic.at
    where = (at.file, at.line, at.column) if at else ("", 0, 0)
    return (*where, diagnostic.code, diagnostic.message)
