"""NaN, infinities and zeros of both signs: one rule for the machine, the reference and run.py."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
import salted

from collc.base.columns import Array
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.run import expected
from collc.run.expected import NOT_KEPT
from collc.spec.arrays import same

TEXT = """
target {target}
{declared}
grid row = {ranks} x 1
collective c = allreduce(x: {element}[{length}], {operation}) on row {{ {steps} }}
program {{ c }}
"""
STEPS = (
    "run auto",
    "reduce chain to 2 then broadcast from 2",
    "order ring run ring_allreduce",
    "run recursive_doubling",
    "run halving_doubling",
    "run dual_root_allreduce(c = 1)",
)
NAN, INF = np.nan, np.inf


def compiled(operation: str, element: str, given: Array, **changes: str) -> Bundle:
    values = {"target": "wse2", "declared": "", "steps": STEPS[0]} | changes
    ranks, length = given.shape
    values |= {"operation": operation, "element": element}
    return compile_text(TEXT.format(ranks=ranks, length=length, **values), "floats.coll", {})


def results(bundle: Bundle, given: Array) -> Array:
    report = bundle.run(inputs={"x": given[None]})
    assert report.verified, report.problem
    found: Array = report.results["x"][0]
    assert same(found, np.broadcast_to(found[0], found.shape)).all(), "all ranks have the same bits"
    return found[0]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("steps", STEPS)
def test_numbers_win_against_nan_and_zeros_are_told_apart(steps: str, target: str) -> None:
    columns = [  # what the ranks have, the largest and the smallest
        ((NAN, 1, 17, 25), 25, 1),
        ((3, NAN, NAN, NAN), 3, 3),
        ((NAN, NAN, NAN, NAN), NAN, NAN),
        ((-0.0, 0.0, -0.0, -0.0), 0.0, -0.0),
        ((0.0, 0.0, 0.0, -0.0), 0.0, -0.0),
        ((-INF, NAN, -INF, -1), -1, -INF),
    ]
    given = np.array([column for column, *_ in columns], np.float32).T.copy()
    for place, operation in enumerate(("max", "min"), 1):
        bundle = compiled(operation, "f32", given, steps=steps, target=target)
        wanted = np.array([column[place] for column in columns], np.float32)
        assert same(results(bundle, given), wanted).all()


@pytest.mark.parametrize("steps", STEPS)
def test_sums_without_a_number_and_beyond_the_type_are_results(steps: str) -> None:
    given = np.array([(INF, 6e4, NAN), (-INF, 6e4, 1), (1, 6e4, 2), (2, 6e4, 3)], np.float16)
    found = results(compiled("add", "f16", given, steps=steps), given)
    assert same(found, np.array([NAN, INF, NAN], np.float16)).all()


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("steps", STEPS)
def test_a_pair_is_one_of_those_that_went_in(steps: str, target: str) -> None:
    dtype = np.dtype([("value", np.float32), ("index", np.uint32)])
    columns = [  # what the ranks have, that of the largest and that of the smallest value
        ([(-0.0, 1), (0.0, 9), (-0.0, 2), (0.0, 7)], (0.0, 7), (-0.0, 1)),
        ([(NAN, 0), (2.0, 3), (NAN, 1), (2.0, 2)], (2.0, 2), (2.0, 2)),
        ([(NAN, 5), (NAN, 3), (NAN, 4), (NAN, 6)], (NAN, 3), (NAN, 3)),
    ]
    given = np.array([column for column, *_ in columns], dtype).T.copy()
    for place, operation in enumerate(("argmax", "argmin"), 1):
        bundle = compiled(operation, "(f32, u32)", given, steps=steps, target=target)
        wanted = np.array([column[place] for column in columns], dtype)
        assert same(results(bundle, given), wanted).all()


@pytest.mark.parametrize("formula", ["a > b ? a : b", "(a * 3 + b) - a * 2", "max(b, a)"])
def test_ranks_agree_where_an_operation_is_commutative_but_for_a_few_bits(formula: str) -> None:
    declared = f"operation own(a, b: f32) commutative = {formula}"
    dice = np.random.default_rng(1)
    given = salted.salted(dice, "f32", (6, 40))
    for steps in ("run recursive_doubling", "run dual_root_allreduce(c = 2)"):
        results(compiled("own", "f32", given, declared=declared, steps=steps), given)


def test_ranks_that_end_with_different_bits_are_no_allreduce(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As they did with zeros of both signs, which each rank met in an order of its own."""
    given = np.array([[0.0], [-0.0]], np.float32)
    bundle = compiled("add", "f32", given, steps="reduce chain to 0 then broadcast from 0")
    differ = np.array([[[[0.0]], [[-0.0]]]], np.float32)
    monkeypatch.setattr(expected, "expected", lambda *_: differ)
    assert (
        bundle.run(inputs={"x": given[None]}).problem
        == f"`{bundle.plan.collective.name}`: {NOT_KEPT}"
    )


def test_what_differs_is_said() -> None:
    zero, other = np.zeros((1, 1, 1), np.float32), np.full((1, 1, 1), -0.0, np.float32)
    asked = np.ones((1, 1, 1), np.bool_)
    assert expected.describe(zero, other, asked).endswith("-0.0 instead of 0.0")
    nan, negative = (np.full((1, 1, 1), np.copysign(NAN, sign), np.float32) for sign in (1, -1))
    assert nan.view(np.uint32) != negative.view(np.uint32)
    assert not expected.describe(nan, negative, asked)
    assert expected.describe(nan, zero, asked).endswith("0.0 instead of nan")


def script(bundle: Bundle) -> dict[str, Any]:
    """The functions of the emitted run.py."""
    text = re.sub(r"from cerebras.*?\)\n\w?", "", bundle.files["run.py"], count=1, flags=re.DOTALL)
    names: dict[str, Any] = {"__name__": "script", "SdkRuntime": object}
    exec(text, names)
    return names


@pytest.mark.parametrize("operation", ["max", "add"])
def test_run_py_takes_any_nan_and_tells_zeros_apart(operation: str) -> None:
    given = np.array([(-0.0, NAN, NAN), (-0.0, NAN, 1)], np.float32)
    check = script(compiled(operation, "f32", given))["check"]
    right = np.array([(-0.0, -NAN, 1 if operation == "max" else NAN)] * 2, np.float32)[None]
    check({"x": given[None]}, {"x": right})
    for element, wrong in ((0, 0.0), (1, 2.0), (2, -1.0)):
        found = right.copy()
        found[0, 1, element] = wrong
        with pytest.raises(AssertionError):
            check({"x": given[None]}, {"x": found})


def test_run_py_chooses_pairs_as_the_machine_does() -> None:
    dice = np.random.default_rng(3)
    given = salted.salted(dice, "(f32, u32)", (5, 60))
    for operation in ("argmax", "argmin"):
        bundle = compiled(operation, "(f32, u32)", given)
        names = script(bundle)
        found = np.broadcast_to(results(bundle, given), given.shape)[None].copy()
        names["check"]({"x": given[None]}, {"x": found})
        found["index"][0, 1, 7] ^= 1
        with pytest.raises(AssertionError):
            names["check"]({"x": given[None]}, {"x": found})


def test_programs_with_salted_input_give_what_the_table_says() -> None:
    """A sample of `python tests/salted.py`."""
    done = Counter[str]()
    assert not list(salted.faults(iter(range(5000, 5040)), 4, done))
    assert done["runs"] > 120
