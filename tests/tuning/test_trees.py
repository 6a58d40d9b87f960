"""The tree `optimal` is never predicted, nor found, to be slower than the prelude's trees."""

from __future__ import annotations

import numpy as np
import pytest

import collc
from collc.driver.pipeline import compile_text
from collc.language.optimal_tree import optimum
from collc.spec import ReduceStep
from tests.trees import model_cycles

PRELUDE = ("chain", "star", "binomial", "two_phase(S = isqrt(P))")
LENGTHS = (1, 7, 40, 300, 2000)


def compiled(tree: str, ranks: int, length: int, target: str = "wse2") -> collc.Bundle:
    text = f"""
        target {target}
        param P = {ranks}
        grid row = P x 1
        collective total = reduce(x: f32[{length}], add) on row {{ reduce {tree} to 0 }}
        program {{ total }}
    """
    return compile_text(text, "test.coll", {})


@pytest.mark.parametrize("ranks", [1, 2, 3, 9, 40])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_no_tree_of_the_prelude_is_predicted_to_be_faster(
    ranks: int, length: int, target: str
) -> None:
    best = compiled("optimal", ranks, length, target).prediction.cycles
    others = [compiled(tree, ranks, length, target).prediction.cycles for tree in PRELUDE]
    assert best <= min(others)


@pytest.mark.parametrize("length", LENGTHS)
def test_none_is_found_to_be_faster_on_the_simulator(length: int) -> None:
    best = compiled("optimal", 33, length).run()
    assert best.verified
    assert best.cycles <= min(compiled(tree, 33, length).run().cycles for tree in PRELUDE)


def test_the_model_optimum_is_among_the_candidates() -> None:
    spec = compiled("optimal", 60, 50).spec
    (step,) = spec.collectives[0].steps
    assert isinstance(step, ReduceStep)
    fewest = min(model_cycles(tree.children, 50, 2) for tree in step.tree.candidates)
    assert fewest == optimum(60, np.array([50]), 2).times[60, 0]


def test_both_sides_of_a_root_are_chosen_for() -> None:
    text = """
        target wse2
        grid row = 40 x 1
        collective total = reduce(x: f32[30], add) on row { reduce optimal to 12 }
        program { total }
    """
    assert compile_text(text, "test.coll", {}).run().verified
