"""A run compares something of every call, also where later ones overwrite what it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from libraries import with_operations
from with_schedules import run_program

from collc.driver.pipeline import compile_text
from collc.emit.one_turn import by_turns
from collc.run import RunReport
from commands import collc as collc_command

OVERWRITTEN = """
target {}
grid g = 3 x 3
collective parts = reduce_scatter(x: f32[18], add) on g {{ run auto }}
collective all = gather(x: f32[18]) on g {{ order south_to_north, east_to_west run auto }}
program {{ {} }}
"""
SUM = """
target {}
grid row = 4 x 1
collective total = reduce(x: f32[{}], add) on row {{ reduce chain to 0 }}
collective spread = broadcast(x: f32[{}]) on row {{ broadcast from {} }}
collective other = broadcast(y: f32[4]) on row {{ broadcast from 2 }}
program {{ {} }}
"""


def counts(report: RunReport) -> list[tuple[str, int]]:
    return [(one.name, one.elements) for one in report.of_calls]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("rounds", [1, 2])
def test_a_valid_program_that_leaves_nothing_known_is_verified_turn_by_turn(
    target: str, rounds: int
) -> None:
    written = OVERWRITTEN.format(target, f"repeat {rounds} {{ parts all parts }}")
    report = compile_text(written, "x.coll", {}).run()
    assert report.verified, report.problem
    assert report.by_turns
    each = 18 * rounds
    assert counts(report) == [("parts", each), ("all", each), ("parts", each)]
    assert report.compared == 3 * each


def test_results_that_later_calls_pass_on_are_of_all_of_them() -> None:
    written = SUM.format("wse2", 5, 5, 0, "total other spread")
    report = compile_text(written, "x.coll", {}).run()
    assert (report.verified, report.by_turns) == (True, False)
    assert counts(report) == [("total", 20), ("other", 16), ("spread", 20)]


def test_results_that_are_overwritten_are_compared_before_they_are() -> None:
    """Rank 1 spreads what the reduction has left there, which no contract says."""
    written = SUM.format("wse3", 5, 5, 1, "total spread other")
    report = compile_text(written, "x.coll", {}).run()
    assert report.verified, report.problem
    assert report.by_turns
    assert counts(report) == [("total", 5), ("spread", 20), ("other", 16)]


@pytest.mark.parametrize("length", ["5", "n <= 5"])
def test_a_wrong_call_is_found_though_a_later_one_overwrites_its_results(length: str) -> None:
    bundle = compile_text(SUM.format("wse2", length, length, 1, "total spread"), "x.coll", {})
    texts = with_operations(bundle.files, "@fadds", "@fsubs")
    report = run_program(texts, bundle.program, "wse2", seed=3)
    assert not report.verified
    assert report.problem.startswith("total by itself: ")


def test_calls_in_flight_at_the_same_time_are_one_turn() -> None:
    text = """
    target wse2
    grid g = 4 x 3
    collective rows = reduce(x: f32[6], add) on each row of g { reduce chain to 0 }
    collective columns = reduce(y: f32[6], add) on each column of g { reduce chain to 1 }
    collective again = broadcast(x: f32[6]) on each row of g { broadcast from 2 }
    program { rows and columns again }
    """
    report = compile_text(text, "x.coll", {}).run()
    assert report.verified, report.problem
    assert counts(report) == [("rows", 18), ("columns", 24), ("again", 72)]


def test_results_in_a_buffer_apart_are_of_the_call_that_wrote_them() -> None:
    text = """
    target wse2
    grid g = 4 x 1
    collective one = allreduce(x: f32[6], add) into y on g { run auto }
    collective two = allreduce(x: f32[6], max) into z by 2 on g { run auto }
    collective last = reduce(y: f32[6], min) on g { reduce chain to 3 }
    program { one two last }
    """
    report = compile_text(text, "x.coll", {}).run()
    assert (report.verified, report.by_turns) == (True, False)
    assert counts(report) == [("one", 6), ("two", 24), ("last", 6)]


def test_more_calls_than_marks_are_counted() -> None:
    written = SUM.format("wse2", 5, 5, 0, "total spread " * 9)
    report = compile_text(written, "x.coll", {}).run()
    assert report.verified, report.problem
    assert counts(report) == [("total", 20), ("spread", 20)] * 9


def test_the_run_command_says_what_was_compared_of_each_call(tmp_path: Path) -> None:
    file = tmp_path / "x.coll"
    file.write_text(OVERWRITTEN.format("wse2", "parts all parts"), encoding="utf-8")
    said = collc_command("run", file)
    assert said.returncode == 0
    assert "  of calls   parts 18, all 18, parts 18 (each run by itself, too)\n" in said.stdout
    found = json.loads(collc_command("run", file, "--json").stdout)
    assert found["by_turns"] is True
    assert found["of_calls"] == [
        {"call": name, "compared": 18} for name in ("parts", "all", "parts")
    ]


def test_a_kernel_of_one_call_has_no_turns() -> None:
    kernel = compile_text(SUM.format("wse2", 5, 5, 0, "total"), "x.coll", {}).files
    with pytest.raises(ValueError, match="one call"):
        by_turns(kernel["pe_program.csl"])


def test_a_buffer_may_be_called_as_the_variables_that_say_which_turn() -> None:
    written = SUM.format("wse2", 5, 5, 1, "total spread").replace("x:", "first_turn:")
    report = compile_text(written, "x.coll", {}).run()
    assert report.verified, report.problem
    assert report.by_turns
