"""A small sample of the gate: what checks say of changed plans, and what fabsim makes of them."""

from __future__ import annotations

import machine_gate as gate
import pytest
from machine_gate import FORM, MACHINE, PASSES

NUMBERS = {make.args: number for number, make in enumerate(gate.judging.makers())}


@pytest.mark.parametrize(
    "plan", [("pairs", "wse2"), ("ring", "wse2"), ("gather", "wse2"), ("lines",)], ids=str
)
def test_of_a_sample_what_passes_is_right_whoever_begins_late(plan):
    rows = gate.mutants((NUMBERS[plan], 1, 0, 61))
    assert not [row for row in rows if row.is_wrong]
    counts = {kind: sum(row.verdict == kind for row in rows) for kind in (FORM, MACHINE, PASSES)}
    assert counts[FORM] + counts[MACHINE] > 0


def test_a_program_that_nobody_has_changed_is_written_and_right():
    subject = gate.judging.program(next(iter(gate.judging.programs.SUCCESSIONS)))
    assert not subject.run(subject.plan, subject.texts(subject.plan))


def test_a_row_is_wrong_where_a_right_plan_is_refused():
    assert gate.Row("right", "ring", "", "", ("C322",)).is_wrong
    assert not gate.Row("right", "ring", "", "").is_wrong


def test_a_row_is_wrong_where_what_passes_is_wrong_on_fabsim_or_a_check_fails():
    row = gate.Row("mutants", "ring", "", "", (), "", "wrong result: 1")
    assert row.verdict == PASSES and row.is_wrong
    assert not gate.replace(row, fabsim=gate.RIGHT).is_wrong
    assert not gate.replace(row, codes=("C322",)).is_wrong
    assert gate.replace(row, codes=("C322",), error="KeyError: 3").is_wrong
    assert gate.replace(row, codes=("C319", "C322")).verdict == FORM
