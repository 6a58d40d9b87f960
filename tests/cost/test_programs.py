"""Programs of several collectives: predicted cycles against those of the simulator."""

from __future__ import annotations

import random

import pytest
from programs.bare import planned, run_planned
from programs.test_random_programs import random_program
from programs.texts import program_of

from collc.base.diagnostics import CollcError
from collc.cost import predict_program
from collc.run.program import NOTHING_KNOWN

CALLS = [
    ["chain", "broadcast from the west"],
    ["broadcast from the middle", "binomial"],
    ["two_phase", "two_phase", "broadcast from the east", "chain"],
    ["ring", "chain"],
]


def error_of(text: str, **parameters: int) -> float:
    spec, plan = planned(text, parameters)
    report = run_planned(spec, plan)
    assert report.verified or report.problem == NOTHING_KNOWN, report.problem
    return predict_program(plan).cycles / report.cycles - 1


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("calls", CALLS)
def test_a_program_that_takes_turns_is_predicted_within_three_percent(
    calls: list[str], target: str
) -> None:
    text = program_of(calls, "within colors <= 3 reconfigure teardown", rounds=2, target=target)
    assert abs(error_of(text, P=12, B=12)) < 0.03


def test_rounds_that_are_not_followed_last_as_long_as_the_one_before() -> None:
    text = program_of(["chain", "broadcast from the west"], "within colors <= 2", rounds=20)
    assert abs(error_of(text, P=6, B=3)) < 0.03


def test_random_programs_are_predicted_within_a_few_percent() -> None:
    errors = []
    for case in range(25):
        try:
            errors.append(abs(error_of(random_program(random.Random(case)))))
        except CollcError:  # what may be refused, and why, is another test's matter
            continue
    assert len(errors) >= 20
    assert sum(errors) / len(errors) < 0.02, errors
    assert max(errors) < 0.06, errors


def test_the_parts_of_a_prediction_add_up() -> None:
    calls = ["chain", "broadcast from the west", "chain"]
    _, plan = planned(program_of(calls, "within colors <= 2 reconfigure teardown"), {"P": 5})
    prediction = predict_program(plan)
    assert sum(prediction.breakdown.values()) == prediction.cycles
    assert list(prediction.breakdown) == ["start", "c0", "c1", "completion"]
    start, *others = prediction.breakdown.values()
    assert start >= 0 and all(part > 0 for part in others)
