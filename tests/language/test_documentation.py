"""Every `coll` block of docs/language.md is a program, once what it leaves out is added."""

from __future__ import annotations

from pathlib import Path

import pytest

from collc.language import parse_source
from collc.language.parser import _lark
from tests.language.snippets import blocks, complete

PAGE = (Path(__file__).parent.parent.parent / "docs" / "language.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("snippet", blocks(PAGE), ids=lambda s: s.splitlines()[0][:40])
def test_an_example_of_the_guide_is_accepted(snippet: str) -> None:
    parse_source(complete(snippet))


def test_the_guide_lists_all_words_of_the_language() -> None:
    patterns = (terminal.pattern.value for terminal in _lark().terminals)
    words = {pattern for pattern in patterns if pattern.isalpha()}
    listed = PAGE.rpartition("cannot be names:")[2].replace("`", " ").replace(".", " ").split()
    assert set(listed) == words
