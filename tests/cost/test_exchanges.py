"""Predicted cycles of phases made of steps against the simulator's."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import steps_patterns as s

import accuracy
import collc
from collc.cost import predict, predict_program
from collc.cost.choice import build_plan
from collc.plan.one_call import of_one_call
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


def ring(starts):
    """The cycles of a ring of four PEs that begin late."""
    plan = build_plan(s.Line("ring_allreduce", 4, 60, ring=True).schedule(), WSE2)
    return predict_program(of_one_call(plan), starts=np.array(starts, dtype=np.int64)).cycles


def test_a_line_that_begins_later_ends_later():
    assert ring([1100] * 4) - ring([100] * 4) == 1000


@pytest.mark.parametrize("late", range(4))
def test_a_place_that_begins_late_holds_up_all_others(late):
    starts = [0] * 4
    starts[late] = 5000
    assert 5000 < ring(starts) <= 5000 + ring([0] * 4)


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
