"""Taking helps at their word: what a help says is done to a program, and nothing else.

Most helps say what to do in words that a machine can follow: `did you mean X?` puts X where the
carets are, "leave it out" takes out what is under them. Where doing so takes sense, tests/errors
has the edits that a reader of the help makes, in helps.toml: pairs of a piece of the program, its
command line included, and what is written instead.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from collc.base.diagnostics import Diagnostic, Span

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ERRORS = Path(__file__).parent / "errors"
EDITS: dict[str, list[list[str]]] = tomllib.loads(
    (ERRORS / "helps.toml").read_text(encoding="utf-8")
)


def _put(text: str, span: Span, written: str) -> str:
    """The text with something else where a span was."""
    lines = text.split("\n")
    before = "\n".join([*lines[: span.line - 1], lines[span.line - 1][: span.column - 1]])
    rest = [lines[span.end_line - 1][span.end_column - 1 :], *lines[span.end_line :]]
    return before + written + "\n".join(rest)


def _taken_out(text: str, span: Span, _: re.Match[str]) -> str:
    return _put(text, span, "")


def _renamed(text: str, span: Span, _: re.Match[str]) -> str:
    line = text.split("\n")[span.line - 1]
    word = re.match(r"\w+", line[span.column - 1 :])
    assert word is not None
    return _put(text, Span(span.file, *_of_word(span, word[0])), f"{word[0]}_of_mine")


def _of_word(span: Span, word: str) -> tuple[int, int, int, int]:
    return span.line, span.column, span.line, span.column + len(word)


# What a help says, and what that does to the text where the message's carets are.
ORDERS: tuple[tuple[str, Callable[[str, Span, re.Match[str]], str]], ...] = (
    (r"did you mean `([^`]+)`\?.*", lambda text, span, found: _put(text, span, found[1])),
    (
        r"write `?(barrier\(\)|hilbert|run auto)`?",
        lambda text, span, found: _put(text, span, found[1]),
    ),
    (r"leave (it|the place|the second one|them) out", _taken_out),
    (r"(choose another name|give one of them another name)", _renamed),
)


def followed(text: str, diagnostic: Diagnostic) -> str | None:
    """The text after one help has been taken at its word; None where that takes sense."""
    for pattern, done in ORDERS:
        found = re.fullmatch(pattern, diagnostic.help)
        if found and diagnostic.at is not None:
            return done(text, diagnostic.at, found)
    return None
