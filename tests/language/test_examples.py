"""Every example elaborates for sizes that divide by nothing and says how to run it."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from collc.base.diagnostics import CollcError
from collc.language import parse_file, read_source

EXAMPLES = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.coll"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_an_example_elaborates_for_all_sizes(path: Path, target: str) -> None:
    text = read_source(path)
    names = re.findall(r"^param (\w+)", text, re.MULTILINE)
    for pes, elements in product((1, 2, 3, 5, 7, 31, 64), (1, 2, 17, 1000)):
        wanted = {"P": pes, "W": pes, "H": max(pes // 2, 1), "B": elements}
        definitions = {name: value for name, value in wanted.items() if name in names}
        if "B mod 2 == 0" in text and elements % 2:
            with pytest.raises(CollcError, match="C122"):
                parse_file(path, text, definitions, target)
            continue
        spec = parse_file(path, text, definitions, target)
        if "B" in names:
            assert spec.collectives[0].contract.length == elements


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_first_comment_of_an_example_says_how_to_run_it(path: Path) -> None:
    text = read_source(path)
    comment = re.match(r"(//.*\n)+", text)
    assert comment is not None
    call = re.search(rf"collc run examples/{path.name}((?: -D \w+=\d+)*)", comment[0])
    assert call is not None
    pairs = (pair.partition("=") for pair in re.findall(r"\w+=\d+", call[1]))
    parse_file(path, text, {name: int(value) for name, _, value in pairs}, None)
