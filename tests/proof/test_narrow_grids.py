"""A grid that is one PE wide is a line along its other axis, whatever is run last."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import compile_text

RINGS = """
    target wse2
    grid g = {size}
    collective total = allreduce(x: f32[3], add) on g {{
        order ring
        run columns by ring_allreduce
        then run rows by ring_allreduce
    }}
    program {{ total }}
"""


@pytest.mark.parametrize("size", ["1 x 4", "4 x 1", "1 x 1"])
def test_rings_over_both_axes_of_a_line_are_proved(size: str) -> None:
    assert compile_text(RINGS.format(size=size), "test.coll", {}).files
