"""A grid is reduced along its rows first as well as along its columns first."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import compile_text

TEXT = """
    target {target}
    grid g = 5 x 4
    operation first(a, b: f32) = a == 0.0 ? b : a
    collective total = allreduce(x: f32[9], {operation}) on g {{
        reduce rows by two_phase(S = 2)
        then reduce column by binomial
        then broadcast from 0
    }}
    program {{ total }}
"""


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("operation", ["add", "first"])
def test_rows_may_be_reduced_before_the_column_of_their_sums(target: str, operation: str) -> None:
    text = TEXT.format(target=target, operation=operation)
    bundle = compile_text(text, "test.coll", {})
    report = bundle.run()
    assert report.verified
    assert report.cycles == bundle.prediction.cycles
