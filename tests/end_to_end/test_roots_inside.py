"""Reductions to a root within both axes: five phases, whose sides share queues and registers."""

from __future__ import annotations

import pytest

from collc.driver.pipeline import compile_text

TREES = (
    "chain",
    "star",
    "binomial",
    "two_phase(S = 2)",
    "optimal",
    "chain_star(S = 2)",
    "root_bypass(chain)",
)
OPERANDS = (
    "f32[8], add",
    "f32[3], max",
    "i32[5], add",
    "f16[7], add",
    "u16[9], max",
    "f32[4], min",
)
GRIDS = (("5 x 5", 2, 2), ("3 x 6", 1, 4), ("3 x 3", 1, 1))
AXES = {
    "columns": "reduce columns by {tree} to {y} then reduce row by {tree} to {x}",
    "rows": "reduce rows by {tree} to {x} then reduce column by {tree} to {y}",
}


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("first", AXES)
@pytest.mark.parametrize("tree", TREES)
def test_a_root_may_be_within_both_axes(tree: str, first: str, target: str) -> None:
    # each tree on every grid, by one order of the axes or the other, on one target or the other
    number = (TREES.index(tree) + 2 * (first == "rows") + (target == "wse3")) % len(GRIDS)
    size, x, y = GRIDS[number]
    for kind, back in (("reduce", ""), ("allreduce", f" then broadcast from ({x}, {y})")):
        operands = OPERANDS[(number + 2 * TREES.index(tree)) % len(OPERANDS)]
        steps = AXES[first].format(tree=tree, x=x, y=y) + back
        text = f"grid g = {size} collective s = {kind}(v: {operands}) on g {{ {steps} }}"
        bundle = compile_text(f"target {target} {text} program {{ s }}", "test.coll", {})
        report = bundle.run(repeats=2)
        assert report.verified, (text, report.problem)


def test_no_pe_sends_through_two_queues() -> None:
    text = "target wse2 grid g = 5 x 5 collective s = allreduce(v: f32[8], add) on g { "
    text += AXES["columns"].format(tree="chain", x=2, y=2) + " then broadcast from (2, 2) }"
    bundle = compile_text(text + " program { s }", "test.coll", {})
    assert len(bundle.plan.phases) == 5
    assert set(bundle.plan.output_queues) == {2}
    numbers = "param output_queues: [5]u16 = [5]u16{ 2, 2, 2, 2, 2 };"
    assert numbers in bundle.files["test_pe.csl"]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    "steps",
    [
        "run columns by pipelined_reduce(c = 2) then reduce row by chain to 2",
        "run columns by ring_allreduce then reduce rows by chain to 2",
        "run columns by ring_allreduce to (0, 1) then reduce rows by two_phase(S = 2) to 1",
        "reduce columns by chain to 1 then run rows by ring_allreduce",
    ],
)
def test_behind_or_before_an_algorithm_a_reduction_ends_at_a_rank_of_its_lines(
    steps: str, target: str
) -> None:
    text = (
        f"target {target} grid g = 4 x 3 collective s = reduce(v: f32[8], add) on g {{ {steps} }}"
    )
    report = compile_text(text + " program { s }", "test.coll", {}).run(repeats=2)
    assert report.verified, report.problem
