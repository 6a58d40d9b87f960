"""Line by line the clock says what it says of the whole grid."""

from __future__ import annotations

import pytest

from collc.cost.by_lines import timed_by_lines
from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text, prove_text
from collc.emit.library import libraries_of
from collc.emit.scripts import scripts_of
from collc.machine.timed import MOST_WORDS, timed
from collc.plan.one_call import of_one_call
from collc.plan.plan import ProgramPlan
from collc.schedule.barrier_tokens import with_tokens
from collc.target import TARGETS


def program_of(contract: str, steps: str, grid: str, target: str, where: str = "g") -> ProgramPlan:
    text = f"""
        target {target}
        grid g = {grid}
        collective total = {contract} on {where} {{ {steps} }}
        program {{ total }}
    """
    spec, schedule = prove_text(text, "test.coll", {})
    return of_one_call(build_plan(with_tokens(schedule), TARGETS[spec.target]))


TO_ALL = "reduce columns by {0} to {2} then reduce row by {1} to {3} then broadcast from ({3}, {2})"
TO_ROOT = "reduce columns by chain to 0 then reduce row by star to 0"
BACK = "reduce rows by {0} to {2} then reduce column by {1} to {3} then broadcast from ({2}, {3})"
SLICES = (
    "run rows by chain_reduce_scatter then run columns by chain_reduce(root = 2) on slices "
    "then run columns by direct_broadcast(root = 2) on slices then run rows by direct_allgather"
)
BOTH = "run rows by {0} then run columns by {0}"


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("contract", "steps", "grid"),
    [
        ("allreduce(x: f32[16], add)", TO_ALL.format("chain", "chain", 0, 0), "8 x 6"),
        ("allreduce(x: f32[2], add)", TO_ALL.format("star", "binomial", 0, 0), "5 x 9"),
        ("allreduce(x: f16[21], max)", TO_ALL.format("two_phase(S = 3)", "optimal", 4, 2), "6 x 9"),
        ("allreduce(x: f32[9], add)", BACK.format("chain", "binomial", 2, 3), "7 x 6"),
        ("allreduce(x: f32[40], max)", BACK.format("root_bypass(chain)", "star", 3, 0), "7 x 6"),
        ("allreduce(x: i32[30], min)", TO_ALL.format("binomial", "star", 2, 0), "5 x 4"),
        ("allreduce(x: f32[3000], min)", TO_ALL.format("binomial", "star", 0, 0), "5 x 4"),
        ("reduce(x: f32[7], add)", TO_ROOT, "4 x 5"),
        ("allreduce(x: (f32, u32)[6], argmax)", TO_ALL.format("chain", "chain", 0, 0), "5 x 4"),
        ("broadcast(x: f32[30])", "broadcast from (3, 2)", "6 x 5"),
        ("allreduce(x: f32[48], add)", SLICES, "6 x 5"),
        ("allreduce(x: f32[47], add)", SLICES, "5 x 6"),
        ("allreduce(x: f32[20], add)", BOTH.format("ring_allreduce"), "5 x 4"),
        ("allreduce(x: f32[13], add)", BOTH.format("recursive_doubling"), "4 x 8"),
    ],
)  # fmt: skip
def test_it_is_the_same(contract: str, steps: str, grid: str, target: str) -> None:
    _is_the_same(program_of(contract, steps, grid, target))


def _is_the_same(program: ProgramPlan) -> None:
    (library,) = libraries_of(program, "")
    found = timed_by_lines(program, library, None, MOST_WORDS)
    whole = timed(*scripts_of(program, (library,)))
    assert found is not None
    assert (found.cycles, found.marks) == (int(whole.done.max()), whole.marks)


@pytest.mark.parametrize(
    ("contract", "steps", "where"),
    [
        ("all_to_all(x: f32[40])", "run pairwise_all_to_all", "each row of g"),
        (
            "allreduce(x: f32[1], add)",
            "reduce chain to 0 then broadcast from 0",
            "each column of g",
        ),
    ],
)
def test_lines_that_do_the_same_by_themselves_are_one(
    contract: str, steps: str, where: str
) -> None:
    _is_the_same(program_of(contract, steps, "5 x 4", "wse2", where))


@pytest.mark.parametrize(
    ("contract", "steps", "where"),
    [
        ("allreduce(x: f32[16], add)", TO_ALL.format("chain", "star", 0, 0), "part"),
        ("allreduce(x: f32[20], add)", BOTH.format("ring_allreduce"), "part"),
        ("reduce(x: f32[7], add)", "reduce chain to 0", "each row of part"),
    ],
)
def test_so_it_is_of_one_call_on_a_part(contract: str, steps: str, where: str) -> None:
    text = f"""
        target wse2
        grid g = 7 x 6
        grid part = g[1 .. 5, 2 .. 5]
        collective total = {contract} on {where} {{ {steps} }}
        program {{ total }}
    """
    bundle = compile_text(text, "test.coll", {})
    _is_the_same(bundle.program)
    assert set(bundle.prediction.breakdown) > {phase.name for phase in bundle.plan.phases}
    assert bundle.prediction.critical_path and bundle.prediction.gap is not None


@pytest.mark.parametrize(
    ("contract", "steps", "why"),
    [
        ("allreduce(x: f32[1], add)", TO_ALL.format("chain", "chain", 0, 0), "one word goes on"),
        ("reduce(x: f32[16], add)", "order snake reduce chain to 0", "a path has no lines"),
    ],
)  # fmt: skip
def test_what_is_no_sequence_of_lines_is_left_to_the_clock_of_the_grid(
    contract: str, steps: str, why: str
) -> None:
    program = program_of(contract, steps, "6 x 4", "wse2")
    (library,) = libraries_of(program, "")
    assert timed_by_lines(program, library, None, MOST_WORDS) is None, why
