"""`collc plot`: the data, the pictures, what is refused."""

import csv
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.base.diagnostics import CollcError
from collc.cli import commands
from collc.commands.plot import over_of
from collc.driver.pipeline import compile_text
from collc_research.plot import points
from collc_research.plot.draw import ending_of


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def plot(*arguments):
    return CliRunner().invoke(commands, ["plot", *map(str, arguments)])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("B=1..8", (1, 2, 4, 8)),
        ("B=3..20", (3, 6, 12, 20)),
        ("B=10..31:10", (10, 20, 30)),
        ("P=7", (7,)),
        ("P=5,3,5", (3, 5)),
    ],
)
def test_ranges(text, values):
    assert over_of(text) == (text[0], values)


@pytest.mark.parametrize("text", ["B", "B=", "B=0..5", "B=5..1", "B=1..9:0", "B=1..999999999:1"])
def test_ranges_that_are_none(text):
    result = plot("cycles", "chain", "--over", text, "--csv", "x.csv")
    assert result.exit_code == 2


def test_the_table_has_every_point_and_says_what_was_refused(tmp_path):
    table = tmp_path / "a.csv"
    given = ("--over", "B=1,20000", "-D", "P=4", "--simulate", "--csv", table)
    result = plot("cycles", "chain", "two_phase(S = 2)", *given)
    assert result.exit_code == 0, result.output
    assert "chain: left out 1, refused with C308: " in result.output
    rows = list(csv.DictReader(table.open()))
    assert [(row["subject"], row["B"]) for row in rows] == [
        ("chain", "1"),
        ("chain", "20000"),
        ("two_phase(S = 2)", "1"),
        ("two_phase(S = 2)", "20000"),
    ]
    assert rows[0]["simulated"] == rows[0]["predicted"] and rows[1]["predicted"] == ""


def test_a_dash_prints_the_csv_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = plot("cycles", "chain", "--over", "B=1,4", "-D", "P=4", "--csv", "-")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [row["B"] for row in rows] == ["1", "4"]
    assert not list(tmp_path.iterdir())


FILE = """target wse2
param B = 8
param W = 6
grid wafer = W x 5
grid part = wafer[0 .. 3, 0 .. 2]
collective total = allreduce(x: f32[{length}], add) on {grid} {{
    reduce columns by chain to 0 then reduce row by binomial to 0 then broadcast from 0
    {own}
}}
program {{ {calls} }}
"""


def drawn_file(tmp_path, own="", calls="total", grid="wafer", length="B"):
    file = tmp_path / "w.coll"
    file.write_text(FILE.format(own=own, calls=calls, grid=grid, length=length))
    return file


@pytest.mark.parametrize("simulate", [(), ("--simulate",)])
@pytest.mark.parametrize(
    ("given", "has_bound"),
    [
        ({}, True),
        ({"own": "within colors <= 2"}, True),
        ({"own": "within colors <= 2", "grid": "part"}, True),
        ({"grid": "part"}, True),
        ({"calls": "total within colors <= 2"}, True),
        ({"calls": "repeat 2 { total }"}, False),
    ],
)
def test_a_file_that_compiles_is_drawn(tmp_path, given, has_bound, simulate):
    file = drawn_file(tmp_path, **given)
    printed = plot("cycles", file, "--over", "B=8", "--json", *simulate)
    assert printed.exit_code == 0, printed.output
    (point,) = json.loads(printed.stdout)["points"]
    bundle = compile_text(file.read_text(), str(file), {"B": 8})
    assert point["predicted"] == bundle.prediction.cycles
    assert point["simulated"] == (bundle.run().cycles if simulate else None)
    assert point["bound"] == (bundle.prediction.bound if has_bound else None)


def test_what_has_no_bound_is_drawn_without_one(tmp_path):
    pytest.importorskip("matplotlib")
    file = drawn_file(tmp_path, calls="repeat 2 { total }")
    for name, sizes in (("cycles", ("B=1..2",)), ("gap", ("B=1..2", "W=4"))):
        over = [word for size in sizes for word in ("--over", size)]
        result = plot(name, file, *over, "-o", tmp_path / f"{name}.svg")
        assert result.exit_code == 0, result.output
        assert ">bound<" not in (tmp_path / f"{name}.svg").read_text()
    assert plot("cycles", drawn_file(tmp_path), *over[:2], "-o", tmp_path / "a.svg").exit_code == 0
    assert ">bound<" in (tmp_path / "a.svg").read_text()


