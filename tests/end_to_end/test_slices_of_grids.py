"""Contracts about slices on grids, emitted and run: on fabsim, and by the emitted host script."""

from __future__ import annotations

from pathlib import Path

import pytest

import collc
from collc.driver.pipeline import compile_text
from emitting import by_commands

KINDS = {
    "allgather": ("", "run rows by {} then run columns by {}", "ring_allgather"),
    "gather": ("", "run rows by {} then run column by {}", "binomial_gather"),
    "scatter": ("", "run column by {} then run rows by {}", "binomial_scatter"),
    "reduce_scatter": (
        ", max",
        "order south_to_north, east_to_west run rows by {} then run columns by {}",
        "ring_reduce_scatter",
    ),
    "all_to_all": ("", "order ring run columns by {} then run rows by {}", "linear_all_to_all"),
}
CASES = [
    ("allgather", "f32", "3 x 4", 29),
    ("allgather", "u16", "4 x 2", 3),
    ("gather", "f16", "2 x 3", 7),
    ("scatter", "i32", "3 x 2", 13),
    ("reduce_scatter", "f32", "4 x 3", 41),
    ("reduce_scatter", "i32", "2 x 2", 9),
    ("all_to_all", "f32", "3 x 2", 12),
]


def bundle_of(kind: str, element: str, size: str, length: int, target: str) -> collc.Bundle:
    operation, clauses, algorithm = KINDS[kind]
    text = (
        f"target {target} grid g = {size} "
        f"collective c = {kind}(x: {element}[{length}]{operation}) on g "
        f"{{ {clauses.format(algorithm, algorithm)} }} program {{ c }}"
    )
    return compile_text(text, "test.coll", {})


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("kind", "element", "size", "length"), CASES)
def test_slices_of_a_grid_come_to_their_owners(
    kind: str, element: str, size: str, length: int, target: str
) -> None:
    bundle = bundle_of(kind, element, size, length, target)
    report = bundle.run(repeats=2)
    assert report.verified, report.problem
    assert abs(report.cycles - bundle.prediction.cycles) <= 0.02 * report.cycles + 90


@pytest.mark.parametrize(("kind", "element", "size", "length"), CASES[::2])
def test_the_host_script_checks_the_same(
    tmp_path: Path, kind: str, element: str, size: str, length: int
) -> None:
    bundle_of(kind, element, size, length, "wse2").write(tmp_path)
    assert "SUCCESS!" in by_commands(tmp_path)


PROGRAM = """
    target wse2
    grid g = 4 x 3
    grid part = g[1 .. 3, 1 .. 2]
    collective spread = scatter(x: f32[13]) on g {
        run column by linear_scatter then run rows by linear_scatter
    }
    collective all = allgather(x: f32[13]) on g {
        run rows by ring_allgather then run columns by ring_allgather
    }
    collective sums = reduce_scatter(x: f32[13], add) on part {
        run columns by ring_reduce_scatter then run rows by ring_reduce_scatter
    }
    program { spread all sums }
"""


def test_slices_of_a_part_of_a_grid_follow_others_in_a_program(tmp_path: Path) -> None:
    bundle = compile_text(PROGRAM, "test.coll", {})
    report = bundle.run()
    assert report.verified, report.problem
    bundle.write(tmp_path)
    assert "SUCCESS!" in by_commands(tmp_path)
