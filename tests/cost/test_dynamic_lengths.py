"""Collectives whose length the call gives, by vector operations and by call-backs: predicted cycles
against those of the simulator, within 5 % and 60 cycles."""

from __future__ import annotations

import pytest

from collc.cost import predict_program
from collc.driver.pipeline import compile_text

CASES = [
    (4, 4, "i32", "add", "reduce star to 0"),
    (32, 4, "i32", "add", "reduce star to 0"),
    (16, 64, "i32", "add", "reduce star to 0"),
    (16, 64, "u32", "max", "order west_to_east reduce chain to 0"),
    (16, 64, "f32", "add", "order west_to_east reduce chain to 0"),
    (16, 64, "i16", "max", "reduce two_phase(S = 4) to 0"),
    (16, 64, "f32", "min", "reduce binomial to 0"),
]
SELECTS = """{
    select by n {
        n <= 2: reduce star to 0
        n <= 17: reduce two_phase(S = 4) to 0
        else: reduce chain to 0
    }
}"""


def check(target: str, declared: str, pes: int, most: int) -> None:
    text = f"target {target}\ngrid row = {pes} x 1\n{declared}\nprogram {{ c }}\n"
    bundle = compile_text(text, "lengths.coll", {})
    for length in sorted({1, 2, min(7, most), most}):
        ran = bundle.run(lengths={"n": [length]}).cycles
        predicted = predict_program(bundle.program, {"n": (length,)}).cycles
        assert abs(predicted - ran) <= 0.05 * ran + 60, (length, predicted, ran)
        if "f32" in declared and "add" in declared and "select" not in declared:
            assert abs(predicted - ran) <= 2, "without call-backs nothing is left open"


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("pes", "most", "element", "operation", "tree"), CASES)
def test_a_dynamic_length_is_predicted(
    target: str, pes: int, most: int, element: str, operation: str, tree: str
) -> None:
    what = f"reduce(x: {element}[n <= {most}], {operation})"
    check(target, f"collective c = {what} on row {{ {tree} }}", pes, most)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("element", ["f32", "i32"])
def test_alternatives_by_length_are_predicted(target: str, element: str) -> None:
    check(target, f"collective c = reduce(x: {element}[n <= 64], add) on row {SELECTS}", 16, 64)
