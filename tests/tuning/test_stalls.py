"""The warning about vectors that wait for each other, and its silence where it would be idle."""

from __future__ import annotations

import re

import pytest

import collc
from collc.show import render

TEXT = """target {target}
grid row = {pes} x 1
collective total = reduce(x: f32[{length}], add) on row {{ reduce {tree} to 0 }}
program {{ total }}
"""


def compiled(tree: str, pes: int, length: int, target: str = "wse2"):
    text = TEXT.format(tree=tree, pes=pes, length=length, target=target)
    return collc.compile_text(text, "f.coll", {})


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("tree", ["two_phase(S = 4)", "star", "binomial"])
def test_a_wait_is_told_with_what_avoids_it(tree: str, target: str) -> None:
    bundle = compiled(tree, 64, 256, target)
    (warning,) = bundle.warnings
    assert warning.code == "C801" and warning.at is not None
    cycles = int(re.search(r"waits (\d+) cycles", warning.message)[1])
    better, own = map(int, re.search(r"take (\d+) cycles instead of (\d+)", warning.help).groups())
    assert own == bundle.prediction.cycles and cycles < own
    assert compiled("optimal", 64, 256, target).prediction.cycles == better < own
    assert render(warning, {}).startswith("f.coll:3:54: warning[C801]: in `reduce` the vector of")


@pytest.mark.parametrize(
    ("tree", "pes", "length"),
    [
        ("chain", 64, 256),  # nothing waits
        ("optimal", 64, 256),
        ("star", 64, 1),  # vectors wait, but no tree is much faster
        ("binomial", 2, 256),
        ("chain", 1, 256),
    ],
)
def test_nothing_is_said_where_nothing_is_to_be_won(tree: str, pes: int, length: int) -> None:
    assert compiled(tree, pes, length).warnings == ()
