"""A result in an order of its own is right, another result is not, operation by operation."""

from __future__ import annotations

import numpy as np
import pytest
from mismatches import mismatch

from collc.base.columns import Array
from collc.language import parse_source
from collc.run import expected as verify
from collc.run.expected import NOT_KEPT, keeps_own, make_input
from collc.run.unordered_reference import in_any_order
from collc.schedule import Schedule, build_schedule
from collc.spec import Operation

ROUNDED = (Operation.ADD, Operation.MUL)
CHOSEN = (Operation.MAX, Operation.MIN)
FLOATS = (np.float16, np.float32)


def vectors(ranks: int, dtype: type, seed: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(0.5, 1.5, (ranks, 8)).astype(dtype)


def schedule_of(contract: str, ranks: int) -> Schedule:
    text = f"""
    target wse2
    grid row = {ranks} x 1
    collective c = {contract} on row {{ reduce star then broadcast from (0, 0) }}
    program {{ c }}
    """
    return build_schedule(parse_source(text).collectives[0])


@pytest.mark.parametrize("operation", ROUNDED + CHOSEN)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", [1, 2, 32])
def test_what_another_order_gives_is_allowed(operation: Operation, dtype: type, ranks: int) -> None:
    given = vectors(ranks, dtype)
    right = in_any_order(operation, given)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(ranks)
        result = given[order[0]]
        for rank in order[1:]:
            result = operation.facts.ufunc(result, given[rank])
        assert result.dtype == dtype
        assert right.allows(result).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("operation", CHOSEN)
def test_of_a_maximum_or_minimum_nothing_but_itself_is_allowed(
    operation: Operation, dtype: type
) -> None:
    given = vectors(32, dtype)
    right = in_any_order(operation, given)
    result = operation.facts.ufunc.reduce(given, axis=0)
    assert right.allows(result).all()
    for wrong in (np.nextafter(result, dtype(0)), np.nextafter(result, dtype(2)), given[0] * 0):
        assert not right.allows(wrong).any()


@pytest.mark.parametrize("operation", CHOSEN)
def test_a_maximum_of_large_elements_is_compared_too(operation: Operation) -> None:
    """Their sum is infinite, which does not matter."""
    given = vectors(32, np.float16) * np.float16(40_000)
    right = in_any_order(operation, given)
    other = CHOSEN[1 - CHOSEN.index(operation)]
    assert right.allows(operation.facts.ufunc.reduce(given, axis=0)).all()
    assert not right.allows(other.facts.ufunc.reduce(given, axis=0)).any()


def test_of_zeros_and_nan_what_the_language_says_is_allowed() -> None:
    given = np.array([[0.0, np.nan, np.inf, np.nan], [-0.0, 1.0, 1.0, -np.nan]], np.float32)
    right = in_any_order(Operation.MAX, given)
    assert right.allows(np.array([0.0, 1.0, np.inf, np.nan], np.float32)).all()
    wrong = np.array([-0.0, np.nan, 1.0, 1.0], np.float32)
    assert not right.allows(wrong).any()


def test_infinities_decide_a_sum_or_product_where_nothing_else_leaves_the_range() -> None:
    given = np.array([[np.inf, np.inf, np.nan, 1], [1, -np.inf, 1, 2]], np.float32)
    right = in_any_order(Operation.ADD, given)
    assert right.allows(np.array([np.inf, np.nan, -np.nan, 3], np.float32)).all()
    assert not right.allows(np.array([np.nan, np.inf, 1, np.inf], np.float32)).any()
    given = np.array([[np.inf, np.inf, np.nan], [-1, 0, 0]], np.float32)
    right = in_any_order(Operation.MUL, given)
    assert right.allows(np.array([-np.inf, np.nan, np.nan], np.float32)).all()
    assert not right.allows(np.array([np.inf, 0, 0], np.float32)).any()


@pytest.mark.parametrize(
    ("declared", "guarded"),
    [
        ("f32) commutative = max(a, b)", True),
        ("i32) commutative = a + b", True),
        ("f32) commutative = a + b", False),  # rounded
        ("i32) commutative assume associative = min(a + b, 9)", False),
        ("f32) = b == b ? b : a", False),
    ],
)
def test_own_operations_are_guarded_where_no_order_matters(declared: str, guarded: bool) -> None:
    text = f"""
    target wse2
    operation own(a, b: {declared}
    grid row = 3 x 1
    collective c = reduce(x: {declared[:3]}[4], own) on row {{ reduce chain }}
    program {{ c }}
    """
    operation = parse_source(text).collectives[0].contract.operation
    assert operation is not None
    given = np.array([[1, 2, 3, 4]] * 3, declared[0] + "4")
    assert in_any_order(operation, given).allows(given[0] - 7).any() is np.bool_(not guarded)


@pytest.mark.parametrize("operation", ROUNDED)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", [2, 8, 32])
def test_a_sum_or_product_is_refused_where_one_operand_is_missing_or_there_twice(
    operation: Operation, dtype: type, ranks: int
) -> None:
    given = vectors(ranks, dtype)
    given[-1] = 1.5  # of 1 a product does not tell how often it is there
    right, ufunc = in_any_order(operation, given), operation.facts.ufunc
    less, more = given[:-1], np.concatenate([given, given[-1:]])
    for wrong in (less, more):
        assert not right.allows(ufunc.reduce(wrong.astype(np.float64), axis=0)).any()


def test_what_may_have_left_the_range_on_its_way_may_be_anything() -> None:
    """3e4 + 4e4 is infinite in 16 bits, 3e4 - 4e4 + 4e4 is not; and so with products."""
    given = np.array([[3e4], [4e4], [-4e4]], np.float16)
    assert in_any_order(Operation.ADD, given).allows(np.array([np.inf])).all()
    given = np.array([[300.0], [300.0], [0.001]], np.float16)
    assert in_any_order(Operation.MUL, given).allows(np.array([np.inf])).all()
    given = np.array([[0.0001], [0.0001], [300.0]], np.float16)
    assert in_any_order(Operation.MUL, given).allows(np.array([0.0])).all()


@pytest.mark.parametrize("operation", ["max", "min", "mul", "add"])
def test_a_schedule_with_another_result_than_its_contract_is_refused(
    operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that keeps the smallest where the largest is promised, on as many PEs as would make
    that a difference of rounding."""
    schedule = schedule_of(f"allreduce(x: f16[4], {operation})", 48)
    given = make_input(schedule.collective, 1)
    right = verify.expected(schedule, given)
    assert mismatch(schedule, given, right) == ""
    other = given.max(axis=1) if operation == "min" else given.min(axis=1)
    wrong = np.broadcast_to(other, right.shape).copy()
    monkeypatch.setattr(verify, "expected", lambda *_: wrong)
    assert mismatch(schedule, given, wrong) == NOT_KEPT


@pytest.mark.parametrize("operation", ["max", "min", "mul", "add"])
def test_so_is_one_of_a_contract_of_ones_own(operation: str) -> None:
    text = f"""
    target wse2
    grid row = 48 x 1
    contract every(n) {{ after each r, q : r has q }}
    algorithm direct(n) {{ step {{ each r, q where r != q : slice 0 r => q }} }}
    collective c = every(x: f16[4], {operation}) on row {{ run direct }}
    program {{ c }}
    """
    collective = parse_source(text).collectives[0]
    given = make_input(collective, 1)
    right = Operation(operation).facts.ufunc.reduce(given, axis=1)
    assert keeps_own(collective, given, np.broadcast_to(right, given.shape).copy())
    other = given.max(axis=1) if operation == "min" else given.min(axis=1)
    assert not keeps_own(collective, given, np.broadcast_to(other, given.shape).copy())
