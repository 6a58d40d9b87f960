"""All ranks of an allreduce end with the same bits: they group sums of floats alike."""

from __future__ import annotations

import numpy as np
import pytest

from collc.language import parse_source
from collc.proof import prove
from collc.schedule import build_schedule
from collc.spec import OwnOperation
from collc.spec.arrays import same
from collc.spec.formula import Builder, evaluate, is_symmetric, with_sorted_operands

EVERYONE = "algorithm everyone(n) { step { each r, q where r != q : slice 0 r => q } }"


def codes(contract: str, steps: str, size: str = "4 x 1", declared: str = "") -> list[str]:
    text = f"""
    target wse2
    {EVERYONE} {declared}
    grid pes = {size}
    collective c = {contract} on pes {{ {steps} }}
    program {{ c }}
    """
    return [found.code for found in prove(build_schedule(parse_source(text).collectives[0]))]


@pytest.mark.parametrize("operation", ["add", "mul"])
def test_ranks_that_group_a_rounded_sum_each_in_a_way_of_its_own_are_refused(
    operation: str,
) -> None:
    assert codes(f"allreduce(x: f32[4], {operation})", "run everyone") == ["C215"]
    assert codes(f"allreduce(x: f16[4], {operation})", "run dissemination_barrier") == ["C215"]


def test_what_is_only_assumed_to_be_associative_is_grouped_alike_too() -> None:
    declared = "operation own(a, b: i16) commutative {} = {}"
    contract = "allreduce(x: i16[4], own)"
    saturated = declared.format("assume associative", "i16(min(i32(a) + i32(b), 9))")
    assert codes(contract, "run everyone", declared=saturated) == ["C215"]
    assert not codes(contract, "run recursive_doubling", declared=saturated)
    assert not codes(contract, "run everyone", declared=declared.format("", "max(a, b)"))


def test_of_two_ranks_both_have_the_one_sum() -> None:
    assert not codes("allreduce(x: f32[4], add)", "run everyone", "2 x 1")


@pytest.mark.parametrize(
    "contract",
    [
        "allreduce(x: f32[4], max)",
        "allreduce(x: i32[4], add)",
        "allreduce(x: (f32, u32)[4], argmin)",
    ],
)
def test_what_no_order_rounds_may_be_combined_anyhow(contract: str) -> None:
    assert not codes(contract, "run everyone")


@pytest.mark.parametrize(
    "steps", ["run recursive_doubling", "run dual_root_allreduce(c = 2)", "run direct_allreduce"]
)
@pytest.mark.parametrize("size", ["6 x 1", "1 x 9", "16 x 1"])
def test_algorithms_of_the_prelude_group_alike(steps: str, size: str) -> None:
    assert not codes("allreduce(x: f32[24], add)", steps, size)


def test_on_a_grid_lines_have_to_agree_unless_one_pe_sends_its_result_to_all() -> None:
    contract, rows = "allreduce(x: f32[4], add)", "run rows by everyone"
    assert codes(contract, f"{rows} then run columns by everyone", "4 x 3") == ["C215"]
    columns = "reduce column by chain to 0 then broadcast from (0, 0)"
    assert not codes(contract, f"{rows} then {columns}", "4 x 3")
    assert not codes("reduce(x: f32[4], add)", f"{rows} then reduce column by chain to 0", "4 x 3")


@pytest.mark.parametrize(("first", "across"), [("rows", "columns"), ("columns", "rows")])
def test_what_is_advised_for_lines_on_slices_keeps_the_contract(first: str, across: str) -> None:
    steps = f"""run {first} by ring_reduce_scatter
        then run {across} by everyone on slices
        then run {first} by ring_allgather"""
    text = f"""
    target wse2
    {EVERYONE}
    grid pes = 4 x 4
    collective c = allreduce(x: f32[16], add) on pes {{ {steps} }}
    program {{ c }}
    """
    (problem,) = prove(build_schedule(parse_source(text).collectives[0]))
    assert problem.code == "C215"
    advised = problem.help.split("`")[1]
    assert f"run {across} by" in advised
    mended = text.replace(f"run {across} by everyone on slices", advised)
    assert not list(prove(build_schedule(parse_source(mended).collectives[0])))


@pytest.mark.parametrize(
    ("formula", "symmetric"),
    [
        ("a + b - a * b", True),
        ("max(max(a, -a), max(b, -b))", True),
        ("a < b or b < a ? a * b : a + b", True),
        ("a > b ? a : b", False),
        ("(a * 3 + b) - a * 2", False),
    ],
)
def test_an_operation_whose_form_is_not_symmetric_gets_its_operands_in_order(
    formula: str, symmetric: bool
) -> None:
    declared = f"operation own(a, b: f32) commutative assume associative = {formula}"
    for steps, sorted_there in (("run recursive_doubling", True), ("run ring_allreduce", False)):
        text = f"target wse2 {declared} grid pes = 4 x 1\n"
        text += f"collective c = allreduce(x: f32[8], own) on pes {{ {steps} }}\nprogram {{ c }}"
        collective = parse_source(text).collectives[0]
        written = collective.contract.operation
        used = build_schedule(collective).collective.contract.operation
        assert isinstance(written, OwnOperation)
        assert isinstance(used, OwnOperation)
        assert is_symmetric(written.formula) is symmetric
        assert (used == written) is (symmetric or not sorted_there)


def test_operands_in_order_give_the_same_bits_either_way() -> None:
    builder = Builder()
    own, received = builder.add("own", "f16"), builder.add("received", "f16")
    formula = with_sorted_operands(builder.formula(builder.add("sub", "f16", own, received)))
    values = np.arange(1 << 16, dtype=np.uint16)[::257].view(np.float16)
    values = np.concatenate([values, np.array([0.0, -0.0, np.nan, np.inf, -np.inf], np.float16)])
    one, other = (part.ravel().copy() for part in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        either = evaluate(formula, one, other), evaluate(formula, other, one)
    assert same(*either).all()
