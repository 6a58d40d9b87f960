"""The PEs of a slot, written as bits."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from collc.plan import Strided
from collc.plan.slots import _bits, _joined

RUNS = st.builds(
    lambda first, extent, step, gap, repeats: Strided(
        first, first + extent, step, extent + gap if repeats > 1 else 0, repeats
    ),
    st.integers(-20, 40),
    st.integers(-3, 30),
    st.integers(1, 6),
    st.integers(4, 9),
    st.integers(1, 5),
)
SIDES = st.integers(0, 15)


def places(x: int, y: int) -> set[tuple[int, int]]:
    """The PEs of a rectangle given as bits."""
    return {(a, b) for a, b in product(range(4), range(4)) if x >> a & 1 and y >> b & 1}


@given(RUNS)
def test_the_bits_of_a_run_are_those_of_its_members_on_the_grid(run: Strided) -> None:
    assert _bits(run) == sum(1 << member for member in run if member >= 0)


@given(st.lists(st.tuples(SIDES, SIDES), max_size=6))
def test_joined_rectangles_have_the_same_places(areas: list[tuple[int, int]]) -> None:
    joined = _joined(areas)
    assert set().union(*(places(*one) for one in joined)) == set().union(
        *(places(*one) for one in areas)
    )
    assert len(joined) <= len(areas)


def test_all_columns_of_a_phase_are_one_rectangle() -> None:
    assert _joined([(0b1111, 1 << row) for row in range(4)]) == ((0b1111, 0b1111),)
