"""Old spellings are read as the new ones, with a warning that names them."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import compile_text
from collc.language import parse_source

PROGRAM = """target wse2
grid row = 8 x 1
collective total = {} on row {{ {} }}
program {{ total }}
"""
OLD_AND_NEW = [
    ("reduce(x: f32[4], add)", "reduce jump(chain) to 3", "reduce root_bypass(chain) to 3"),
    ("allreduce(x: f32[16], add)", "run ring_allreduce in twos", "run ring_allreduce in simd"),
    (
        "reduce(x: f32[n <= 16], add)",
        "select by n { n <= 4: reduce jump(chain) to 3 else: reduce chain to 3 }",
        "select by n { n <= 4: reduce root_bypass(chain) to 3 else: reduce chain to 3 }",
    ),
]


@pytest.mark.parametrize(("contract", "old", "new"), OLD_AND_NEW)
def test_an_old_spelling_means_the_new_one(contract: str, old: str, new: str) -> None:
    was, is_now = (parse_source(PROGRAM.format(contract, steps)) for steps in (old, new))
    assert [steps.steps for steps in was.collectives] != []
    assert was.notices and not is_now.notices
    (notice,) = was.notices
    assert notice.code == "C810"
    assert notice.at is not None and notice.at.line == 3
    assert old.replace(notice.message.split("`")[1], notice.message.split("`")[3]) == new


def test_the_warning_reaches_the_bundle_and_the_text_is_the_same() -> None:
    bundles = [
        compile_text(PROGRAM.format("reduce(x: f32[4], add)", steps), "a.coll", {})
        for steps in ("reduce jump(chain) to 3", "reduce root_bypass(chain) to 3")
    ]
    assert bundles[0].files == bundles[1].files
    assert "C810" in [warning.code for warning in bundles[0].warnings]
    assert "C810" not in [warning.code for warning in bundles[1].warnings]
