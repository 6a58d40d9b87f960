"""Collectives with slices on grids stream along both axes, alone and in other scopes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from grid_streams import collective
from simulating import fabsim_options

from collc.checks.traffic.stream_shapes import stream_shapes
from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text
from collc.lowering import candidate_plans
from collc.lowering.memory import stage_of
from collc.lowering.resources import most_filters
from collc.lowering.show_program import show_program
from collc.lowering.streams import blocks_of, recognised
from collc.plan.form import Form, form_of
from collc.plan.plan import Lane, Op, Plan
from collc.plan.read import read_program, same
from collc.plan.streams import asides_of
from collc.spec.exchange import Moves, StepsPhase
from collc.target import TARGETS as MACHINES

TARGETS = ("wse2", "wse3")


def text(contract: str, grid: str, elements: int, element: str = "f32", **how: str) -> str:
    one = collective(contract, str(elements), element, **how)
    return f"target wse2\ngrid wafer = {grid}\n{one}program {{ total }}\n"


def streamed(plan: Plan) -> list[bool]:
    return [form_of(phase) is Form.STREAM for phase in plan.phases]


def rows_of(grid: str = "4 x 3", elements: int = 24) -> StepsPhase:
    """The rows of an all_to_all, which send slices of all blocks."""
    schedule = compile_text(text("all_to_all", grid, elements), "t.coll", {}).schedule
    rows = schedule.phases[-1]
    assert isinstance(rows, StepsPhase)
    return rows


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("grid", "elements", "element", "columns"),
    [
        ("4 x 3", 24, "f32", False),  # columns go by steps, which is faster on three PEs
        ("4 x 4", 64, "f32", True),
        ("2 x 5", 10, "f32", True),
        ("3 x 4", 48, "f16", True),
        ("3 x 3", 27, "i16", False),
    ],
)
def test_an_all_to_all_is_right_three_times_and_late(
    grid: str, elements: int, element: str, columns: bool, target: str
) -> None:
    bundle = compile_text(text("all_to_all", grid, elements, element), "t.coll", {}, target)
    assert streamed(bundle.plan) == [columns, True]
    report = bundle.run(repeats=3)
    assert report.verified, report.problem
    with fabsim_options("--late-starts 300:7"):
        late = bundle.run(repeats=3, seed=4)
    assert late.verified, late.problem


@pytest.mark.parametrize("target", TARGETS)
def test_both_axes_stream_with_the_filters_that_a_pe_has(target: str) -> None:
    plan = compile_text(text("all_to_all", "4 x 4", 16), "t.coll", {}, target).plan
    columns, rows = plan.phases
    assert streamed(plan) == [True, True]
    assert most_filters([columns]) == 2
    # a PE of WSE-3 is known to have two, so rows put aside what comes
    in_memory = target == "wse3"
    assert most_filters([rows]) == (0 if in_memory else 2)
    assert bool(asides_of(rows)) is in_memory
    assert not asides_of(columns)


def test_what_is_put_aside_has_a_part_of_the_stage_for_each_lane() -> None:
    plan = compile_text(text("all_to_all", "4 x 4", 64), "t.coll", {}, "wse3").plan
    found = asides_of(plan.phases[-1])
    assert list(found) == ["forward", "backward"]
    assert found["backward"].start == found["forward"].stop
    # the last of four PEs puts aside what three PEs send it, two slices in each of four blocks
    assert max(map(len, found.values())) == 3 * 2 * 4
    assert stage_of(plan.phases[-1]) == found["backward"].stop * 4


def test_rows_do_not_put_aside_what_a_pe_has_no_room_for() -> None:
    bundle = compile_text(text("all_to_all", "4 x 4", 96), "t.coll", {}, "wse3")
    assert asides_of(bundle.plan.phases[-1])
    machine = MACHINES["wse3"]
    aside = (one for one in candidate_plans(bundle.schedule, machine) if asides_of(one.phases[-1]))
    least = min(one.code_bytes + one.data_bytes for one in aside)
    small = replace(machine, memory_bytes=machine.kept_bytes + least - 1)
    plan = build_plan(bundle.schedule, small)
    assert plan.code_bytes + plan.data_bytes <= small.free_bytes
    assert not asides_of(plan.phases[-1])


def test_what_is_put_aside_is_taken_from_the_beginning() -> None:
    plan = compile_text(text("all_to_all", "4 x 4", 16), "t.coll", {}, "wse3").plan
    assert list(stream_shapes(plan)) == []
    columns, rows = plan.phases

    def later(op: Op) -> Op:
        takes = op.filter is not None and op.filter.in_memory
        return replace(op, after="forward" if takes else op.after)

    def of_lane(lane: Lane) -> Lane:
        if lane.name != "backward":
            return lane
        (once,) = lane.loops
        entries = (replace(e, ops=tuple(map(later, e.ops))) for e in once.entries)
        return replace(lane, loops=(replace(once, entries=tuple(entries)),))

    roles = tuple(replace(one, lanes=tuple(map(of_lane, one.lanes))) for one in rows.roles)
    changed = replace(plan, phases=(columns, replace(rows, roles=roles)))
    assert [one.code for one in stream_shapes(changed)] == ["C319"]


@pytest.mark.parametrize(
    ("scope", "how", "elements", "expected"),
    [
        ("into another buffer", {"into": " into y"}, 64, [True, True]),
        ("on a part", {"site": "part"}, 18, [False, True]),  # columns go by steps there
    ],
)
def test_an_all_to_all_streams_in_other_scopes(
    scope: str, how: dict[str, str], elements: int, expected: list[bool]
) -> None:
    grid = "5 x 4\ngrid part = wafer[1 .. 3, 1 .. 3]" if "site" in how else "4 x 4"
    bundle = compile_text(text("all_to_all", grid, elements, **how), "t.coll", {})
    (plan,) = bundle.plans
    assert streamed(plan) == expected, scope
    report = bundle.run(repeats=2)
    assert report.verified, report.problem


def test_an_all_to_all_streams_in_a_program() -> None:
    one = collective("all_to_all", "9")
    written = f"target wse2\ngrid wafer = 3 x 3\n{one}program {{ repeat 2 {{ total }} }}\n"
    bundle = compile_text(written, "t.coll", {})
    assert any(phase.in_blocks for plan in bundle.plans for phase in plan.phases)
    report = bundle.run(repeats=2)
    assert report.verified, report.problem


def test_plans_in_blocks_are_read_back() -> None:
    bundle = compile_text(text("all_to_all", "3 x 3", 9), "t.coll", {})
    shown = show_program(bundle.program)
    assert " in 3 blocks of 3" in shown
    assert same(read_program(shown), bundle.program)


def test_pes_that_wait_before_calls_run_the_text_that_is_built() -> None:
    written = text("all_to_all", "3 x 3", 9)
    bundle = compile_text(written, "t.coll", {}, skew=20)
    assert bundle.plan.phases[-1].in_blocks
    assert bundle.files == compile_text(written, "t.coll", {}).files
    assert bundle.run(repeats=2).verified


def test_a_file_may_be_called_as_its_buffer() -> None:
    bundle = compile_text(text("all_to_all", "3 x 3", 9), "x.coll", {})
    assert "x_library_pe.csl" in bundle.files
    assert bundle.run().verified


def test_slices_of_all_blocks_are_recognised_if_all_blocks_are_moved_alike() -> None:
    rows = rows_of()
    assert blocks_of(rows) == 3
    found = recognised(rows)
    assert found is not None
    assert found.word == "all_to_all"
    moves = rows.steps[0]

    def other(**columns: np.ndarray) -> StepsPhase:
        changed: Moves = replace(moves, **columns)
        return replace(rows, steps=(changed, *rows.steps[1:]))

    into = moves.into.copy()
    first, second = np.flatnonzero(moves.destination == 0)[[0, -1]]
    into[[first, second]] = into[[second, first]]  # two slices take each other's place
    assert recognised(other(into=into)) is None
    fewer = moves.chosen(np.arange(len(moves) - 1))
    assert recognised(replace(rows, steps=(fewer, *rows.steps[1:]))) is None


def test_slices_of_several_blocks_have_one_length() -> None:
    rows = rows_of()
    uneven = replace(rows, slicing=replace(rows.slicing, length=rows.slicing.length + 1))
    assert recognised(uneven) is None


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("elements", [24, 25, 7])  # alike, blocks that differ, empty slices
def test_a_reduce_scatter_streams_along_both_axes(elements: int, target: str) -> None:
    bundle = compile_text(text("reduce_scatter", "4 x 3", elements), "t.coll", {}, target)
    assert streamed(bundle.plan) == [True, True]
    report = bundle.run(repeats=3)
    assert report.verified, report.problem
    assert abs(report.cycles - bundle.prediction.cycles) <= 0.02 * report.cycles + 60


def test_columns_of_a_reduce_scatter_leave_more_than_a_block_where_rows_do_not_have_one() -> None:
    written = text("reduce_scatter", "4 x 3", 24).replace("chain_", "ring_")
    assert streamed(compile_text(written, "t.coll", {}).plan) == [False, False]


def test_a_slice_of_one_word_for_every_pe_takes_what_links_need_and_little_more() -> None:
    bundle = compile_text(text("all_to_all", "4 x 4", 16), "t.coll", {})
    assert bundle.run().cycles <= 200