def test_lengths_of_the_run_are_not_drawn(tmp_path):
    file = drawn_file(tmp_path, length="n <= B")
    result = plot("cycles", file, "--over", "B=8", "--json")
    assert result.exit_code == 1 and "C107" in result.output


def test_the_same_as_data_and_what_has_been_run_is_not_run_again(monkeypatch):
    given = ("cycles", "chain", "chain", "--over", "B=1,20000", "-D", "P=4", "--simulate", "--json")
    printed = plot(*given).stdout
    first, refused = json.loads(printed)["points"]
    assert first["simulated"] == first["predicted"] and first["sizes"] == {"B": 1, "P": 4}
    assert refused["refused"] == "C308" and refused["predicted"] is None
    monkeypatch.setattr(points, "measure", None)
    assert plot(*given).stdout == printed


def test_pictures_are_the_same_every_time(tmp_path):
    pytest.importorskip("matplotlib")
    sizes = ("--over", "B=1..2", "--over", "P=2..3")
    for name in ("gap", "best"):
        pictures = []
        for path in (tmp_path / "a.svg", tmp_path / "b.svg"):
            assert plot(name, "chain", "star", *sizes, "-o", path).exit_code == 0
            pictures.append(path.read_bytes())
        assert pictures[0] == pictures[1]
    assert plot("cycles", "chain", "--over", "B=1..4", "-o", tmp_path / "c.png").exit_code == 0
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("cycles", "chain", "--over", "B=1..4"), 2, "say where to"),
        (("gap", "chain", "--over", "B=1..4", "--csv", "x"), 2, "--over P=2..512 --over B="),
        (
            ("cycles", "chain", "ring_allreduce", "--over", "B=1..4", "--csv", "x"),
            1,
            "chain is for reduce, ring_allreduce is for allreduce",
        ),
        (("gap", "chain", "--over", "B=1", "--over", "B=2", "--csv", "x"), 2, "B is given twice"),
        (("cycles", "chain", "--over", "B=1", "-D", "B=2", "--csv", "x"), 2, "B is given twice"),
        (("cycles", "chain", "--over", "B=1", "-D", "P=1..4", "--csv", "x"), 2, "not NAME=INTEGER"),
        (
            ("cycles", "chain", "--over", "Q=1..4", "--csv", "x"),
            1,
            "error[C702]: chain has no size Q",
        ),
        (("cycles", "chain", "--over", "B=1", "--csv", "no/x"), 1, "there is no directory no"),
        (
            ("cycles", "no_such", "--over", "B=1..4", "--csv", "x"),
            1,
            "error[C702]: there is no pattern called no_such",
        ),
        (
            ("cycles", "chain", "--over", "B=90000", "--csv", "x"),
            1,
            "error[C702]: chain cannot be had",
        ),
        (("cycles", "chain", "--over", "B=1", "-o", "x.pdf"), 1, "error[C702]: cannot draw x.pdf"),
        (("cycles", "none.coll", "--over", "B=1", "--csv", "x"), 1, "none.coll"),
    ],
)
def test_refusals(arguments, status, words):
    result = plot(*arguments)
    assert result.exit_code == status
    assert words in result.output


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = plot("cycles", "chain", "--over", "B=1..4", "-o", "x.png")
    assert result.exit_code == 1
    assert "error[C701]: pictures need matplotlib" in result.output
    assert "pip install 'collc[plot]'" in result.output


def test_a_table_needs_no_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    table = tmp_path / "x.csv"
    assert plot("cycles", "chain", "--over", "B=1..4", "--csv", table).exit_code == 0
    assert table.exists()


@pytest.mark.parametrize("name", ["x.png", "x.PNG", "x.svg", "x.pdf.svg"])
def test_a_picture_is_of_the_kind_that_its_name_ends_with(name):
    assert ending_of(Path(name)) == name[-4:].lower()


@pytest.mark.parametrize("name", ["x.pdf", "png", "x", "x.svg.gz", ".svg"])
def test_a_picture_of_another_kind_is_refused(name):
    with pytest.raises(CollcError) as caught:
        ending_of(Path(name))
    assert [problem.code for problem in caught.value.diagnostics] == ["C702"]
