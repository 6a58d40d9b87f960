"""The warning about orders that are not contiguous, which fabsim confirms, and its silence."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import compile_text
from tests.tuning.warned import codes_of, compiled, plans_told

REDUCE = "reduce(x: f32[32], add)"


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("tree", ["binomial", "chain"])
def test_a_snake_wins_what_is_said(tree: str, target: str) -> None:
    bundle = compiled(REDUCE, f"order row_major reduce {tree} to 0", "8 x 6", target)
    (warning,) = (one for one in bundle.warnings if one.code == "C804")
    own = bundle.prediction.cycles
    ((text, cycles),) = plans_told(warning.help)
    assert text == f"order snake reduce {tree} to 0"
    assert warning.message == (
        "in `row_major` PE (0, 1) comes behind PE (7, 0), 8 hops away: "
        f"{own - cycles} of {own} cycles are lost by such gaps"
    )
    pasted = compiled(REDUCE, text, "8 x 6", target)
    assert pasted.prediction.cycles == cycles
    gain = bundle.run().cycles - pasted.run().cycles
    assert gain == pytest.approx(own - cycles, rel=0.02, abs=2)


@pytest.mark.parametrize(
    ("contract", "steps", "grid"),
    [
        (REDUCE, "order snake reduce chain to 0", "8 x 6"),  # no gaps
        ("reduce(x: f32[1024], add)", "order row_major reduce chain to 0", "3 x 2"),  # a short one
        ("allgather(x: f32[48])", "order row_major run ring_allgather", "4 x 4"),  # part of it
        ("reduce(x: f32[32], add)", "reduce columns by chain then reduce row by chain", "8 x 6"),
    ],
)
def test_nothing_is_said_where_nothing_is_to_be_won(contract: str, steps: str, grid: str) -> None:
    assert not codes_of(compiled(contract, steps, grid))


def test_an_order_of_operands_is_kept() -> None:
    text = """target wse2
grid pes = 8 x 6
operation last(a, b: u32) = b == 0 ? a : b
collective it = reduce(x: u32[32], last) on pes { order row_major reduce chain to 0 }
program { it }
"""
    assert compile_text(text, "f.coll", {}).warnings == ()
