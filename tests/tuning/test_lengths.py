"""The table of best plans by length, and the commands that print plans."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.cli import commands
from collc.commands import tune
from collc.driver.questions import Question, Remembered
from collc.run import RunError
from collc.spec import Considered
from collc.tuning.lengths import crossing_of_plans, rows_of, sampled

ROW = str(Path(__file__).parents[2] / "examples" / "allreduce_row.coll")


def plan(text: str, cycles: int = 1) -> Considered:
    return Considered(text, cycles, cycles, 2, 100, "", (("depth", cycles),))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_choices_are_made_at_both_ends_and_at_powers_of_two_between() -> None:
    assert sampled(range(3, 21)) == (3, 4, 8, 16, 20)
    assert sampled(range(1, 2)) == (1,)


def test_a_crossing_of_two_lines_is_found() -> None:
    costs = {"a": lambda n: 10 + 3 * n, "b": lambda n: 70 + n}
    assert crossing_of_plans(lambda text, n: costs[text](n), 16, 64, ("a", "b")) == 30
    assert crossing_of_plans(lambda text, n: costs[text](n), 32, 64, ("b", "a")) == 63


def test_rows_cover_all_lengths_once() -> None:
    chosen = {1: plan("a"), 2: plan("b"), 4: plan("b"), 8: plan("c")}
    rows = list(rows_of(chosen, {1: 1, 4: 6}))
    assert [(row.first, row.last, row.plan.text) for row in rows] == [
        (1, 1, "a"),
        (2, 6, "b"),
        (7, 8, "c"),
    ]


def test_answers_are_kept_and_broken_lines_left_out(tmp_path: Path) -> None:
    question = Question("text", "f.coll", {"P": 4}, None, "B")
    first = Remembered(question, tmp_path)
    first.keep(7, plan("a"))
    first.keep_cycles("a", 7, 40)
    (file,) = (tmp_path / "tune").iterdir()
    file.write_text(file.read_text() + '\n[8, {"text"')
    first.keep(9, plan("b"))
    again = Remembered(question, tmp_path)
    assert again.plan(7) == plan("a") and again.plan(9) == plan("b")
    assert again.cycles("a", 7) == 40
    assert again.plan(8) is None and again.cycles("a", 9) is None
    assert Remembered(Question("other", "f.coll", {}, None, "B"), tmp_path).plan(7) is None


def test_the_table_comes_in_every_form() -> None:
    arguments = ("tune", ROW, "-D", "P=5", "--over", "B=1..32", "--jobs", "1")
    data = json.loads(printed(*arguments, "--json"))
    ends = [(row["first"], row["last"]) for row in data["rows"]]
    assert ends[0][0] == 1 and ends[-1][1] == 32
    rows = list(csv.DictReader(io.StringIO(printed(*arguments, "--csv"))))
    assert [row["plan"] for row in rows] == [row["plan"] for row in data["rows"]]
    clause = printed(*arguments, "--select")
    assert clause.startswith("select by n {") and f"else: {rows[-1]['plan']}" in clause
    assert rows[0]["plan"] in printed(*arguments, "--measure")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--over", "Q=1..8"), 1, "C120"),
        (("--over", "B=1..9999"), 1, "C122"),
        (("--over", "B=1..8", "-D", "B=4"), 2, "leave out -D B=..."),
        (("--over", "B=1..8", "--json", "--csv"), 2, "three forms of one table"),
    ],
)
def test_refusals(arguments: tuple[str, ...], status: int, words: str) -> None:
    result = CliRunner().invoke(commands, ["tune", ROW, "-D", "P=5", *arguments])
    assert result.exit_code == status and words in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_a_wrong_run_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "_simulated", _wrong)
    given = ["tune", ROW, "-D", "P=5", "--over", "B=1..2", "--measure"]
    result = CliRunner().invoke(commands, given)
    assert result.exit_code == 3 and "the run failed: of PE (0, 0)" in result.output


def _wrong(*_: object) -> int:
    raise RunError("of PE (0, 0)")


def test_plans_that_lost_are_shown_with_what_they_take() -> None:
    data = json.loads(printed("explain", "plan", ROW, "-D", "P=5", "-D", "B=20", "--json"))
    assert data["chosen"]["cycles"] == sum(data["chosen"]["terms"].values())
    assert all(one["most_of_them"] for one in data["lost"])
    for one in data["lost"]:
        assert one["refused"] or (one["cycles"] or one["at_least"]) >= data["chosen"]["cycles"]
    assert data["chosen"]["plan"] in printed("explain", "plan", ROW, "-D", "P=5", "-D", "B=20")


def test_of_the_plans_that_nothing_beats_the_slower_take_fewer_colors_or_less_memory() -> None:
    table = json.loads(
        printed("explain", "plan", ROW, "-D", "P=5", "-D", "B=20", "--pareto", "--json")
    )["pareto"]
    cycles = [one["cycles"] for one in table]
    assert cycles == sorted(cycles) and table[-1]["colors"] <= table[0]["colors"]


def test_a_length_of_the_run_is_no_length_to_choose_a_plan_for() -> None:
    result = CliRunner().invoke(commands, ["explain", "plan", "examples/select.coll"])
    assert result.exit_code == 1 and "the program is given its own" in result.output
