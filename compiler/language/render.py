"""How diagnostics are printed: as text with the lines they are about, or as data."""

import unicodedata
from collections.abc import Mapping

from collc.base.diagnostics import Diagnostic, Span, shown
from collc.language.prelude import PRELUDE_FILE, prelude_text

_WIDEST_LINE = 160  # longer source lines are cut around the place
_CONTEXT = 60
_WARNINGS = "C8"  # codes of what is right and could be better


def render(diagnostic: Diagnostic, sources: Mapping[str, str]) -> str:
    """Write a diagnostic as text; source lines are looked up in `sources` (file -> text)."""
    lines = [headline(diagnostic)]
    lines += _excerpt(diagnostic.at, sources)
    for span, note in diagnostic.also:
        lines.append(_headline(span, f"note: {note}"))
        lines += _excerpt(span, sources)
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines) + "\n"


def headline(diagnostic: Diagnostic) -> str:
    """The first line of it: `file:line:column: error[C012]: message`."""
    message = f"{severity(diagnostic)}[{diagnostic.code}]: {diagnostic.message}"
    return _headline(diagnostic.at, message)


def severity(diagnostic: Diagnostic) -> str:
    """`error`, or `warning` for what is right and could be better."""
    return "warning" if diagnostic.code.startswith(_WARNINGS) else "error"


def as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Turn a diagnostic into plain data; one without a fix has none there."""
    fix = [{"at": _place(edit.at), "text": edit.text} for edit in diagnostic.fix]
    data: dict[str, object] = {
        "code": diagnostic.code,
        "severity": severity(diagnostic),
        "message": diagnostic.message,
        "at": _place(diagnostic.at),
        "also": [{"at": _place(span), "message": note} for span, note in diagnostic.also],
        "help": diagnostic.help,
    }
    return data | ({"fix": fix} if fix else {})


def _headline(span: Span | None, text: str) -> str:
    return f"{shown(span.file)}:{span.line}:{span.column}: {text}" if span else text


def _place(span: Span | None) -> dict[str, object] | None:
    if span is None:
        return None
    return {
        "file": shown(span.file),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _excerpt(span: Span | None, sources: Mapping[str, str]) -> list[str]:
    """Quote the first line of a span, with carets under it."""
    if span is None:
        return []
    text = sources.get(span.file)
    if text is None and span.file == PRELUDE_FILE:
        text = prelude_text()
    lines = text.split("\n") if text is not None else []
    if span.line > len(lines):
        return []
    line = lines[span.line - 1].rstrip("\r")
    first = span.column - 1
    last = span.end_column - 1 if span.end_line == span.line else len(line)
    line, first, last = _cut(line, first, last)
    under = "".join("\t" if c == "\t" else " " * _columns(c) for c in line[:first])
    marked = sum(_columns(c) for c in line[first:last])
    return [f"    {_printable(line)}".rstrip(), f"    {under}{'^' * max(marked, 1)}"]


def _cut(line: str, first: int, last: int) -> tuple[str, int, int]:
    """Keep a piece of a long line around the place; also yields the place in it."""
    if len(line) <= _WIDEST_LINE:
        return line, first, min(last, len(line))
    start = max(0, first - _CONTEXT)
    end = min(len(line), start + _WIDEST_LINE - _CONTEXT)
    before, behind = "..." if start > 0 else "", "..." if end < len(line) else ""
    shift = len(before) - start
    return before + line[start:end] + behind, first + shift, min(last, end) + shift


def _columns(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _printable(line: str) -> str:
    """Blank out what a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in line)
