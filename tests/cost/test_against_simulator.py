"""Predictions against fabsim: random points, and both colorings of trees
whose vectors crowd the links.
"""

import pytest

import accuracy
import building as b
from collc.cost import predict
from collc.cost.choice import build_plan
from collc.lowering import candidate_plans
from collc.schedule import build_schedule
from collc.target import WSE2

pytest.importorskip("fabsim")


@pytest.mark.parametrize("number", range(60))
def test_a_prediction_is_within_two_percent_and_the_start_up(number):
    outcome = accuracy.measure(accuracy.point(number))
    assert outcome is None or outcome.is_good, outcome


@pytest.mark.parametrize("group", [4, 16, 48])
def test_vectors_that_share_links_are_predicted_and_the_faster_coloring_is_taken(group):
    schedule = build_schedule(b.line_reduce(b.two_phase(128, group), 600))
    simulated = {}
    for plan in candidate_plans(schedule, WSE2):
        prediction = predict(plan)
        cycles = accuracy.simulate(schedule, plan, prediction).cycles
        assert abs(cycles - prediction.cycles) <= 4
        simulated[len(plan.colors)] = cycles
    chosen = build_plan(schedule, WSE2)
    assert simulated[len(chosen.colors)] <= min(simulated.values()) + 4
