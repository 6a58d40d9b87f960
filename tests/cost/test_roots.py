"""Calls whose root is given when the program runs: predicted cycles against the simulator's."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import compile_text

TEXT = """
target {target}
grid row = {ranks} x 1
collective spread = broadcast(x: f32[{length}]) on row {{
    order west_to_east
    broadcast from r < {ranks}
}}
program {{ repeat 4 {{ spread }} }}
"""


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("ranks", "length", "roots"),
    [(1, 2, (0, 0, 0, 0)), (5, 12, (0, 0, 0, 0)), (5, 12, (4, 4, 4, 4)), (9, 3, (0, 7, 2, 8))],
)
def test_a_root_of_each_round_is_predicted(
    ranks: int, length: int, roots: tuple[int, ...], target: str
) -> None:
    text = TEXT.format(target=target, ranks=ranks, length=length)
    bundle = compile_text(text, "roots.coll", {})
    report = bundle.run(lengths={"r": roots})
    assert report.verified, report.problem
    predicted = bundle.predicted({"r": roots}).cycles
    assert abs(predicted - report.cycles) <= 0.05 * report.cycles + 10
