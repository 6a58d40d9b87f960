"""Plans that are only looked at may get stuck; they are refused, or not chosen, like any other."""

from __future__ import annotations

import pytest

import collc
from collc.driver.pipeline import compile_text

TAKEN_TWO_BY_TWO = """
target wse2
grid row = 2 x 1
collective total = broadcast(x: f32[2]) on row {{ run pipelined_broadcast(c = {slices}) in simd }}
program {{ total }}
"""
ON_BOTH_AXES = """
target wse3
grid pes = 2 x 2
collective total = scatter(x: u32[{length}]) on pes {{
    run column by linear_scatter then run rows by linear_scatter in simd
}}
program {{ repeat 2 {{ total }} }}
"""


@pytest.mark.parametrize("slices", [1, 2, 3])
def test_warnings_look_at_plans_that_get_stuck(slices):
    bundle = compile_text(TAKEN_TWO_BY_TWO.format(slices=slices), "two.coll", {})
    assert all(one.code.startswith("C8") for one in bundle.warnings)


def test_a_program_whose_only_plans_get_stuck_is_refused():
    with pytest.raises(collc.CollcError) as refused:
        compile_text(ON_BOTH_AXES.format(length=4), "both.coll", {})
    assert "in simd" in (refused.value.diagnostics[0].help or "")


def test_with_longer_slices_it_is_not():
    assert compile_text(ON_BOTH_AXES.format(length=16), "both.coll", {}).prediction.cycles
