"""A small sample of the gate: what the walks of checks and the machine say of changed plans."""

from __future__ import annotations

import machine_gate as gate
import pytest
from machine_gate import AGREE, FORM, NEITHER

NUMBERS = {make.args: number for number, make in enumerate(gate.judging.makers())}


@pytest.mark.parametrize(
    "plan", [("pairs", "wse2"), ("ring", "wse2"), ("gather", "wse2"), ("lines",)], ids=str
)
def test_walks_and_machine_refuse_the_same_of_a_sample_or_fabsim_says_the_machine_is_right(plan):
    rows = gate.mutants((NUMBERS[plan], 1, 0, 61))
    assert not [row for row in rows if row.is_wrong]
    counts = {kind: sum(row.agreement == kind for row in rows) for kind in (AGREE, FORM, NEITHER)}
    assert counts[AGREE] > 0 and sum(counts.values()) >= 0.8 * len(rows)


def test_a_row_is_wrong_where_the_machine_alone_refuses_what_fabsim_finds_right():
    row = gate.Row("mutants", "ring", "", "", (), ("C322",), "", gate.RIGHT)
    assert row.agreement == gate.MACHINE and row.is_wrong
    assert not gate.replace(row, fabsim="wrong result: 1").is_wrong
    assert not gate.replace(row, machine=gate.RACE).is_wrong
    assert not gate.replace(row, walks=("C319",)).is_wrong


def test_a_row_is_wrong_where_the_walks_alone_refuse_what_fabsim_finds_wrong():
    row = gate.Row("mutants", "ring", "", "", ("C321",), (), "", "wrong result: 1")
    assert row.agreement == gate.WALK and row.is_wrong
    assert not gate.replace(row, fabsim=gate.RIGHT).is_wrong
