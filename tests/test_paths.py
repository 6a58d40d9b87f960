"""Paths: every PE once, each next to the one before; Hilbert's curve on grids of any size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collc.base.grids import Grid
from collc.base.paths import Path, hilbert, leaps
from collc.emit.paths import path_model
from collc.language import parse_source
from collc.language.show import show_spec
from tests.test_show import NOWHERE, placeless

SIDES = range(1, 41)


def path_of(order: str, width: int, height: int, declared: str = "") -> Path:
    text = f"""target wse2 grid g = {width} x {height} {declared}
    collective c = reduce(x: f32[4], add) on g {{ order {order} reduce chain }} program {{ c }}"""
    path = parse_source(text).collectives[0].path
    assert path is not None
    return path


@pytest.mark.parametrize("width", SIDES)
def test_hilbert_comes_to_every_pe_of_any_grid_by_single_hops(width: int) -> None:
    for height in SIDES:
        path = list(hilbert(width, height))
        assert sorted(path) == [(x, y) for x in range(width) for y in range(height)]
        assert not list(leaps(path))
        down = height > 1 and (width == 1 or (width % 2 == 1 and height % 2 == 0))
        assert (path[0], path[-1]) == ((0, 0), (0, height - 1) if down else (width - 1, 0))


def along_bits(rank: int, order: int) -> tuple[int, int]:
    """Hilbert's curve digit by digit, from the last one up."""
    x = y = 0
    for level in range(order):
        side, quarter = 1 << level, (rank >> 2 * level) & 3
        if quarter == 0:
            x, y = y, x
        elif quarter == 3:
            x, y = 2 * side - 1 - y, side - 1 - x
        else:
            x, y = (x if quarter == 1 else x + side), y + side
    return x, y


@pytest.mark.parametrize("order", range(1, 6))
def test_on_squares_of_powers_of_two_it_is_the_curve_of_hilbert(order: int) -> None:
    side = 1 << order
    wanted = [along_bits(rank, order) for rank in range(side * side)]
    assert list(hilbert(side, side)) in (wanted, [(y, x) for x, y in wanted])


def test_ranks_of_a_hilbert_curve_stay_near_each_other() -> None:
    for width, height in ((64, 64), (50, 33), (31, 47)):
        path = list(hilbert(width, height))
        for first in range(0, len(path) - 64, 17):
            xs, ys = zip(*path[first : first + 64], strict=True)
            assert max(xs) - min(xs) + max(ys) - min(ys) < 40


def test_snake_turns_round_at_the_end_of_every_row() -> None:
    assert path_of("snake", 3, 2).places == ((0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1))


def test_an_order_may_have_parameters_of_its_own() -> None:
    declared = """order bands(W, H, S) : i -> (S * band + (y mod 2 == 0 ? z : S - 1 - z), r)
        where band = i div (S * H), y = i mod (S * H) div S, z = i mod S,
              r = band mod 2 == 0 ? y : H - 1 - y"""
    path = path_of("bands(S = 2)", 4, 3, declared)
    assert path.word == "bands(S = 2)"
    assert path.places[:4] == ((0, 0), (1, 0), (1, 1), (0, 1))


def test_an_order_written_out_is_taken_as_it_is() -> None:
    declared = "order round = [(0, 0), (1, 0), (1, 1), (0, 1)]"
    assert path_of("round", 2, 2, declared).places == ((0, 0), (1, 0), (1, 1), (0, 1))


def test_an_order_sees_the_parameters_of_the_file() -> None:
    declared = "param K = 2 order mine(W, H) : i -> (i mod K, i div K)"
    path = path_of("mine", 2, 2, declared)
    assert path.places == ((0, 0), (1, 0), (0, 1), (1, 1)) and path.leaps == {2}


@pytest.mark.parametrize(
    "order", ["snake", "hilbert", "mine", "mine(S = 3)", "round"], ids=lambda order: order
)
def test_a_spec_with_a_path_is_shown_and_read_again(order: str) -> None:
    parameters = "(W, H, S)" if "(" in order else "(W, H)"
    declared = f"""order mine{parameters} : i -> (x, x mod 2 == 0 ? i mod H : H - 1 - i mod H)
        where x = i div H
    order round = [(0, 0), (1, 0), (1, 1), (0, 1)]"""
    text = f"""target wse2 {declared} grid g = 2 x 2
    collective c = allreduce(x: f32[4], add) on g {{
        order {order} reduce star to 2 then broadcast from 2 }}
    program {{ c }}"""
    spec = parse_source(text)
    assert placeless(parse_source(show_spec(spec))) == placeless(spec)


GRIDS = st.tuples(st.integers(1, 9), st.integers(1, 9))


def model_of(places: list[tuple[int, int]], width: int, height: int):
    return path_model(Path("mine", tuple(places)), Grid("g", width, height, NOWHERE))


def evaluated(lines: tuple[str, ...], x: int, y: int) -> int:
    """A function body of the emitted code, as Python, without leaving 16 bits on the way."""
    for line in lines:
        condition, _, value = line.rpartition("return ")
        test = condition.removeprefix("if (").removesuffix(") { ")
        if not test or eval(test, {"x": x, "y": y}):
            return eval(value.removesuffix(" }").removesuffix(";"), {"x": x, "y": y})
    raise AssertionError(lines)


@given(GRIDS, st.booleans(), st.booleans(), st.booleans())
def test_snakes_from_any_corner_are_formulas(sides, turned, from_east, from_south) -> None:
    width, height = sides
    rows = [[(x, y) for x in range(width)] for y in range(height)]
    if turned:
        rows = [[(x, y) for y in range(height)] for x in range(width)]
    places = [pe for i, row in enumerate(rows) for pe in (row if i % 2 == 0 else row[::-1])]
    places = [
        (width - 1 - x if from_east else x, height - 1 - y if from_south else y) for x, y in places
    ]
    model = model_of(places, width, height)
    assert model.table == ()
    for place, (x, y) in enumerate(places):
        assert evaluated(model.lines, x, y) == place


@given(GRIDS, st.randoms(use_true_random=False))
def test_any_order_is_a_formula_or_a_table(sides, random) -> None:
    width, height = sides
    places = [(x, y) for x in range(width) for y in range(height)]
    random.shuffle(places)
    model = model_of(places, width, height)
    for place, (x, y) in enumerate(places):
        found = model.table[y * width + x] if model.table else evaluated(model.lines, x, y)
        assert found == place
