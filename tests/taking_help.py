"""Taking helps at their word: what a help says is done to a program, and nothing else.

Most diagnostics carry what their help says as edits, `fix`. Where doing so takes sense, the edits
that a reader of the help makes are in tests/errors/helps.toml: pairs of a piece of the program, its
command line included, and what is written instead.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from collc.base.diagnostics import Diagnostic, Edit, Span, edited

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ERRORS = Path(__file__).parent / "errors"
_HELPS = tomllib.loads((ERRORS / "helps.toml").read_text(encoding="utf-8"))
EDITS: dict[str, list[list[str]]] = _HELPS["edits"]
NEXT: dict[str, str] = _HELPS["next"]
LEFT: dict[str, str] = _HELPS["left"]

_RENAMED = re.compile(r"(choose another name|give one of them another name)")


def fix_of(text: str, diagnostic: Diagnostic) -> tuple[Edit, ...]:
    """The edits that a help stands for; none where that takes sense. A name in place of one that is
    taken is anybody's to choose, so here it becomes longer: the name that the message is about."""
    at = diagnostic.at
    if at is None or not _RENAMED.fullmatch(diagnostic.help):
        return diagnostic.fix
    line = text.split("\n")[at.line - 1]
    words = set(re.findall(r"\w+", diagnostic.message))
    behind = next(
        word.end() + 1
        for word in re.finditer(r"\w+", line)
        if word.start() >= at.column - 1 and word[0] in words
    )
    return (Edit(Span(at.file, at.line, behind, at.line, behind), "_of_mine"),)


def followed(text: str, diagnostic: Diagnostic) -> str | None:
    """The text after one help has been taken at its word; None where that takes sense."""
    edits = fix_of(text, diagnostic)
    return edited(text, edits) if edits else None
