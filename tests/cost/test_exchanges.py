"""Predicted cycles of phases made of steps against the simulator's."""

from __future__ import annotations

import runpy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import steps_patterns as s

import accuracy
import collc
from collc.cost import exchange, predict
from collc.cost.choice import build_plan
from collc.cost.evaluated_line import line_of
from collc.cost.operations import costs_of, costs_of_phase
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
    assert abs(predict(plan).cycles - cycles) <= START_UP + 0.02 * cycles


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
    monkeypatch.setattr(exchange, "ENOUGH", 10**9)
    followed = predict_following(schedule, plan, monkeypatch)
    assert leapt[0] == followed[0]
    assert leapt[1] < 0.7 * followed[1]


class Counting:
    """A line that counts how often a place is looked at."""

    looks = 0

    def __init__(self, line):
        self.line = line

    def run(self, *given):
        timing = self.line.run(*given)
        Counting.looks += timing.looks
        return timing


def predict_following(schedule, plan, monkeypatch):
    """The cycles predicted, and how often a place was looked at for that."""
    monkeypatch.setattr(exchange, "line_of", lambda *given: Counting(line_of(*given)))
    Counting.looks = 0
    return predict(plan).cycles, Counting.looks


def test_what_is_too_much_to_be_followed_goes_on_at_the_same_pace(monkeypatch):
    schedule = s.Line("ring_allreduce", 16, 64, ring=True).schedule()
    plan = build_plan(schedule, WSE2)
    cycles, looks = predict_following(schedule, plan, monkeypatch)
    monkeypatch.setattr(exchange, "MOST", int(0.8 * looks))
    estimated = predict(plan).cycles
    assert estimated != cycles
    assert abs(estimated - cycles) < 0.1 * cycles


def line_of_ring(ranks=4):
    schedule = s.Line("ring_allreduce", ranks, 60, ring=True).schedule()
    plan = build_plan(schedule, WSE2)
    costs = costs_of_phase(costs_of(plan), plan, 0)
    return line_of(costs, plan.phases[0])


def times(value, ranks=4):
    return np.full(ranks, value, dtype=np.int64)


def test_lines_that_begin_later_end_later():
    line = line_of_ring()
    early = line.run(times(10), times(3), exchange.MOST, exchange.ENOUGH)
    late = line.run(times(1010), times(3), exchange.MOST, exchange.ENOUGH)
    assert (late.ended - early.ended == 1000).all()
    assert (late.free - early.free == 1000).all()
    assert not early.extrapolated


def test_a_place_that_begins_late_holds_up_its_neighbours():
    line = line_of_ring()
    called = times(10)
    called[2] = 5000
    held_up = line.run(called, times(3), exchange.MOST, exchange.ENOUGH)
    assert (held_up.ended > 5000).all()


def test_tasks_are_told_with_what_their_code_does():
    line = line_of_ring()
    tasks = line.tasks(times(0), times(3), exchange.MOST, exchange.ENOUGH)
    begun = [actions for _, lane, actions in tasks if lane < 0]
    assert len(begun) == 4
    assert [sum(n for what, n in one if what in ("code", "wait")) for one in begun] == (
        line.code_of_beginning() + 3
    ).tolist()
    assert sum(actions[-1][0] == "leave" or ("leave", 0) in actions for *_, actions in tasks) == 4


@pytest.mark.parametrize("wrong", [times(0, 3), times(0, 5)])
def test_calls_of_another_number_of_places_are_refused(wrong):
    with pytest.raises(ValueError, match="an entry for each PE"):
        line_of_ring().run(wrong, times(0), exchange.MOST, exchange.ENOUGH)


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


def test_without_the_evaluator_the_import_says_what_to_install(monkeypatch):
    finders = [one for one in sys.meta_path if not one.find_spec("collc_evaluator", None)]
    monkeypatch.setattr(sys, "meta_path", [object(), *finders])  # the first one is of an old kind
    with pytest.raises(ModuleNotFoundError, match=r"pip install \./evaluator"):
        runpy.run_path(str(Path(collc.__file__)))
