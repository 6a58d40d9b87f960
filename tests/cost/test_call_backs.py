"""Call-backs of operations of one's own and of pairs: predicted cycles against the simulator's."""

from __future__ import annotations

import pytest

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text

FORMULAS = (
    "-a * b",
    "max(-a, -b)",
    "max(max(a, -a), max(b, -b))",
    "max(max(a, b), max(b, a + b))",
    "a * b + a + b",
)


def compiled(target: str, what: str, pes: int, tree: str, declared: str = "") -> Bundle:
    text = (
        f"target {target}\n{declared}\ngrid row = {pes} x 1\ncollective c = reduce({what}) on row"
    )
    steps = f"{{ order west_to_east reduce {tree} to 0 }}"
    return compile_text(f"{text} {steps}\nprogram {{ c }}\n", "call_back.coll", {})


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("element", ["f32", "i32"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_an_operation_of_ones_own_is_predicted(target: str, element: str, formula: str) -> None:
    """A float is waited for only by the instruction right behind it."""
    declared = f"operation own(a, b: {element}) commutative assume associative = {formula}"
    bundle = compiled(target, f"x: {element}[50], own", 2, "chain", declared)
    assert bundle.run().cycles == bundle.prediction.cycles


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("tree", ["chain", "star", "binomial", "two_phase(S = 4)"])
def test_pairs_are_predicted(target: str, tree: str) -> None:
    """Which of two pairs is the result is not known, and matters on WSE-2 only."""
    bundle = compiled(target, "x: (f32, u32)[200], argmax", 16, tree)
    off = abs(bundle.run().cycles - bundle.prediction.cycles)
    assert off <= (0.02 * bundle.prediction.cycles + 60 if target == "wse2" else 0)
