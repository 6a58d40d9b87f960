"""Programs of others beside ours: what needs nobody's folder runs here, at its smallest sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import versus

from peers import Measured, Point, collectives_2d, difference, numbers


def test_every_function_of_collectives_2d_is_right_on_both_sides_of_the_comparison():
    points = [
        one for one in collectives_2d.points(Path()) if (one.size, one.length) == ("8 x 1", 16)
    ]
    assert len(points) == 8
    for point in points:
        row = versus._measured(point)
        assert not row.theirs.problem, row
        assert 0 < row.ratios["auto"] < 1, row


def test_a_wrong_result_of_theirs_is_said_and_has_no_ratio():
    point = next(iter(collectives_2d.points(Path())))
    wrong = replace(point, run=lambda _: Measured(10, "WRONG: 1 at (0,), not 2"), ours={})
    row = versus.Row(wrong, wrong.run(Path()), {"auto": Measured(5)})
    assert row.ratios == {}
    assert "WRONG" in versus._line(row, ["auto"])


def test_a_difference_names_its_place_and_rounding_is_none():
    wanted = numbers(1, 2, 3)
    assert difference(wanted, wanted, 0) == ""
    assert difference(wanted * (1 + 1e-6), wanted, 1e-4) == ""
    assert "(1, 2)" in difference(wanted + np.array([[0, 0, 0], [0, 0, 1]]), wanted, 1e-4)


def test_a_source_that_no_folder_has_is_left_out_with_a_line(tmp_path):
    points, notes = versus._points([tmp_path])
    assert {point.source for point in points} == {collectives_2d.NAME}  # which needs none
    assert len(notes) == len(versus.SOURCES) - 1
    assert all("skipped" in note for note in notes)


@pytest.mark.parametrize(("cycles", "slower"), [(102, 0), (103, 1)])
def test_ours_counts_as_slower_beyond_two_percent(cycles, slower):
    point = Point("theirs", "reduce", "wse2", "4 x 1", 1, lambda _: Measured(100), {})
    row = versus.Row(point, Measured(100), {"auto": Measured(cycles)})
    assert versus._summary("auto", [row]).endswith(f"| {slower} |")
