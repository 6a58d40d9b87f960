"""Diagnostics as a SARIF 2.1.0 log, which code hosts and editors take (OASIS, 27 March 2020)."""

from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from collc.base.diagnostics import Diagnostic, Span
from collc.base.version import __version__
from collc.language.render import severity

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sarif_log(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """One run of collc, with every diagnostic as a result and every code as a rule."""
    found = tuple(diagnostics)
    codes = sorted({one.code for one in found})
    driver = {
        "name": "collc",
        "version": __version__,
        "rules": [{"id": code, "shortDescription": {"text": title(code)}} for code in codes],
    }
    results = [_result(one, codes.index(one.code)) for one in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


@lru_cache(maxsize=256)
def title(code: str) -> str:
    """What a code is called, from its page."""
    page = files("collc.explanations").joinpath(f"{code}.md")
    if not page.is_file():
        return code
    return page.read_text(encoding="utf-8").partition("\n")[0].partition(": ")[2]


def _result(one: Diagnostic, rule: int) -> dict[str, Any]:
    remedy = f"\nhelp: {one.help}" if one.help else ""
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": severity(one),
        "message": {"text": one.message + remedy},
        "locations": [_location(one.at)] if one.at else [],
    }
    also = [_location(span) | {"message": {"text": note}} for span, note in one.also]
    result |= {"relatedLocations": also} if also else {}
    return result | ({"fixes": [_fix(one)]} if one.fix else {})


def _fix(one: Diagnostic) -> dict[str, Any]:
    """What the help says as edits, which are of one file."""
    replacements = [
        {"deletedRegion": _region(edit.at), "insertedContent": {"text": edit.text}}
        for edit in one.fix
    ]
    at = {"uri": _uri(one.fix[0].at.file)}
    changes = [{"artifactLocation": at, "replacements": replacements}]
    return {"description": {"text": one.help}, "artifactChanges": changes}


def _location(span: Span) -> dict[str, Any]:
    at = {"artifactLocation": {"uri": _uri(span.file)}, "region": _region(span)}
    return {"physicalLocation": at}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _uri(file: str) -> str:
    """A relative path as a relative reference, an absolute one as a `file:` URI."""
    path = PurePath(file)
    return Path(path).as_uri() if path.is_absolute() else quote(path.as_posix())
