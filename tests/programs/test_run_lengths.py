"""Lengths that a user gives to a run: which are refused, and which are taken."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.plan.dynamic_lengths import checked_lengths
from collc.spec import Program
from collc.spec.program import program_of_one


def text(*bounds: str, rounds: int) -> str:
    """A program of collectives whose lengths are given when it runs, each by a bound."""
    lines = ["target wse2", "grid row = 4 x 1"]
    lines += [
        f"collective c{i} = reduce(x{i}: f32[{bound}], add) on row {{ reduce chain to 0 }}"
        for i, bound in enumerate(bounds)
    ]
    calls = " ".join(f"c{i}" for i in range(len(bounds)))
    return "\n".join([*lines, f"program {{ repeat {rounds} {{ {calls} }} }}"])


def program(*bounds: str, rounds: int) -> Program:
    spec = parse_source(text(*bounds, rounds=rounds))
    return spec.program or program_of_one(spec.collectives[0])


ONE = program("n <= 30", rounds=1)
THREE = program("n <= 30", rounds=3)
TWO_NAMES = program("n <= 30", "m <= 8", rounds=2)
NO_NAME = program("30", rounds=2)
ONE_CALL = program("30", rounds=1)


@pytest.mark.parametrize(
    ("of", "given", "found"),
    [
        (ONE, [("", (1,))], {"n": (1,)}),
        (ONE, [("n", (30,))], {"n": (30,)}),
        (THREE, [("", (1, 30, 7))], {"n": (1, 30, 7)}),
        (THREE, [("", (7,))], {"n": (7, 7, 7)}),
        (TWO_NAMES, [("m", (8,)), ("n", (9, 30))], {"m": (8, 8), "n": (9, 30)}),
        (TWO_NAMES, [("m", (8,))], {"m": (8, 8)}),  # n is drawn at random
        (NO_NAME, [], {}),
        (ONE_CALL, [], {}),
    ],
)
def test_lengths_that_fit_are_taken(
    of: Program, given: list[tuple[str, tuple[int, ...]]], found: dict[str, tuple[int, ...]]
) -> None:
    assert checked_lengths(of, given) == found


@pytest.mark.parametrize(
    ("of", "given", "message"),
    [
        (ONE, [("", (0,))], "n = 0: it is 1 to 30"),
        (ONE, [("", (31,))], "n = 31: it is 1 to 30"),
        (ONE, [("", (1, 2))], "2 lengths for 1 round: give one"),
        (THREE, [("", (1, 2))], "2 lengths for 3 rounds: give one, or one for each"),
        (THREE, [("", (1, 2, 3, 4))], "4 lengths for 3 rounds: give one, or one for each"),
        (TWO_NAMES, [("", (1,))], "say which of m, n"),
        (TWO_NAMES, [("m", (9,))], "m = 9: it is 1 to 8"),
        (TWO_NAMES, [("k", (1,))], "there is no length k to give, but m, n"),
        (ONE, [("n", (1,)), ("", (2,))], "the length n is given twice"),
        (NO_NAME, [("", (1,))], "the program has no length that is given when it runs"),
        (ONE_CALL, [("", (1,))], "the program has no length that is given when it runs"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(
    of: Program, given: list[tuple[str, tuple[int, ...]]], message: str
) -> None:
    with pytest.raises(CollcError) as caught:
        checked_lengths(of, given)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.message) == ("C503", message)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": (0,)}, "n = 0: it is 1 to 30"),
        ({"n": (31,)}, "n = 31: it is 1 to 30"),
        ({"n": (1, 2)}, "2 lengths for 3 rounds: give one, or one for each"),
        ({"m": (1,)}, "there is no length m to give, but n"),
    ],
)
def test_a_run_from_python_refuses_them_too(
    given: dict[str, tuple[int, ...]], message: str
) -> None:
    bundle = compile_text(text("n <= 30", rounds=3), "test.coll", {})
    with pytest.raises(CollcError) as caught:
        bundle.run(lengths=given)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.message) == ("C503", message)
    assert bundle.run(lengths={"n": (5,)}).lengths == {"n": (5, 5, 5)}
