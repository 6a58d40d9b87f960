"""Collectives on parts of a grid and on each of its lines."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from libraries import name_of
from programs.texts import program_of

import collc
from collc.base.grids import Grid
from collc.commands.output import facts_of
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.run.expected import on_site
from collc.run.program import NOTHING_KNOWN
from fabsim.cslc import compile_command

EXAMPLE = Path(__file__).parents[2] / "examples" / "program_parts.coll"
HEAD = """target wse2
param W = 5
param H = 4
grid pes = W x H
grid mid = pes[1 .. W - 2, 0 .. H - 2]
grid last = pes[W - 1, 0 .. H - 1]
"""


def compiled(text: str, skew: int = 0, target: str = "wse2", **parameters: int) -> Bundle:
    bundle = compile_text(HEAD + text, "test.coll", parameters, target, skew)
    return bundle


@pytest.mark.parametrize(
    ("target", "skew", "width", "height"),
    [("wse2", 0, 4, 5), ("wse2", 100, 8, 6), ("wse3", 60, 5, 4), ("wse2", 0, 1, 3)],
)
def test_the_example_runs_on_all_its_parts(target: str, skew: int, width: int, height: int) -> None:
    text, sizes = EXAMPLE.read_text(), {"W": width, "H": height}
    report = compile_text(text, EXAMPLE.name, sizes, target, skew).run(repeats=2)
    assert report.verified, report.problem


def test_a_collective_alone_may_be_on_each_line_of_a_part() -> None:
    bundle = compiled(
        "collective least = reduce(x: f32[7], min) on each column of mid { reduce binomial to 1 }"
        "program { least }"
    )
    report = bundle.run()
    assert report.verified, report.problem


def test_pes_off_a_part_keep_what_they_have_whatever_the_length() -> None:
    bundle = compiled(
        "collective least = reduce(x: f32[n <= 7], min) on mid"
        "{ reduce columns by chain to 0 then reduce row by chain to 0 }"
        "collective most = broadcast(x: f32[n <= 7]) on last { broadcast from 0 }"
        "program { least most }"
    )
    report = bundle.run(lengths={"n": (5,)})
    assert report.verified, report.problem


def test_a_collective_on_a_part_has_the_whole_grid() -> None:
    text = "collective c = broadcast(x: f32[1]) on last { broadcast from 0 } program { c }"
    bundle = compile_text(HEAD + text, "test.coll", {})
    assert bundle.size == (5, 4)
    report = bundle.run(repeats=2)
    assert report.verified, report.problem


def test_a_part_may_have_a_path_of_its_own_and_steps_another() -> None:
    bundle = compiled(
        "collective along = allreduce(x: f32[6], min) on mid"
        "{ order snake reduce chain to 4 then broadcast from 4 }"
        "collective around = allreduce(y: u32[9], add) on each row of mid { run ring_allreduce }"
        "collective down = scatter(z: f32[11]) on last { run linear_scatter }"
        "program { along around along down within colors <= 3 }",
        skew=40,
    )
    report = bundle.run()
    assert report.verified, report.problem


def test_the_text_does_not_grow_with_the_lines() -> None:
    text = (
        "collective sums = reduce(x: f32[4], add) on each row of pes { reduce chain to W - 1 }"
        "collective take = broadcast(y: f32[4]) on last { broadcast from 0 }"
        "program { sums take }"
    )
    small, large = (compiled(text, W=9, H=h).files for h in (7, 700))
    assert abs(len("".join(small.values())) - len("".join(large.values()))) < 200


def test_a_wrong_result_on_one_line_is_found() -> None:
    """What the others compute is compared line by line: a broken copy shows."""
    text = (
        "collective sums = reduce(x: f32[4], add) on each row of pes { reduce chain to 0 }"
        "program { sums }"
    )
    bundle = compiled(text)
    name = name_of(bundle.files, "layout")
    right = "const role = reduce_class(x, 0);"
    wrong = "const role = if (y == 2) 4 else reduce_class(x, 0);"
    assert right in bundle.files[name]
    files = {**bundle.files, name: bundle.files[name].replace(right, wrong, 1)}  # its routes
    broken = Bundle(bundle.spec, bundle.program, bundle.schedules, bundle.prediction, files)
    with pytest.raises((collc.RunError, AssertionError)):
        assert broken.run().verified


def test_a_grid_is_seen_line_by_line_and_part_by_part() -> None:
    text = HEAD + "".join(
        f"collective c{i} = broadcast(x: f32[1]) on {place} {{ broadcast from 0 }}\n"
        for i, place in enumerate(("pes", "mid", "each row of mid", "each column of mid"))
    )
    spec = parse_source(text + "program { c0 c1 c2 c3 }")
    numbers = np.arange(20).reshape(4, 5, 1)
    shapes, firsts = [], []
    for collective in spec.collectives:
        view = on_site(collective.grid, numbers)
        shapes.append(view.shape)
        firsts.append(view[0, 0, :, 0].tolist())
    assert shapes == [(4, 5, 1, 1), (3, 3, 1, 1), (1, 3, 3, 1), (3, 1, 3, 1)]
    assert firsts == [[0], [1], [1, 6, 11], [1, 2, 3]]


def test_parts_of_parts_are_counted_from_their_corner() -> None:
    text = (
        "grid deep = mid[1, 1 .. 2]\n"
        "collective c = broadcast(x: f32[1]) on deep { broadcast from 1 } program { c }"
    )
    grid = parse_source(HEAD + text).collectives[0].grid
    assert isinstance(grid, Grid)
    assert grid.site is not None
    assert (grid.width, grid.height, grid.site.x, grid.site.y) == (1, 2, 2, 1)
    assert grid.whole.name == "pes"


@pytest.fixture
def host_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Compiles what is in `tmp_path` and runs its host script in this process."""

    def run() -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(files("fabsim").joinpath("drop_in")))
        arguments = "layout.csl --arch=wse2 -o out --memcpy --channels=1 --fabric-dims=12,6"
        compile_command([*arguments.split(), "--fabric-offsets=4,1"])
        spec = importlib.util.spec_from_file_location("parts_run", "run.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        monkeypatch.setattr(sys, "argv", ["run.py", "--name", "out"])
        module.main()

    return run


def test_the_host_script_compares_what_each_part_promises(
    tmp_path: Path, host_script: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = compile_text(EXAMPLE.read_text(), EXAMPLE.name, {"W": 5, "H": 4})
    bundle.write(tmp_path)
    host_script()
    assert "SUCCESS!" in capsys.readouterr().out


def test_the_host_script_does_not_succeed_where_nothing_can_be_compared(
    tmp_path: Path, host_script: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """A second sum over what a first one has left behind promises nothing."""
    bundle = compile_text(program_of(["chain", "chain"], ""), "test.coll", {"P": 4, "B": 3})
    bundle.write(tmp_path)
    with pytest.raises(AssertionError, match=NOTHING_KNOWN):
        host_script()
    assert "SUCCESS!" not in capsys.readouterr().out


def test_the_host_script_of_barriers_has_nothing_to_compare_and_succeeds(
    tmp_path: Path, host_script: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
    target wse2
    grid row = 4 x 1
    collective all = barrier() on row { run dissemination_barrier }
    program { all all }
    """
    compile_text(text, "test.coll", {}).write(tmp_path)
    host_script()
    assert "SUCCESS!" in capsys.readouterr().out


WHOLE = "collective c = allreduce(x: f32[12], add) on {} {{ reduce columns by chain to 0 "
WHOLE += "then reduce row by chain to 0 then broadcast from (0, 0) }} program {{ c }}"


def test_of_a_part_that_is_the_whole_grid_the_same_is_told() -> None:
    head = HEAD + "grid all = pes[0 .. W - 1, 0 .. H - 1]\n"
    one, other = (
        compile_text(head + WHOLE.format(where), "test.coll", {}) for where in ("pes", "all")
    )
    assert one.prediction == other.prediction and one.prediction.tree_bound is not None
    assert one.prediction.critical_path == other.prediction.critical_path
    assert facts_of(one).keys() == facts_of(other).keys()
    manifests = [json.loads(bundle.files["manifest.json"]) for bundle in (one, other)]
    assert manifests[0].keys() == manifests[1].keys()
    for key in ("program", "collectives", "collective", "prediction"):
        assert manifests[0][key] == manifests[1][key]
