"""Every example, compiled and run, over sizes that divide by nothing.

CI takes the small sizes and one large; `make acceptance` takes them all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import collc
from collc.plan.dynamic_lengths import lengths_of_run

EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.coll"))
    if "\n    run " not in path.read_text()  # algorithms: not run from here yet
    and "\n    select " not in path.read_text()  # dynamic lengths: tests/programs/test_select.py
]
SIZES = [(1, 2), (2, 1), (3, 17), (7, 2), (31, 17), (64, 1)]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_delivers_on_every_size(path: Path, target: str) -> None:
    names = {p.name for p in collc.compile(path).spec.parameters}
    for ranks, length in SIZES:
        wanted = {"P": ranks, "W": ranks, "H": ranks // 2 + 1, "B": length, "S": min(3, ranks)}
        given = {name: value for name, value in wanted.items() if name in names}
        bundle = collc.compile(path, target=target, **given)
        run = lengths_of_run(bundle.program.program, {}, seed=1)
        report = bundle.run(lengths=run)
        assert report.verified, (given, report.problem)
        assert bundle.prediction.bound <= report.cycles, given
        slack = 0.02 * report.cycles + 90
        assert abs(bundle.predicted(run).cycles - report.cycles) <= slack, given


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_it_shows_and_how_to_run_it(path: Path) -> None:
    head = path.read_text().split("target")[0]
    assert f"collc run examples/{path.name}" in head
