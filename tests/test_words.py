"""Words that the glossary gives another word for are not used: docs/glossary.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# the glossary itself, what was decided when, what reads the old spellings, and the simulator's own
APART = {"glossary.md", "decisions.md", "C810.md", "deprecated.py", "machine.md", "fabsim.md"}
FILES = sorted(
    path
    for folder, endings in (
        ("compiler", {".py", ".md"}),
        ("templates", {".j2"}),
        ("grammar", {".lark", ".coll"}),
        ("docs", {".md"}),
    )
    for path in (ROOT / folder).rglob("*")
    if path.suffix in endings and path.name not in APART and "/figures/" not in str(path)
)
WORDS = (
    r"strands?",
    r"leaps?|leaping",
    r"lengths? of the run",
    r"in twos",
    r"words and signs",
    r"takes? turns",
    r"handed on",
    r"circle of waits",
    r"everybody with everybody",
    r"double arrivals?",
    r"jump\((?=[a-z])",
    r"behaving",
    r"knobs?",
    r"meetings",
    r"patience",
    r"go(?:es)? the ways? of",
    r"ways? of its own",
)


@pytest.mark.parametrize("word", WORDS)
def test_the_field_s_word_is_used(word: str) -> None:
    pattern = re.compile(rf"(?<![A-Za-z])(?:{word})(?![A-Za-z])", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()[:80]}"
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if pattern.search(line)
    ]
    assert not found
