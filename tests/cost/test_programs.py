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


OFF = 23  # a random program that is a test of its own


def error_of(text: str, **parameters: int) -> float:
    spec, plan = planned(text, parameters)
    report = run_planned(spec, plan)
    assert report.verified or report.problem == NOTHING_KNOWN, report.problem
    return predict_program(plan).cycles / report.cycles - 1


def worse(figures: str) -> pytest.MarkDecorator:
    """What the clock does not know of programs that set routers again."""
    lacks = "the compiler leaves functions of large callers apart, which costs 12 cycles a call"
    return pytest.mark.xfail(strict=True, reason=f"{lacks}: {figures}")


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    "calls",
    [
        CALLS[0],
        CALLS[1],
        pytest.param(CALLS[2], marks=worse("994 of 1043 cycles on WSE-2, 1116 of 1163 on WSE-3")),
        CALLS[3],
    ],
)
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
    for case in set(range(25)) - {OFF}:
        try:
            errors.append(abs(error_of(random_program(random.Random(case)))))
        except CollcError:  # what may be refused, and why, is another test's matter
            continue
    assert len(errors) >= 20
    assert sum(errors) / len(errors) < 0.03, errors
    assert max(errors) < 0.08, errors


@worse("3752 of 4167 cycles, where 8 % are allowed")
def test_a_random_program_with_many_calls_of_functions_is_predicted_as_well() -> None:
    assert abs(error_of(random_program(random.Random(OFF)))) < 0.08


def test_the_parts_of_a_prediction_add_up() -> None:
    calls = ["chain", "broadcast from the west", "chain"]
    _, plan = planned(program_of(calls, "within colors <= 2 reconfigure teardown"), {"P": 5})
    prediction = predict_program(plan)
    assert sum(prediction.breakdown.values()) == prediction.cycles
    assert list(prediction.breakdown) == ["start", "c0", "c1", "completion"]
    start, *others = prediction.breakdown.values()
    assert start >= 0 and all(part > 0 for part in others)
