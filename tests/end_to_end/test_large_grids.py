"""Vectors of large grids are copied, carried out and compared in parts: nothing may come of it."""

from pathlib import Path

import numpy as np
import pytest

import fabsim
from collc.driver.pipeline import compile_text
from collc.run import expected, program, unordered_reference
from collc.run.unordered_reference import in_any_order
from collc.spec import ElementType, Operation
from collc.spec.arrays import DTYPE

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_MOST_COPIED", 1)
    monkeypatch.setattr(expected, "_MOST_CARRIED", 1)
    monkeypatch.setattr(unordered_reference, "_MOST_AT_ONCE", 1)


@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("ring_2d", {"W": 5, "H": 3, "B": 12}),
        ("allreduce_slices", {"W": 4, "H": 3, "B": 48}),
        ("all_to_all_2d", {"W": 3, "H": 2, "E": 2}),
        ("program_halo_columns", {"P": 3, "Q": 2, "B": 7, "T": 4}),
    ],
)
def test_a_grid_is_compared_row_by_row(name: str, sizes: dict[str, int]) -> None:
    text = (EXAMPLES / f"{name}.coll").read_text()
    report = compile_text(text, f"{name}.coll", sizes).run(seed=2)
    assert report.verified, report.problem


def test_a_wrong_element_is_named_by_its_place_in_the_grid() -> None:
    wanted = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    found, asked = wanted.copy(), np.ones(wanted.shape, np.bool_)
    found[1, 1, 2] = found[2, 0, 0] = -1
    asked[2] = False
    assert expected.describe(wanted, found, asked) == (
        "1 of 16 elements are wrong; the first is element 2 at PE (1, 1): -1.0 instead of 14.0"
    )
    assert not expected.describe(wanted, wanted, asked)


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.MUL])
def test_operands_in_parts_give_the_same(
    operation: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = np.random.default_rng(3)
    operands = dice.uniform(-2, 2, (50, 17)).astype(DTYPE[ElementType("f32")])
    whole = in_any_order(operation, operands)
    monkeypatch.setattr(unordered_reference, "_MOST_AT_ONCE", 1)
    parts = in_any_order(operation, operands)
    assert np.array_equal(parts.plain, whole.plain)
    assert np.array_equal(parts.most, whole.most)


def test_pes_that_do_the_same_are_one_program_for_whoever_compiles_them(tmp_path: Path) -> None:
    """Code of each PE of its own would take more than six million steps of evaluation."""
    sizes = {"W": 40, "H": 40}
    bundle = compile_text((EXAMPLES / "allreduce_2d.coll").read_text(), "all.coll", sizes)
    bundle.write(tmp_path)
    fabsim.compile(tmp_path / "layout.csl", arch=bundle.spec.target, max_comptime_steps=4_000_000)
