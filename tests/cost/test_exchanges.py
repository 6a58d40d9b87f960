"""Predicted cycles of phases made of steps against the simulator's."""

from __future__ import annotations

import pytest
import steps_patterns as s

from collc.cost import predict
from collc.lowering import build_plan
from collc.target import TARGETS

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
