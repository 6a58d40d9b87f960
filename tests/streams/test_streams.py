"""Exchanges whose slices routers put in order: what is recognised, delivered, predicted."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import steps_patterns as s
from changing import streams
from libraries import library_of
from mismatches import mismatch
from with_schedules import check_plan

import fabsim
from collc.base.files import write_files
from collc.cost.choice import build_plan
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.lowering import candidate_plans
from collc.lowering.streams import recognised
from collc.run.expected import make_input
from collc.target import TARGETS

TEXT = """target wse2
param P = 8 where 1 <= P <= 750
param B = 64 where 1 <= B <= 8192
grid row = P x 1
collective total = CONTRACT(x: ELEMENT[B]) on row { run STEPS }
program { total }
"""
EXAMPLES = Path(__file__).parents[2] / "examples"
FORMS = {
    "gather": "linear_gather",
    "scatter": "linear_scatter",
    "allgather": "direct_allgather",
}
ROOTED = {
    # slices from or to a rank inside, said by steps
    "gather": "{ step { each r where r != ROOT : slice r  r -> ROOT } }",
    "scatter": "{ step { each r, q where r == ROOT and q != ROOT : slice q  r -> q } }",
}


def text_of(contract: str, element: str = "u32", root: int | None = None) -> str:
    text = TEXT.replace("ELEMENT", element)
    if root is None:
        return text.replace("CONTRACT", contract).replace("STEPS", FORMS[contract])
    steps = f"algorithm steps(n) slices n {ROOTED[contract].replace('ROOT', str(root))}\n"
    by_name = text.replace("CONTRACT", contract).replace("STEPS", f"steps to {root}")
    return by_name.replace("grid row", steps + "grid row")


def compiled(contract: str, ranks: int, length: int, target: str = "wse2", **how) -> Bundle:
    text = text_of(contract, **how)
    return compile_text(text, "test.coll", {"P": ranks, "B": length}, target)


def streamed(bundle: Bundle) -> bool:
    return streams(bundle.plan)


@pytest.mark.parametrize("contract", FORMS)
@pytest.mark.parametrize("ranks", [2, 3, 8, 17])
def test_a_form_is_delivered_on_both_targets_called_three_times(contract, ranks):
    for length, target in product((1, ranks - 1, 3 * ranks, 5 * ranks + 3), TARGETS):
        bundle = compiled(contract, ranks, length, target)
        report = bundle.run(seed=1, repeats=3)
        assert report.verified, (length, target, report.problem)


@pytest.mark.parametrize(("contract", "root"), list(product(ROOTED, (0, 2, 4))))
def test_any_rank_may_be_the_root(contract, root):
    bundle = compiled(contract, 5, 23, root=root)
    assert streamed(bundle)
    assert bundle.run(seed=1, repeats=2).verified


@pytest.mark.parametrize("contract", FORMS)
@pytest.mark.parametrize("element", ["f32", "f16", "u16", "i32"])
def test_every_element_type_travels(contract, element):
    for length in (24, 29):
        bundle = compiled(contract, 6, length, element=element)
        assert bundle.run(seed=1, repeats=2).verified


@pytest.mark.parametrize("contract", FORMS)
def test_pes_may_begin_late_in_every_call(contract, tmp_path):
    bundle = compiled(contract, 7, 7 * 9 + 4)
    assert streamed(bundle)
    write_files(tmp_path, bundle.files)
    program = fabsim.compile(tmp_path / "layout.csl", arch="wse2")
    area = (0, 0, 7, 1, 7 * 9 + 4)
    for seed in range(8):
        simulator = fabsim.Simulator(program, late_starts=(400, seed))
        for call in range(3):
            given = make_input(bundle.plan.collective, 3 * seed + call)
            simulator.memcpy_h2d("x", given.reshape(-1), *area)
            simulator.launch("run")
            found = simulator.memcpy_d2h("x", given.dtype, *area)
            assert mismatch(bundle.schedule, given, found.reshape(given.shape)) == ""
        simulator.stop()


@pytest.mark.parametrize("contract", FORMS)
@pytest.mark.parametrize(("ranks", "slice_"), [(2, 1), (8, 1), (16, 6), (33, 3), (16, 40)])
def test_cycles_are_predicted(contract, ranks, slice_):
    for target in TARGETS:
        bundle = compiled(contract, ranks, ranks * slice_, target)
        cycles = bundle.run(seed=1).cycles
        assert cycles >= bundle.prediction.bound
        assert streamed(bundle) or (ranks, slice_) == (2, 1)  # one word is one operation of steps
        assert bundle.prediction.cycles == cycles, target


def test_one_element_a_rank_takes_little_more_than_the_way():
    """A router that shares colors over time costs nothing: the words follow each other without a
    gap."""
    few, many = (compiled("gather", 64, 64 * n).run(seed=1).cycles for n in (4, 8))
    assert many - few == 63 * 4


def test_a_scatter_streams_on_both_targets():
    assert all(streamed(compiled("scatter", 8, 64, target)) for target in TARGETS)


STRAIGHT = [(r, 0, r, r, 1, False) for r in range(1, 4)]


@pytest.mark.parametrize(
    ("moves", "word"),
    [
        ([STRAIGHT], "gather"),
        ([[one] for one in STRAIGHT], "gather"),  # whatever the order of the steps
        ([[(0, r, r, r, 1, False) for r in range(1, 4)]], "scatter"),
        ([[(r, q, r, r, 1, False) for r in range(4) for q in range(4) if q != r]], "allgather"),
        ([[(r, 1, r, r, 1, False) for r in (2, 3)]], "gather"),  # from one side of the root
        ([[(0, 2, 0, 0, 1, False)]], None),  # one slice of one rank is none of these
        ([STRAIGHT[:2]], None),  # a slice is missing
        ([[(3, 2, 3, 3, 1, False)], [(1, 0, 1, 1, 1, False), (2, 0, 2, 2, 2, False)]], None),
        ([[(r, 0, r, r, 1, True) for r in range(1, 4)]], None),  # combined, not gathered
    ],
)
def test_what_is_recognised_goes_straight_and_leaves_what_the_stream_leaves(moves, word):
    found = recognised(s.phase((4, moves), 4, 24))
    assert (found.word if found else None) == word


def test_places_that_do_not_follow_the_ranks_are_left_alone():
    straight = s.phase((4, [STRAIGHT]), 4, 24)
    assert recognised(straight) is not None
    assert recognised(s.phase((4, [STRAIGHT]), 4, 24, places=(0, 2, 3, 1))) is None


def test_a_wiring_is_chosen_by_its_cycles():
    schedule = s.Line("scatter", 8, 64).schedule()
    plan = build_plan(schedule, TARGETS["wse2"])
    assert streams(plan)
    assert check_plan(plan) == ()
    other = next(candidate_plans(schedule, TARGETS["wse2"], streams=False))
    assert not streams(other)


def test_the_text_is_the_same_twice():
    first, second = (compiled("allgather", 9, 50).files for _ in range(2))
    assert first == second
    assert ".advances = true" in library_of(first, "layout")


@pytest.mark.parametrize("ranks", [3, 4, 7, 8])
@pytest.mark.parametrize("target", TARGETS)
def test_sums_are_combined_in_rank_order_bit_by_bit(ranks, target):
    for length in (ranks, 5 * ranks + 2, 40 * ranks):
        text = text_of("gather", "f32").replace("linear_gather", "chain_reduce_scatter")
        text = text.replace("gather(x: f32[B])", "reduce_scatter(x: f32[B], add)")
        bundle = compile_text(text, "test.coll", {"P": ranks, "B": length}, target)
        assert streamed(bundle)
        report = bundle.run(seed=2, repeats=3)
        assert report.verified, report.problem
        assert abs(bundle.prediction.cycles - report.cycles) <= 0.02 * report.cycles + 60


@pytest.mark.parametrize("operation", ["max", "min", "add"])
def test_every_operation_that_a_builtin_does_goes_along_the_chains(operation):
    text = text_of("gather", "f32").replace("linear_gather", "chain_reduce_scatter")
    text = text.replace("gather(x: f32[B])", f"reduce_scatter(x: f32[B], {operation})")
    bundle = compile_text(text, "test.coll", {"P": 6, "B": 32})
    assert streamed(bundle)
    assert bundle.run(seed=1, repeats=2).verified


def test_what_a_call_back_combines_is_no_stream():
    text = text_of("gather", "u32").replace("linear_gather", "chain_reduce_scatter")
    text = text.replace("gather(x: u32[B])", "reduce_scatter(x: u32[B], add)")
    bundle = compile_text(text, "test.coll", {"P": 4, "B": 16})
    assert not streamed(bundle)
    assert bundle.run(seed=1).verified


@pytest.mark.parametrize("algorithm", ["linear_all_to_all", "pairwise_all_to_all"])
@pytest.mark.parametrize("ranks", [2, 3, 8, 9])
def test_everybody_hears_everybody_and_keeps_what_is_his(algorithm, ranks):
    for length in (ranks * ranks, 3 * ranks):
        text = text_of("gather", "f32").replace("linear_gather", algorithm)
        text = text.replace("gather(x: f32[B])", "all_to_all(x: f32[B])")
        bundle = compile_text(text, "test.coll", {"P": ranks, "B": length})
        report = bundle.run(seed=2, repeats=3)
        assert report.verified, report.problem
        assert abs(bundle.prediction.cycles - report.cycles) <= 0.02 * report.cycles + 60


def test_blocks_of_a_grid_stream_along_rows_and_columns():
    example = (EXAMPLES / "gather_2d.coll").read_text().replace("binomial_gather", "linear_gather")
    bundle = compile_text(example, "test.coll", {})
    assert streamed(bundle)
    assert bundle.run(seed=1, repeats=2).verified


def test_a_program_calls_streams_again_and_again():
    text = text_of("gather", "f32").replace("program { total }", "")
    text = text.replace("collective total", "collective first")
    more = "collective second = allgather(x: f32[B]) on row { run direct_allgather }\n"
    bundle = compile_text(f"{text}{more}program {{ repeat 3 {{ first second first }} }}", "t", {})
    assert any(map(streams, bundle.program.plans))
    assert bundle.run(seed=1, repeats=2).verified
