"""Every form of a stream is delivered and predicted, whichever would be chosen."""

from __future__ import annotations

import os
import random
from itertools import product

import pytest
from constructs import attested, constructs_in
from stream_forms import CONTRACTS, forms, plans, text_of

import fabsim
from collc.base.files import write_files
from collc.checks import check_plan
from collc.driver.bundle import Bundle
from collc.driver.pipeline import prove_text
from collc.plan import Advance
from collc.plan.show import show_plan
from collc.run.expected import make_input, mismatch
from collc.target import TARGETS
from tests.reading_plans import read_plan

LINES = int(os.environ.get("COLLC_LINES", "12"))  # random ones
COUNTS = {  # forms by target
    "gather": (1, 1),
    "scatter": (1, 1),
    "allgather": (2, 2),
    "all_to_all": (2, 2),
    "reduce_scatter": (2, 2),
}


def fitting(name: str, ranks: int, length: int) -> int:
    """The length, or the next one that can be cut as the collective wants it."""
    return -(-length // ranks) * ranks if name == "all_to_all" else length


def bundles(name: str, ranks: int, length: int, target: str, element: str = "f32") -> list[Bundle]:
    parameters = {"P": ranks, "B": fitting(name, ranks, length)}
    return list(forms(text_of(name, element), parameters, target))


@pytest.mark.parametrize("name", COUNTS)
def test_a_collective_has_these_forms(name):
    found = tuple(len(bundles(name, 5, 25, target)) for target in TARGETS)
    assert found == COUNTS[name]


@pytest.mark.parametrize(("name", "target"), list(product(CONTRACTS, TARGETS)))
@pytest.mark.parametrize(("ranks", "length"), [(3, 3), (4, 64), (7, 45), (16, 16), (9, 260)])
def test_a_form_is_delivered_three_times_and_predicted(name, target, ranks, length):
    for bundle in bundles(name, ranks, length, target):
        report = bundle.run(seed=ranks, repeats=3)
        assert report.verified, report.problem
        assert abs(bundle.prediction.cycles - report.cycles) <= 0.02 * report.cycles + 60
        assert report.cycles >= bundle.prediction.bound


@pytest.mark.parametrize("name", ["gather", "scatter", "allgather", "reduce_scatter"])
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_slices_may_be_empty(name, length):
    for target in TARGETS:
        for bundle in bundles(name, 9, length, target):
            report = bundle.run(seed=length, repeats=2)
            assert report.verified, report.problem


@pytest.mark.parametrize("name", CONTRACTS)
@pytest.mark.parametrize("element", ["f16", "f32", "u16", "i32"])
def test_every_element_type_that_is_combined_on_the_way_travels(name, element):
    if name == "reduce_scatter" and element in {"u16", "i32"}:
        pytest.skip("these are combined by call-backs")
    for length in (30, 31):
        for bundle in bundles(name, 5, length, "wse2", element):
            assert bundle.run(seed=1, repeats=2).verified


@pytest.mark.parametrize(("name", "target"), list(product(CONTRACTS, TARGETS)))
def test_pes_may_begin_late(name, target, tmp_path):
    for number, bundle in enumerate(bundles(name, 6, 6 * 9, target)):
        folder = tmp_path / str(number)
        write_files(folder, bundle.files)
        program = fabsim.compile(folder / "layout.csl", arch=target)
        area = (0, 0, 6, 1, 6 * 9)
        for seed in range(6):
            simulator = fabsim.Simulator(program, late_starts=(400, seed))
            for call in range(3):
                given = make_input(bundle.plan.collective, 3 * seed + call)
                simulator.memcpy_h2d("x", given.reshape(-1), *area)
                simulator.launch("run")
                found = simulator.memcpy_d2h("x", given.dtype, *area)
                assert mismatch(bundle.schedule, given, found.reshape(given.shape)) == ""
            simulator.stop()


@pytest.mark.parametrize("seed", range(LINES))
def test_random_lines_are_delivered(seed):
    draw = random.Random(seed)
    name, target = draw.choice(list(CONTRACTS)), draw.choice(list(TARGETS))
    ranks = draw.randint(2, 14)
    length = draw.randint(1, 12 * ranks)
    for bundle in bundles(name, ranks, length, target):
        report = bundle.run(seed=seed, repeats=draw.randint(1, 3))
        assert report.verified, (name, target, ranks, length, report.problem)


@pytest.mark.parametrize(("name", "target"), list(product(CONTRACTS, TARGETS)))
def test_a_form_is_read_back_from_its_text(name, target):
    for bundle in bundles(name, 6, 36, target):
        plan = bundle.plan
        assert read_plan(show_plan(plan), plan.schedule, plan.target) == plan


def test_the_form_for_long_slices_takes_little_more_than_the_bound():
    """A form is chosen by its prediction, and long vectors go by the chained ones."""
    for name, most in (("allgather", 1.2), ("reduce_scatter", 1.25)):
        _, schedule = prove_text(text_of(name), "t", {"P": 16, "B": 4096})
        chained = plans(schedule)[1]
        assert any(op.after for role in chained.phases[0].roles for op in role.ops)
        bundle = bundles(name, 16, 4096, "wse2")[1]
        assert bundle.run(seed=1).cycles <= most * bundle.prediction.bound


def test_four_colors_halve_an_all_to_all():
    whole, halved = (one.run(seed=1).cycles for one in bundles("all_to_all", 16, 16 * 16, "wse2"))
    assert halved <= 0.65 * whole
    found = bundles("all_to_all", 16, 16, "wse2")
    assert [len(one.plan.colors) for one in found] == [2, 4]


def test_a_turn_is_handed_over_by_one_command_for_each_router():
    """The router of the first PE has no switch, so the wavelet from there has one command only."""
    text = next(
        one.files["total_pe.csl"]
        for one in bundles("allgather", 5, 100, "wse2")
        if "hand_over" in one.files["total_pe.csl"]
    )
    assert "control.opcode.SWITCH_ADV else control.opcode.NOP" in text
    layout = bundles("allgather", 5, 100, "wse2")[1].files["total_layout.csl"]
    assert ".ring_mode = true, .pop_mode = .{ .pop_on_advance = true }" in layout
    assert any(
        op.advance is Advance.HAND_OVER
        for role in bundles("allgather", 5, 100, "wse2")[1].plan.phases[0].roles
        for op in role.ops
    )


@pytest.mark.parametrize(("name", "target"), list(product(CONTRACTS, TARGETS)))
def test_every_construct_of_a_form_is_attested(name, target):
    for bundle in bundles(name, 6, 36, target):
        places = constructs_in(bundle, target)
        assert not [one for one in places if not attested(one, target)]


def test_all_forms_pass_the_checks_on_many_lines():
    for name, target in product(CONTRACTS, TARGETS):
        for ranks, length in product((2, 3, 6, 11), (1, 7, 40)):
            parameters = {"P": ranks, "B": fitting(name, ranks, length)}
            _, schedule = prove_text(text_of(name), "t", parameters, target)
            for plan in plans(schedule, target):
                assert not check_plan(plan), (name, target, ranks, length)
