from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collc.base.diagnostics import CollcError
from collc.language import parse_source
from collc.language.expressions import log2ceil, pow2_below

TEMPLATE = """target wse2
param V = {}
grid row = 1 x 1
collective c = broadcast(x: f32[1]) on row {{ broadcast from 0 }}
program {{ c }}
"""


def value(expression: str) -> int:
    return parse_source(TEMPLATE.format(expression)).parameters[0].value


def code(expression: str) -> str:
    with pytest.raises(CollcError) as caught:
        value(expression)
    return caught.value.diagnostics[0].code


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("9 - 3 - 2", 4),
        ("100 div 10 div 2", 5),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("-7 div 2", -4),
        ("-7 mod 2", 1),
        ("7 mod -2", -1),
        ("- - 3", 3),
        ("2 - -3", 5),
        ("1 < 2 < 3 ? 1 : 0", 1),
        ("1 < 3 < 2 ? 1 : 0", 0),
        ("1 == 2 ? 3 : 4 == 4 ? 5 : 6", 5),
        ("not 1 == 2 and 2 == 2 ? 1 : 0", 1),
        ("1 == 1 or 1 div 0 == 1 ? 1 : 0", 1),
        ("1 == 2 and 1 div 0 == 1 ? 1 : 0", 0),
        ("1 == 1 or 1 == 2 and 1 == 2 ? 1 : 0", 1),
        ("isqrt(99)", 9),
        ("max(1, 7, 3) - min(4, 2)", 5),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775807 - 1", -(2**63)),
    ],
)
def test_an_expression_has_the_value_of_arithmetic(expression: str, expected: int) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("9223372036854775807 + 1", "C116"),
        ("9223372036854775808", "C116"),
        ("-9223372036854775807 - 2", "C116"),
        ("9" * 5000, "C116"),
        ("4294967296 * 4294967296", "C116"),
        ("(-9223372036854775807 - 1) div -1", "C116"),
        ("1 div 0", "C115"),
        ("1 mod (2 - 2)", "C115"),
        ("isqrt(-1)", "C117"),
        ("log2ceil(0)", "C117"),
        ("pow2_below(0)", "C117"),
        ("isqrt(1, 2)", "C114"),
        ("max(1)", "C114"),
        ("isqrt(n = 1)", "C114"),
        ("1 < 2", "C113"),
        ("1.5", "C113"),
        ("1 and 2", "C113"),
        ("not 1", "C113"),
        ("1 ? 2 : 3", "C113"),
        ("leaf", "C113"),
        ("bound", "C113"),
        ("join(leaf, leaf)", "C113"),
        ("chain(3)", "C113"),
        ("0 <- [1]", "C113"),
        ("V", "C110"),
        ("nothing(1)", "C110"),
    ],
)
def test_an_expression_without_a_value_is_refused(expression: str, expected: str) -> None:
    assert code(expression) == expected


def test_pow2_below_is_the_largest_power_of_two_below_but_at_least_1() -> None:
    assert [pow2_below(n) for n in (1, 2, 3, 4, 5, 8, 9, 16, 17)] == [1, 1, 2, 2, 4, 4, 8, 8, 16]


def test_log2ceil_rounds_up() -> None:
    assert [log2ceil(n) for n in (1, 2, 3, 4, 5, 8, 9)] == [0, 1, 2, 2, 3, 3, 4]


SMALL = st.integers(-50, 50)


@st.composite
def arithmetic(draw: st.DrawFn) -> tuple[str, str]:
    """The same arithmetic in the language and in Python."""
    parts: list[tuple[str, str]] = [
        (f"({n})", f"({n})") for n in draw(st.lists(SMALL, min_size=1, max_size=6))
    ]
    while len(parts) > 1:
        right, left = parts.pop(), parts.pop()
        ours, theirs = draw(st.sampled_from([("+", "+"), ("-", "-"), ("*", "*")]))
        bare = draw(st.booleans())
        joined = f"{left[0]} {ours} {right[0]}", f"{left[1]} {theirs} {right[1]}"
        parts.append(joined if bare else (f"({joined[0]})", f"({joined[1]})"))
    return parts[0]


@given(arithmetic())
def test_arithmetic_agrees_with_python(pair: tuple[str, str]) -> None:
    assert value(pair[0]) == eval(pair[1])


@given(SMALL, SMALL.filter(bool))
def test_div_and_mod_round_down(a: int, b: int) -> None:
    assert value(f"({a}) div ({b})") == a // b
    assert value(f"({a}) mod ({b})") == a % b
