"""Streams and turns of slices whose length, or root, is given when the program runs."""

from __future__ import annotations

import pytest

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.plan import Advance
from collc.plan.form import Form, form_of
from collc.plan.read import read_plan
from collc.plan.show import show_plan

TARGETS = ("wse2", "wse3")
TEXT = """grid g = {grid}
collective c = {contract} on g {{ {steps} }}
program {{ repeat {rounds} {{ c }} }}
"""


def compiled(
    contract: str, steps: str, target: str, grid: str = "7 x 1", rounds: int = 1, skew: int = 0
) -> Bundle:
    text = TEXT.format(grid=grid, contract=contract, steps=steps, rounds=rounds)
    return compile_text(text, "t.coll", {}, target, skew=skew)


LENGTHS = (1, 3, 7, 8, 20, 21)  # of 7 slices: few with elements, all alike, some longer


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("contract", "steps", "grid"),
    [
        ("gather(x: f32[n <= 21])", "run linear_gather", "7 x 1"),
        ("gather(x: f32[n <= 21])", "run auto to 3", "1 x 7"),
        ("allgather(x: f32[n <= 21])", "run direct_allgather", "7 x 1"),
        ("allgather(x: (f32, u32)[n <= 21])", "run direct_allgather", "7 x 1"),
        ("allgather(x: f32[n <= 21])", "order snake run direct_allgather", "3 x 3"),
        ("allgather(x: f32[n <= 21])", "order ring run ring_allgather", "7 x 1"),
        ("allgather(x: (u32, u32)[n <= 21])", "order ring run ring_allgather", "7 x 1"),
        ("reduce_scatter(x: f32[n <= 21], add)", "order ring run ring_reduce_scatter", "7 x 1"),
        ("reduce_scatter(x: f32[n <= 21], add)", "run direct_reduce_scatter", "7 x 1"),
        ("allreduce(x: f16[n <= 21] by 3, max)", "order ring run ring_allreduce", "7 x 1"),
    ],
)
def test_one_text_is_right_for_every_length_call_after_call_whoever_is_late(
    contract: str, steps: str, grid: str, target: str
) -> None:
    bundle = compiled(contract, steps, target, grid, rounds=len(LENGTHS))
    for lengths in (LENGTHS, LENGTHS[::-1]):
        report = bundle.run(lengths={"n": lengths}, seed=3)
        assert report.verified, report.problem
        predicted = bundle.predicted({"n": lengths}).cycles
        assert abs(predicted - report.cycles) <= 0.02 * report.cycles + 60
    late = compiled(contract, steps, target, grid, rounds=len(LENGTHS), skew=200)
    report = late.run(lengths={"n": LENGTHS})
    assert report.verified, report.problem


@pytest.mark.parametrize("steps", ["run linear_gather", "run auto to 3"])
def test_a_turn_without_words_passes_by_a_command(steps: str) -> None:
    bundle = compiled("gather(x: f32[n <= 21])", steps, "wse2")
    (plan,) = bundle.program.plans
    advances = {op.advance for phase in plan.phases for role in phase.roles for op in role.ops}
    assert {form_of(phase) for phase in plan.phases} == {Form.STREAM} and Advance.TURN in advances
    assert Advance.OWN_ROUTER not in advances
    assert read_plan(show_plan(plan)).phases == plan.phases


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("contract", "steps", "form"),
    [
        ("gather(x: f32[14])", "run auto to r < 7", Form.STREAM),
        ("gather(x: f32[9])", "run auto to r < 7", Form.STREAM),
        ("scatter(x: f32[14])", "run auto from r < 7", Form.MULTICAST),
    ],
)
def test_a_root_of_the_call_has_streams_and_multicasts(
    contract: str, steps: str, form: Form, target: str
) -> None:
    bundle = compiled(contract, steps, target, rounds=7)
    assert {form_of(phase) for plan in bundle.program.plans for phase in plan.phases} == {form}
    roots = {"r": (0, 6, 3, 3, 1, 5, 2)}
    report = bundle.run(lengths=roots)
    assert report.verified, report.problem
    predicted = bundle.predicted(roots).cycles
    assert abs(predicted - report.cycles) <= 0.02 * report.cycles + 60


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "contract", ["broadcast(x: {})", "reduce(x: {}, add)", "scatter(x: {})", "gather(x: {})"]
)
def test_a_root_of_the_call_is_a_rank_of_a_path(contract: str, target: str) -> None:
    way = "to" if contract[0] in "rg" else "from"
    steps = f"order snake run auto {way} r < 9"
    given = {"n": (20, 1, 9, 13), "r": (0, 8, 4, 2)}
    for skew in (0, 200):
        made = compiled(contract.format("f32[n <= 20]"), steps, target, "3 x 3", 4, skew)
        report = made.run(lengths=given)
        assert report.verified, report.problem
        predicted = made.predicted(given).cycles
        assert skew or abs(predicted - report.cycles) <= 0.02 * report.cycles + 60


@pytest.mark.parametrize("target", TARGETS)
def test_a_root_and_a_length_may_both_be_the_calls(target: str) -> None:
    bundle = compiled("gather(x: f32[n <= 20])", "run auto to r < 7", target, rounds=5)
    given = {"n": (20, 1, 7, 13, 3), "r": (0, 6, 3, 2, 5)}
    report = bundle.run(lengths=given)
    assert report.verified, report.problem


def test_a_scatter_along_a_line_may_be_a_multicast() -> None:
    report = compiled("scatter(x: f32[n <= 20])", "broadcast from 4", "wse2").run(
        lengths={"n": (13,)}
    )
    assert report.verified, report.problem
