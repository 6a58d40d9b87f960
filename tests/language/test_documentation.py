"""Every `coll` block of docs/language.md is a program, once what it leaves out is added."""

from __future__ import annotations

from pathlib import Path

import pytest

from collc.language import parse_source
from collc.language.parser import MAX_DEPTH, MAX_TOKENS, _lark
from collc.language.trees import MAX_CALLS_DEEP, MAX_EVALUATIONS
from tests.language.snippets import blocks, complete

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("snippet", blocks(PAGE), ids=lambda s: s.splitlines()[0][:40])
def test_an_example_of_the_guide_is_accepted(snippet: str) -> None:
    parse_source(complete(snippet))


def test_the_guide_lists_all_words_of_the_language() -> None:
    patterns = (terminal.pattern.value for terminal in _lark().terminals)
    words = {pattern for pattern in patterns if pattern.isalpha()}
    listed = PAGE.rpartition("cannot be names:")[2].replace("`", " ").replace(".", " ").split()
    assert set(listed) == words


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("docs/decisions.md", f"a declaration {MAX_TOKENS} tokens"),
        ("docs/decisions.md", f"an expression a depth of {MAX_DEPTH}"),
        ("docs/decisions.md", f"recursion a depth of {MAX_CALLS_DEEP}"),
        ("docs/decisions.md", f"unfolding {MAX_EVALUATIONS:,} evaluations"),
        ("docs/language.md", f"goes more than {MAX_CALLS_DEEP} calls deep"),
        ("docs/language.md", f"more than {MAX_EVALUATIONS:,} evaluations"),
        ("compiler/explanations/C130.md", f"calls lie more than {MAX_CALLS_DEEP:,} deep"),
        ("compiler/explanations/C131.md", f"{MAX_EVALUATIONS:,} evaluations"),
    ],
)
def test_the_pages_give_the_limits_of_the_compiler(page: str, said: str) -> None:
    assert said in " ".join((ROOT / page).read_text(encoding="utf-8").split())
