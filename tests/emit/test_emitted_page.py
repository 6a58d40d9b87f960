"""What docs/emitted.md shows of emitted text is what is emitted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from emitting import EXAMPLES, example_bundle

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "emitted.md"
BLOCK = re.compile(r"(<!-- excerpt: (\w+)/(\S+), (\w+) (\w+) -->\n```csl\n)(.*?)(```\n)", re.DOTALL)


def excerpt(text: str, kind: str, name: str) -> str:
    """A function or an import with its comment, or a comptime block by what it names first."""
    begin = {
        "fn": rf"fn {name}\(",
        "const": rf"const {name} = @import_module\(",
        "comptime": rf"comptime \{{(?=(?:(?!^\}}).)*?\({name},)",
    }[kind]
    end = r"^\}\);\n" if kind == "const" else r"^\}\n"
    found = re.search(rf"(?:^//[^\n]*\n)*^{begin}.*?{end}", text, re.DOTALL | re.MULTILINE)
    assert found is not None, f"{kind} {name} is not in the text"
    return found[0]


@cache
def files_of(example: str) -> Mapping[str, str]:
    """The emitted files of an example."""
    return example_bundle(EXAMPLES / f"{example}.coll").files


def test_the_page_shows_what_is_emitted(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text()
    renewed = BLOCK.sub(lambda m: m[1] + excerpt(files_of(m[2])[m[3]], m[4], m[5]) + m[7], page)
    if request.config.getoption("--update-expect"):
        PAGE.write_text(renewed)
        return
    assert len(BLOCK.findall(page)) == 8
    assert page == renewed
