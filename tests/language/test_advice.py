"""What is advised instead of names that are no trees, and of algorithms for other numbers."""

from __future__ import annotations

import re

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text


def text(contract: str, steps: str) -> str:
    return f"""target wse2
    grid row = 12 x 1
    collective c = {contract} on row {{ {steps} }}
    program {{ c }}
    """


@pytest.mark.parametrize(
    ("contract", "steps"),
    [
        ("reduce(x: f32[24], add)", "reduce left_right(chain) to 3"),
        ("reduce(x: f32[24], add)", "reduce ring to 0"),
    ],
)
def test_every_pattern_that_is_advised_compiles(contract: str, steps: str) -> None:
    with pytest.raises(CollcError) as caught:
        compile_text(text(contract, steps), "refused.coll", {})
    advised = re.findall("`([^`]+)`", caught.value.diagnostics[0].help)
    assert advised
    for one in advised:
        named = one.replace("A, B", "chain, star").replace("to R", "to 3")
        compile_text(text(contract, named), "advised.coll", {})
