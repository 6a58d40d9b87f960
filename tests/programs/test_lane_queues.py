"""Queues of lanes in a program: each collective has as few of them as by itself."""

from __future__ import annotations

import pytest
from law_programs import OF_A_CALL, OF_A_PREDICTION, PART_OF_A_PREDICTION

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.plan import sides_of

TEXT = """target {target}
grid row = 16 x 1
collective swap = all_to_all(x: f32[256]) on row {{ run pairwise_all_to_all }}
collective sum = allreduce(y: f32[256], add) on row {{ run auto }}
program {{ {calls} }}
"""
ORDERS = ("swap sum", "sum swap")


def compiled(calls: str, target: str, skew: int = 0) -> Bundle:
    bundle = compile_text(TEXT.format(calls=calls, target=target), "test.coll", {}, None, skew)
    return bundle


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_lanes_have_queues_and_no_phase_waits_for_teardowns(target: str) -> None:
    """There are more colors than queues."""
    program = compiled("swap sum", target).program
    assert not program.in_turn
    assert not any(color.torn_down for color in program.colors)
    assert len(program.colors) > len(program.target.input_queues)
    for plan in program.plans:
        receiving = sum(side.receives for phase in plan.phases for side in sides_of(phase))
        assert len(plan.input_queues) == receiving


def over(figure: int, why: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(strict=True, reason=f"{figure} cycles a call beyond it alone: {why}")


BOUND = "output queues are bound to colors, so fewer groups are left to the exchange"


@pytest.mark.parametrize(
    ("target", "calls"),
    [
        ("wse2", "swap sum"),
        ("wse2", "sum swap"),
        pytest.param("wse3", "swap sum", marks=over(186, BOUND)),
        pytest.param("wse3", "sum swap", marks=over(180, BOUND)),
    ],
)
def test_a_call_takes_what_it_takes_alone(target: str, calls: str) -> None:
    alone = sum(compiled(call, target).run().cycles for call in calls.split())
    assert compiled(calls, target).run().cycles <= alone + 2 * OF_A_CALL


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("calls", ORDERS)
def test_calls_are_predicted_and_deliver(calls: str, target: str) -> None:
    bundle = compiled(calls, target)
    report = bundle.run()
    assert report.verified, report.problem
    error = abs(bundle.prediction.cycles - report.cycles)
    assert error <= PART_OF_A_PREDICTION * report.cycles + OF_A_PREDICTION


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("calls", ORDERS)
def test_the_way_back_from_a_turn_that_a_pointer_leads_to_is_counted_once(
    calls: str, target: str
) -> None:
    """A ring goes on by turns, whose task others have in turn: what is counted wrongly of one
    counts 15 times in a phase."""
    text = TEXT.replace("run auto", "order ring run ring_allreduce")
    bundle = compile_text(text.format(calls=calls, target=target), "test.coll", {})
    assert abs(bundle.prediction.cycles - bundle.run().cycles) <= 10  # cycles


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_queues_by_lanes_serve_late_pes(target: str) -> None:
    for seed in (1, 2):
        report = compiled("repeat 2 { swap sum }", target, skew=150).run(seed=seed)
        assert report.verified, report.problem
