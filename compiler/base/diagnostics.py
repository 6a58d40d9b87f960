"""What every stage reports: one form of problem, with its place, the other places, and a remedy.

`Diagnostic` is data; `render` in `collc.language.show` turns it into text or JSON. A stage yields
diagnostics or raises `CollcError` with all it found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of a source text; lines and columns count from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Diagnostic:
    """One problem: its code (`C012`), what is wrong, where, the other places, and what to do."""

    code: str
    message: str
    at: Span | None
    also: tuple[tuple[Span, str], ...] = ()
    help: str = ""


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
    at = f"{one.at.file}:{one.at.line}:{one.at.column}: " if one.at else ""
    return f"{at}{one.code}: {one.message}" + (f"\n  help: {one.help}" if one.help else "")


def _place(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
    at = diagnostic.at
    where = (at.file, at.line, at.column) if at else ("", 0, 0)
    return (*where, diagnostic.code, diagnostic.message)
