"""Predicted cycles of phases made of steps against the simulator's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import steps_patterns as s

import accuracy
from collc.cost import exchange, predict, rows, timeline
from collc.cost.line_state import BUDGET, MOVES, NONE
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
    """The cycles predicted, and how often a place was looked at for that."""
    lines = []

    def kept(*given):
        lines.append(rows.run_timeline(*given))
        return lines[-1]

    monkeypatch.setattr(exchange, "run_timeline", kept)
    cycles = predict(schedule, plan).cycles
    return cycles, sum(rows.MOST // 2 - int(line.state.clock[BUDGET]) for line in lines)


def test_what_is_too_much_to_be_followed_goes_on_at_the_same_pace(monkeypatch):
    schedule = s.Line("ring_allreduce", 16, 64, ring=True).schedule()
    plan = build_plan(schedule, WSE2)
    cycles, looks = predict_following(schedule, plan, monkeypatch)
    monkeypatch.setattr(rows, "MOST", int(0.8 * looks))
    estimated = predict(schedule, plan).cycles
    assert estimated != cycles
    assert abs(estimated - cycles) < 0.1 * cycles


@pytest.mark.parametrize("name", ["ring_allreduce", "recursive_doubling", "scatter", "neighbours"])
def test_the_moves_of_a_task_have_room(name, monkeypatch):
    schedule = s.Line(name, 16, 60, ring=name == "ring_allreduce").schedule()
    lines, whole = [], timeline.timeline

    def with_more(*given):
        line = whole(*given)
        beyond = np.full_like(line.state.moves, NONE)
        moves = np.concatenate((line.state.moves, beyond), axis=1)
        lines.append(replace(line, state=line.state._replace(moves=moves)))
        return lines[-1]

    monkeypatch.setattr(rows, "timeline", with_more)
    predict(schedule, build_plan(schedule, WSE2))
    for line in lines:
        assert line.state.places[:, MOVES].max() > 1
        assert (line.state.moves[:, line.table.most :] == NONE).all()


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
