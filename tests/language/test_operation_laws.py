"""Laws of user-defined operations, on a sample of the families of tests/operation_laws.py."""

from __future__ import annotations

import re
from time import process_time

import numpy as np
import pytest
from operation_families import Case, lawful, unlawful
from operation_laws import breaks_among_its_numbers, declared, refusal

from collc.language import laws
from collc.spec.formula import DTYPE_OF_NUMBER, evaluate
from collc.spec.unrounded import _sum, exactly, unrounded

_UNLAWFUL, _LAWFUL = unlawful()[::11], lawful()[::13]


@pytest.mark.parametrize("case", _UNLAWFUL, ids=lambda case: case.text)
def test_an_operation_that_breaks_a_law_is_refused_with_operands_that_show_it(case: Case) -> None:
    assert breaks_among_its_numbers(case)
    said = refusal(case)
    assert said is not None and said.code == "C163"
    _check_shown(case, said.message)


@pytest.mark.parametrize("case", _LAWFUL, ids=lambda case: case.text)
def test_a_lawful_operation_is_accepted(case: Case) -> None:
    assert not breaks_among_its_numbers(case)
    assert refusal(case) is None


def _check_shown(case: Case, message: str) -> None:
    """The numbers of a message, read as the language would read them, give what it says."""
    formula = declared(case, "assume associative").formula
    dtype = np.dtype(DTYPE_OF_NUMBER[case.element])

    def f(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return evaluate(formula, x, y)

    number = r"(-?[\d.]+(?:e[+-]?\d+)?)"
    found = re.findall(rf"{number}(?=[,) ]|$)", message.partition(": ")[2])
    values = [np.array([int(n) if dtype.kind != "f" else float(n)]).astype(dtype) for n in found]
    if "commutative" in message:
        a, b, left, _, _, right = values
        assert f(a, b) == left and f(b, a) == right and left != right
    else:
        a, b, c, left, _, _, _, right = values
        assert f(f(a, b), c) == left and f(a, f(b, c)) == right and left != right


def test_constants_that_are_met_together_only_are_found() -> None:
    body = "a + b + (a == {0} and b == {1} or a == {1} and b == {0} ? 1 : 0)"
    for pair in ((77, 78), (1_000_003, -7), (2_000_000_000, 5)):
        assert refusal(Case("", "i32", body.format(*pair), commutative=True))


def test_a_condition_on_sum_and_product_is_reached_by_descent() -> None:
    assert refusal(Case("", "i32", "a + b == 1098 and a * b == 266057 ? 0 : a + b"))


def test_what_rounding_explains_is_no_counterexample() -> None:
    # of 1e10, -1, 2e10 one order gives 2e10, the other 1e10: the product's rounding decides
    assert refusal(Case("", "f32", "a + b + a * b", commutative=True)) is None
    assert refusal(Case("", "f32", "a + b + a * b + 1e-3 * b", commutative=False)) is not None


def test_numbers_that_are_rounded_where_they_are_written_are_no_counterexample() -> None:
    assert refusal(Case("", "f32", "a * b + 0.3 * (a + b) - 0.21")) is None
    assert refusal(Case("", "f32", "a * b + 0.3 * (a + b) - 0.2")) is not None


def test_a_result_that_overflows_says_nothing() -> None:
    assert refusal(Case("", "f16", "a * b", commutative=True)) is None
    assert refusal(Case("", "f16", "min(a * b, 60000.0)", commutative=True)) is not None


def test_an_operation_is_looked_at_in_little_time() -> None:
    laws._counterexample.cache_clear()
    laws._tried.cache_clear()
    begin = process_time()
    assert refusal(Case("", "i32", "max(max(a, -a), max(b, -b))", commutative=True)) is None
    assert process_time() - begin < 0.2  # about 0.02


def test_a_long_formula_is_looked_at_in_bounded_time() -> None:
    parts = ", ".join(
        f"v{n} = v{n - 1} + (a == {n} and b == {n + 1} ? 1 : 0)" for n in range(1, 400)
    )
    begin = process_time()
    assert refusal(Case("", "i32", f"v399 where v0 = a + b, {parts}"))
    assert process_time() - begin < 5


@pytest.mark.parametrize("parts", ["c{0} and c{0}", "c{0} or not c{0}"])
def test_conditions_that_are_made_of_one_twice_take_no_longer(parts: str) -> None:
    made = ", ".join(f"c{n} = {parts.format(n - 1)}" for n in range(1, 100))
    begin = process_time()
    odd = f"c99 ? a + b : max(a, b) where c0 = a < b and b < a, {made}"
    assert refusal(Case("", "i32", odd)) is None
    assert process_time() - begin < 5


def test_a_sum_beyond_all_numbers_is_no_lower_bound() -> None:
    with np.errstate(all="ignore"):
        least, most = _sum(np.array([1.7e308, -1.7e308, 1.0]), np.array([1.7e308, -1.7e308, 1e-20]))
    largest = float(np.finfo(np.float64).max)
    assert least.tolist() == [largest, -np.inf, 1.0]
    assert most.tolist() == [np.inf, -largest, 1.0 + 2.0**-52]


def test_unrounded_results_are_known_exactly_where_nothing_is_rounded() -> None:
    formula = declared(Case("", "f32", "a + b")).formula
    given = [exactly(np.array(x, np.float32)) for x in ([1.5, 1e8, 0.1], [2.25, 1.0, 0.2])]
    found = unrounded(formula, *given, as_rounded=False)
    assert found.low[0] == found.high[0] == 3.75
    assert found.low[1] == 1e8 and found.high[1] == 1e8 + 1  # computed as 1e8
    assert found.low[2] < found.high[2]


def test_a_comparison_that_rounding_may_decide_is_open() -> None:
    formula = declared(Case("", "f32", "a + b > 1e8 ? 1.0 : 0.0"), "assume associative").formula
    given = [exactly(np.array(x, np.float32)) for x in ([1e8, 1e8, 3.0], [1.0, 16.0, 4.0])]
    found = unrounded(formula, *given, as_rounded=False)
    assert list(zip(found.low, found.high, strict=True)) == [(0, 1), (1, 1), (0, 0)]
