"""Trees and algorithms along paths through a grid, from `.coll` text to emitted CSL to fabsim."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, product

import pytest
from libraries import library_of
from with_schedules import check

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text

GRIDS = ((1, 1), (1, 3), (2, 2), (5, 3), (4, 4))
ORDERS = {
    "snake": "",
    "hilbert": "",
    "furrows": """order furrows(W, H) : i -> (x, x mod 2 == 0 ? i mod H : H - 1 - i mod H)
        where x = i div H""",
}


def compiled(target: str, grid: tuple[int, int], contract: str, order: str, body: str) -> Bundle:
    text = f"""target {target} grid g = {grid[0]} x {grid[1]} {ORDERS[order]}
    collective total = {contract} on g {{ order {order} {body} }} program {{ total }}"""
    return compile_text(text, "test.coll", {})


def delivers(bundle: Bundle, repeats: int = 1) -> None:
    report = bundle.run(repeats=repeats)
    assert report.verified, report.problem


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("order", ORDERS)
def test_trees_run_along_any_path_to_any_root(order: str, target: str) -> None:
    trees = ("chain", "two_phase(S = 3)", "binomial", "star, chain")
    for (grid, tree), length in zip(product(GRIDS, trees), cycle((1, 17, 64)), strict=False):
        ranks = grid[0] * grid[1]
        root = ranks // 2 if "," in tree else (0, ranks // 3, ranks - 1)[length % 3]
        body = f"reduce {tree} to {root}"
        if length == 17:
            delivers(compiled(target, grid, f"reduce(x: f32[{length}], add)", order, body))
        else:
            body += f" then broadcast from {root}"
            delivers(compiled(target, grid, f"allreduce(x: f32[{length}], min)", order, body))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("contract", "body"),
    [
        ("allreduce(x: f32[24], add)", "run ring_allreduce"),
        ("allreduce(x: i32[7], max)", "run recursive_doubling"),
        ("reduce(x: f32[17], add)", "run pipelined_reduce(c = 3)"),
        ("gather(x: f32[17])", "run binomial_gather"),
        ("scatter(x: f32[17])", "run linear_scatter"),
        ("allgather(x: u16[17])", "run ring_allgather"),
        ("reduce_scatter(x: f32[17], add)", "run ring_reduce_scatter"),
        ("broadcast(x: f32[17])", "broadcast from (0, 0)"),
    ],
)
def test_algorithms_run_along_any_path(contract: str, body: str, target: str) -> None:
    for grid, order in product(((2, 3), (4, 4)), ORDERS):
        delivers(compiled(target, grid, contract, order, body))


@pytest.mark.parametrize(
    ("contract", "body"),
    [
        ("reduce(x: f32[40], add)", "reduce two_phase(S = 3) to 5"),
        ("reduce(x: i32[9], max)", "reduce binomial"),
        ("allreduce(x: f32[24], add)", "run ring_allreduce"),
        ("allreduce(x: i32[7], max)", "run recursive_doubling"),
    ],
)
def test_a_path_takes_as_long_as_a_row(contract: str, body: str) -> None:
    row = compiled("wse2", (12, 1), contract, "snake", body)
    for order in ORDERS:
        path = compiled("wse2", (4, 3), contract, order, body)
        assert path.prediction.cycles == row.prediction.cycles
        assert path.run().cycles == row.run().cycles


def test_what_runs_along_a_path_may_run_again() -> None:
    for order in ORDERS:
        tree = "reduce binomial to 4 then broadcast from 4"
        delivers(compiled("wse2", (4, 3), "allreduce(x: f32[9], add)", order, tree), 3)
        ring = compiled("wse3", (4, 3), "allreduce(x: f32[9], add)", order, "run ring_allreduce")
        delivers(ring, 3)


def test_a_path_takes_the_colors_and_roles_of_a_row() -> None:
    sizes = {}
    for order, grid in (("snake", (8, 8)), ("snake", (64, 1)), ("hilbert", (8, 8))):
        bundle = compiled("wse2", grid, "reduce(x: f32[8], add)", order, "reduce binomial")
        sizes[order, grid] = len(bundle.plan.colors), len(bundle.plan.phases[0].roles)
    assert len(set(sizes.values())) == 1


def test_the_text_of_a_snake_does_not_grow_with_the_grid() -> None:
    def text(*grid: int) -> int:
        bundle = compiled("wse2", grid, "reduce(x: f32[8], add)", "snake", "reduce chain")
        return len(library_of(bundle.files, "layout"))

    assert text(30, 30) <= text(6, 6) + 20


def test_a_path_that_leaps_or_is_left_is_refused() -> None:
    bundle = compiled("wse2", (4, 4), "reduce(x: f32[8], add)", "snake", "reduce chain")
    (phase,) = bundle.plan.phases
    assert phase.path is not None
    places = phase.path.places
    noncontiguous = replace(phase.path, places=(*places[:3], *places[4:], places[3]))
    outside = replace(phase.path, places=tuple((x, y + 1) for x, y in places))
    twice = replace(phase.path, places=(*places[:-1], places[-3]))
    for path in (noncontiguous, outside, twice):
        wrong = replace(bundle.plan, phases=(replace(phase, path=path),))
        assert [d.code for d in check("paths", wrong)] == ["C330"]
    assert list(check("paths", bundle.plan)) == []
