"""Predicted cycles of phases made of steps against the simulator's."""

from __future__ import annotations

from dataclasses import replace

import pytest
import steps_patterns as s

import accuracy
from collc.cost import exchange, predict, rows, timeline
from collc.cost.cycles import BUDGET
from collc.lowering import build_plan
from collc.target import TARGETS, WSE2

START_UP = 90
CASES = [
    ("ring_allreduce", 5, 60),
    ("ring_allreduce", 8, 1000),
    ("recursive_doubling", 8, 64),
    ("recursive_doubling", 8, 1000),
    ("scatter", 8, 64),
    ("gather", 8, 64),
    ("chain", 5, 60),
    ("neighbours", 8, 64),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "ranks", "length"), CASES)
def test_prediction_is_near_the_simulator(name, ranks, length, target):
    schedule = s.Line(name, ranks, length, ring=name == "ring_allreduce").schedule()
    plan = build_plan(schedule, TARGETS[target])
    problem, cycles = s.outcome(s.texts_of(schedule, plan), schedule, target)
    assert problem == ""
    assert abs(predict(schedule, plan).cycles - cycles) <= START_UP + 0.02 * cycles


def in_twos(schedule):
    phases = (replace(p, wide=True, slicing=replace(p.slicing, grain=2)) for p in schedule.phases)
    return replace(schedule, phases=tuple(phases))


@pytest.mark.parametrize(
    ("name", "wide"),
    [
        ("ring_allreduce", False),
        ("ring_allreduce", True),
        ("recursive_doubling", False),
        ("neighbours", False),
    ],
)
def test_what_repeats_is_counted_as_if_it_were_run(name, wide, monkeypatch):
    schedule = s.Line(name, 8, 20_000, ring=name == "ring_allreduce").schedule()
    schedule = in_twos(schedule) if wide else schedule
    plan = build_plan(schedule, WSE2)
    leapt = predict_following(schedule, plan, monkeypatch)
    monkeypatch.setattr(timeline, "ENOUGH", 10**9)
    followed = predict_following(schedule, plan, monkeypatch)
    assert leapt[0] == followed[0]
    assert leapt[1] < 0.7 * followed[1]


def predict_following(schedule, plan, monkeypatch):
    """The cycles predicted, and lanes times cycles that were followed for that."""
    lines = []

    def kept(*given):
        lines.append(rows.run_timeline(*given))
        return lines[-1]

    monkeypatch.setattr(exchange, "run_timeline", kept)
    monkeypatch.setattr(rows, "OF_CODE", 0)
    cycles = predict(schedule, plan).cycles
    return cycles, sum(rows.MOST // 2 - int(line.state.clock[BUDGET]) for line in lines)


@pytest.mark.parametrize("name", ["binary_tree_broadcast", "binary_tree_reduce"])
def test_ways_that_share_links_take_turns_on_them(name):
    outcome = accuracy.measure(
        accuracy.PatternPoint(name, "wse3", name, pes=20, length=1316, order="west_to_east")
    )
    assert outcome is not None
    assert abs(outcome.off) <= 0.02 * outcome.cycles


def test_a_line_on_which_every_pe_has_rows_of_its_own_is_not_nested_too_deeply():
    point = accuracy.PatternPoint("many", "wse2", "binary_tree_broadcast", 90, 1, "ring")
    outcome = accuracy.measure(point)
    assert outcome is not None
    assert outcome.is_good
