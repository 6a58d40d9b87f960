"""Every code that the compiler can report has a page, and every page a code.

A page's first example is refused with its code, its second is accepted.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collc.base.diagnostics import CollcError
from collc.language import parse_source
from tests.language.snippets import blocks, complete

ROOT = Path(__file__).parent.parent
COMPILER = ROOT / "compiler"
PAGES = sorted((COMPILER / "explanations").glob("C*.md"))
LANGUAGE_PAGES = [page for page in PAGES if page.stem.startswith("C1")]


def test_codes_and_pages_are_the_same() -> None:
    files = (path for room in ("compiler", "research") for path in (ROOT / room).rglob("*.py"))
    sources = (path.read_text(encoding="utf-8") for path in files)
    codes = {code for source in sources for code in re.findall(r'"(C\d{3})"', source)}
    assert codes == {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_begins_with_its_code(page: Path) -> None:
    assert page.read_text(encoding="utf-8").startswith(f"# {page.stem}: ")


@pytest.mark.parametrize("page", LANGUAGE_PAGES, ids=lambda page: page.stem)
def test_the_wrong_example_is_wrong_and_the_mended_one_is_not(page: Path) -> None:
    examples = blocks(page.read_text(encoding="utf-8"))
    if not examples:
        return
    wrong, mended = examples
    with pytest.raises(CollcError) as caught:
        parse_source(complete(wrong))
    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {page.stem}
    parse_source(complete(mended))
