"""Calls in flight at the same time: predicted cycles against those of the simulator."""

from __future__ import annotations

import random

import pytest
from programs.test_random_parts import random_program

from collc.driver.pipeline import compile_text


@pytest.mark.parametrize("case", [24, 32, 52, 58, 66, 69, 74, 97, 141])
def test_joined_calls_are_predicted_within_a_few_percent(case: int) -> None:
    bundle = compile_text(random_program(random.Random(case), steps=0), "random.coll", {})
    report = bundle.run(seed=case)
    assert report.verified and abs(bundle.prediction.cycles / report.cycles - 1) < 0.06


def test_rings_on_rows_and_columns_share_the_processors() -> None:
    text = """target wse2
grid pes = 3 x 3
collective rows = allreduce(x: f32[6], add) on each row of pes { order ring run ring_allreduce }
collective columns = allreduce(y: f32[6], add) on each column of pes {
    order ring
    run ring_allreduce
}
program { rows and columns }
"""
    bundle = compile_text(text, "rings.coll", {})
    assert abs(bundle.prediction.cycles / bundle.run().cycles - 1) < 0.1
