"""Composed of one line of each axis, a plan takes as many cycles as when all PEs are followed."""

from __future__ import annotations

import pytest

from collc.cost import cycles_of, predict
from collc.driver.pipeline import prove_text
from collc.lowering import candidate_plans
from collc.target import TARGETS

BACK = " then broadcast from auto"
ROW, COLUMN = "reduce rows by {} to 3", "reduce columns by {} to 2"


@pytest.mark.parametrize(
    ("contract", "grid", "steps"),
    [
        ("f32[1], add", "9 x 6", COLUMN + " then reduce row by {} to 3" + BACK),
        ("f32[40], add", "7 x 11", ROW + " then reduce column by {} to 0" + BACK),
        ("f32[3000], min", "5 x 4", COLUMN + " then reduce row by {} to 0" + BACK),
        ("i32[30], min", "5 x 4", COLUMN + " then reduce row by {} to 0" + BACK),
        ("f16[25], add", "17 x 1", "reduce {} to 8" + BACK),
        ("u32[25], max", "1 x 9", "reduce {} to 0" + BACK),
        ("f32[8], add", "3 x 3", "order snake reduce {} to 0" + BACK),
    ],
)
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_the_cycles_are_the_predicted_ones(
    contract: str, grid: str, steps: str, target: str
) -> None:
    text = f"""
        target {target}
        grid g = {grid}
        collective total = allreduce(x: {contract}) on g {{ {steps.format("binomial", "star")} }}
        program {{ total }}
    """
    schedule = prove_text(text, "test.coll", {})[1]
    for plan in candidate_plans(schedule, TARGETS[target]):
        assert cycles_of(plan) == predict(plan).cycles
