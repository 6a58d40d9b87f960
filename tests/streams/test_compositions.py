"""Streams one after the other: what a phase leaves for those behind it, and what is chosen."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.plan.form import Form, form_of
from collc.schedule import build_schedule
from collc.schedule.own_slices import asks_own_slices

TEXT = """target {target}
grid row = {ranks} x 1
{algorithm}
collective all = {contract} on row {{ {steps} }}
program {{ all }}
"""
# rank 0 takes a slice that is rank 1's, and one that is not
TAKES = "algorithm takes(n) slices n {{ step {{ each r where r == 1 : slice {} r -> 0 }} }}"
AROUND = "algorithm halves(n) slices 2 { step { each r where r == 1 : slice 0 r -> 0 } }"


def text(contract: str, steps: str, ranks: int = 9, target: str = "wse2", algorithm: str = ""):
    return TEXT.format(
        contract=contract, steps=steps, ranks=ranks, target=target, algorithm=algorithm
    )


def asks_own(contract: str, steps: str, algorithm: str = "") -> bool:
    spec = parse_source(text(contract, steps, algorithm=algorithm))
    schedule = build_schedule(spec.collectives[0])
    return asks_own_slices(schedule, schedule.phases[0])


@pytest.mark.parametrize(
    ("contract", "behind"),
    [
        ("allreduce", "run direct_allgather"),
        ("allreduce", "run ring_allgather"),
        ("allreduce", "run linear_gather then broadcast from 0"),
        ("reduce", "run linear_gather"),
        ("reduce", "run binomial_gather"),
    ],
)
def test_where_only_own_slices_go_on_the_rest_is_work_space(contract: str, behind: str) -> None:
    assert asks_own(f"{contract}(x: f32[27], add)", f"run chain_reduce_scatter then {behind}")


@pytest.mark.parametrize(
    ("contract", "behind", "algorithm"),
    [
        # all ranks are asked for whole vectors, and only rank 0 has them
        ("allreduce", "run linear_gather", ""),
        ("allreduce", "broadcast from 0", ""),
        ("reduce", "broadcast from 0", ""),
        # a slice that rank 1 does not own goes on
        ("reduce", "run takes then run binomial_gather", TAKES.format(2)),
        # slices that are cut otherwise cannot be told apart
        ("reduce", "run halves then run linear_gather", AROUND),
        # whole vectors are combined
        ("reduce", "reduce chain to 0", ""),
    ],
)
def test_what_goes_on_or_is_asked_is_no_work_space(
    contract: str, behind: str, algorithm: str
) -> None:
    steps = f"run chain_reduce_scatter then {behind}"
    if "takes" in algorithm:  # what is gathered behind it puts it right, so it is looked at alone
        steps = "run chain_reduce_scatter then run takes"
    assert not asks_own(f"{contract}(x: f32[27], add)", steps, algorithm)


def test_a_slice_that_is_written_over_again_was_work_space() -> None:
    steps = "run chain_reduce_scatter then run takes then run linear_gather"
    assert asks_own("reduce(x: f32[27], add)", steps, TAKES.format(2))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("length", [27, 36])
@pytest.mark.parametrize(
    ("contract", "steps"),
    [
        ("allreduce(x: i32[{}], add)", "run chain_reduce_scatter then run direct_allgather"),
        ("allreduce(x: f32[{}], max)", "run chain_reduce_scatter then run direct_allgather"),
        ("reduce(x: f32[{}], add)", "run chain_reduce_scatter then run linear_gather"),
        ("allgather(x: f32[{}])", "run linear_gather then broadcast from 0"),
        ("reduce_scatter(x: f32[{}], add)", "reduce chain to 0 then run linear_scatter"),
    ],
)
def test_compositions_deliver_call_after_call(
    contract: str, steps: str, length: int, target: str
) -> None:
    bundle = compile_text(text(contract.format(length), steps, target=target), "test.coll", {})
    report = bundle.run(repeats=3)
    assert report.verified, report.problem


def test_both_halves_of_an_allreduce_are_streams() -> None:
    steps = "run chain_reduce_scatter then run direct_allgather"
    streams = compile_text(text("allreduce(x: f32[36], add)", steps), "test.coll", {})
    assert all(form_of(phase) is Form.STREAM for phase in streams.plan.phases)
    by_steps = compile_text(
        text("allreduce(x: f32[36], add)", "run ring_allreduce"), "test.coll", {}
    )
    assert 2 * streams.run().cycles < by_steps.run().cycles


GRID = """target {target}
grid pes = {grid}
collective all = {contract} on pes {{ {order} {steps} }}
program {{ all }}
"""
GATHERED = "run rows by linear_gather then run column by linear_gather then broadcast from 0"
DEALT = "run column by linear_scatter then run rows by linear_scatter"


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("grid", ["4 x 3", "3 x 5", "2 x 2"])
@pytest.mark.parametrize("order", ["", "order east_to_west, south_to_north"])
@pytest.mark.parametrize(
    ("contract", "steps"),
    [
        ("allgather(x: u32[47])", GATHERED),
        (
            "reduce_scatter(x: i32[47], add)",
            f"reduce columns by chain to 0 then reduce row by binomial to 0 then {DEALT}",
        ),
        (
            "reduce_scatter(x: f32[48], max)",
            f"reduce rows by chain to 0 then reduce column by star to 0 then {DEALT}",
        ),
    ],
)
def test_on_a_grid_slices_go_by_way_of_a_root(
    contract: str, steps: str, order: str, grid: str, target: str
) -> None:
    written = GRID.format(contract=contract, steps=steps, order=order, grid=grid, target=target)
    report = compile_text(written, "test.coll", {}).run(repeats=2)
    assert report.verified, report.problem


@pytest.mark.parametrize(
    ("contract", "steps"),
    [
        # from another PE than that which has gathered them
        ("allgather(x: u32[47])", GATHERED.replace("from 0", "from (1, 0)")),
        # one block only
        ("allgather(x: u32[47])", "run rows by linear_gather then broadcast from 0"),
        # columns before rows, where ranks are counted along rows
        (
            "allgather(x: u32[47])",
            "run columns by linear_gather then run row by linear_gather then broadcast from 0",
        ),
        # sums of columns
        ("reduce_scatter(x: i32[47], add)", f"reduce columns by chain to 0 then {DEALT}"),
        # from another PE than that which has the sum
        (
            "reduce_scatter(x: i32[47], add)",
            f"reduce columns by chain to 2 then reduce row by chain to 0 then {DEALT}",
        ),
    ],
)
def test_what_does_not_pass_on_all_of_it_is_refused(contract: str, steps: str) -> None:
    written = GRID.format(contract=contract, steps=steps, order="", grid="4 x 3", target="wse2")
    with pytest.raises(CollcError) as caught:
        compile_text(written, "test.coll", {})
    assert {one.code for one in caught.value.diagnostics} == {"C204"}


def test_auto_gathers_and_multicasts_on_a_grid_where_that_is_faster() -> None:
    asked = {"contract": "allgather(x: f32[512])", "order": "", "grid": "8 x 8", "target": "wse2"}
    bundle = compile_text(GRID.format(steps="run auto", **asked), "test.coll", {})
    both = "run rows by direct_allgather then run columns by direct_allgather"
    along_both = compile_text(GRID.format(steps=both, **asked), "test.coll", {})
    assert bundle.run().cycles <= along_both.run().cycles


def test_auto_deals_a_short_sum_out_from_rank_0() -> None:
    bundle = compile_text(text("reduce_scatter(x: f32[64], add)", "run auto", 64), "test.coll", {})
    assert "then run linear_scatter" in bundle.decisions[0].chosen.text
    chains = compile_text(
        text("reduce_scatter(x: f32[64], add)", "run chain_reduce_scatter", 64), "test.coll", {}
    )
    assert bundle.run().cycles < chains.run().cycles


def test_what_routers_turn_is_not_ruled_out_by_what_steps_would_take() -> None:
    bundle = compile_text(text("allgather(x: f32[256])", "run auto", 64), "test.coll", {})
    assert bundle.decisions[0].chosen.text == "run direct_allgather"
