"""Queues of colors that phases share: none that two colors of a PE have, and no input queue
with the number of an output queue that is in use meanwhile."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest
from programs.bare import planned, run_planned
from simulating import EXAMPLES
from with_schedules import check_program

import collc
from collc.driver.pipeline import compile_text
from collc.plan.plan import ProgramPlan
from collc.run import RunError
from collc.spec import Spec
from collc.target import TARGETS

TEXT = """target {target}
grid row = 8 x 1
grid west = row[0 .. 3, 0]
grid east = row[4 .. 7, 0]
collective ring = allreduce(a: f32[16], add) on row {{ order ring run ring_allreduce }}
collective twop = allreduce(b: f32[16], add) on row
    {{ reduce two_phase(S = 3) to 0 then broadcast from 0 }}
collective half = allreduce(c: f32[16], add) on row {{ run halving_doubling }}
collective late = allreduce(d: f32[16], add) on row {{ reduce chain to 3 then broadcast from 3 }}
collective wait = barrier() on row {{ run dissemination_barrier }}
collective one_side = allreduce(e: f32[16], add) on west {{ order ring run ring_allreduce }}
collective other_side = allreduce(f: f32[16], add) on east {{ run halving_doubling }}
program {{ {calls} }}
"""


def text(calls: str, target: str = "wse2") -> str:
    return TEXT.format(calls=calls, target=target)


def codes(plan: ProgramPlan) -> set[str]:
    return {problem.code for problem in check_program(plan)}


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    "calls",
    [
        "repeat 2 { ring twop wait }",
        "repeat 2 { ring half late }",
        "half ring reconfigure teardown",
        "repeat 2 { one_side other_side wait } reconfigure teardown within colors <= 6",
    ],
)
def test_four_colors_take_turns_with_exchanges(calls: str, target: str) -> None:
    """More than there are pairs of queues with numbers of their own."""
    spec, plan = planned(text(calls, target))
    report = run_planned(spec, plan, skew=60, seed=len(calls))
    assert report.verified, report.problem


def test_a_color_without_a_free_number_has_that_of_its_own_output_queue() -> None:
    _, plan = planned(text("ring half late within colors <= 4"))
    pairs = [(color.input_queue, color.output_queue) for color in plan.colors]
    assert pairs == [(6, 2), (7, 3), (4, 4), (5, 5)]


def test_colors_that_no_pe_has_both_of_share_queues_where_there_are_too_few() -> None:
    """The rest of what a kernel leaves is enough for what goes to the sides by turns."""
    spec, plan = planned(text("half wait within colors <= 4 reserve input_queues 2 .. 3"))
    pairs = {(color.input_queue, color.output_queue) for color in plan.colors}
    assert len(pairs) == 2
    report = run_planned(spec, plan, seed=4)
    assert report.verified, report.problem


def test_numbers_that_make_one_microthread_of_two_are_refused() -> None:
    _, plan = planned(text("ring half late"))
    turned = [plan.colors[-1].output_queue, *(color.output_queue for color in plan.colors[:-1])]
    crossed = tuple(
        replace(color, input_queue=number)
        for color, number in zip(plan.colors, turned, strict=True)
    )
    assert "C324" in codes(replace(plan, colors=crossed))


def test_a_queue_of_two_colors_of_a_pe_is_refused_and_of_two_parts_is_not() -> None:
    _, plan = planned(text("one_side other_side"))
    assert codes(plan) == set()
    ring, halving = (dict(use.positions) for use in plan.uses)

    def with_queues_of(user: int, owner: int) -> ProgramPlan:
        colors = list(plan.colors)
        owned = colors[owner]
        colors[user] = replace(
            colors[user], input_queue=owned.input_queue, output_queue=owned.output_queue
        )
        return replace(plan, colors=tuple(colors))

    assert "C305" not in codes(with_queues_of(halving["exchange_0"], ring["exchange_0"]))
    assert "C305" in codes(with_queues_of(halving["exchange_1"], halving["exchange_4"]))


def test_too_few_queues_are_refused_and_no_limit_is_named_that_does_not_help() -> None:
    calls = "ring half reserve input_queues 5 .. 7, output_queues 5"
    with pytest.raises(collc.CollcError) as caught:
        compile_text(text(calls), "test.coll", {})
    problems = caught.value.diagnostics
    assert {problem.code for problem in problems} == {"C305"}
    assert not any("within colors" in problem.help for problem in problems)


def test_enough_queues_with_the_wrong_numbers_are_not_called_too_few() -> None:
    """An exchange receives while it sends, and a queue's number is its microthread."""
    with pytest.raises(collc.CollcError) as caught:
        compile_text(
            text("ring half late wait within colors <= 4 reserve output_queues 5"), "test.coll", {}
        )
    inputs, outputs = (problem.message for problem in caught.value.diagnostics)
    beside = "beside memcpy and what is reserved"
    assert inputs.endswith(
        f", with numbers that no output queue beside them has, wse2 has 2 {beside}"
    )
    assert outputs == f"the program needs 4 output queues for its colors, wse2 has 3 {beside}"
    with pytest.raises(collc.CollcError) as caught:
        compile_text(
            text("ring half within colors <= 4 reserve input_queues 5 .. 7"), "test.coll", {}
        )
    inputs = caught.value.diagnostics[0].message
    assert inputs == f"the program needs 4 input queues for its colors, wse2 has 3 {beside}"


def test_a_limit_that_is_named_helps() -> None:
    """Colors and task ids have one table on this machine, and fewer colors leave more ids."""
    calls = "twop half reserve colors 0 .. 7, tasks 14 .. 20, tasks 24"
    with pytest.raises(collc.CollcError) as caught:
        compile_text(text(calls), "test.coll", {})
    (problem,) = caught.value.diagnostics
    assert problem.code == "C306"
    limit = re.search(r"within colors <= \d+", problem.help)
    assert limit
    report = compile_text(text(f"{calls} {limit[0]}"), "test.coll", {}).run()
    assert report.verified, report.problem


RESERVING = """target wse3
grid pes = 9 x 9
collective best = allreduce(pair: (f32, u32)[1], argmax) on pes {
    reduce columns by optimal to 4
    then reduce row by optimal to 4
    then broadcast from (4, 4)
}
program {
    best
    reserve colors 0 .. 3
}
"""


def test_a_program_serves_no_target_that_lacks_its_queues() -> None:
    found = compile_text(RESERVING, "reserving.coll", {})
    _, plan = planned(RESERVING)
    assert max(color.output_queue for color in plan.colors) >= 6  # wse2 has 0 to 5
    commands = [name for name in found.files if name.startswith("commands")]
    assert commands == ["commands_wse3.sh"]


SLICES = (EXAMPLES / "allreduce_slices.coll").read_text()


@cache
def twice(target: str, length: int) -> tuple[Spec, ProgramPlan]:
    """The example, called twice, on 6 x 5 PEs, planned."""
    text = SLICES.replace("target wse2", f"target {target}")
    text = text.replace("program { total }", "program { total total }")
    return planned(text, {"W": 6, "H": 5, "B": length})


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_colors_share_queues_before_phases_share_colors_over_time(target: str) -> None:
    """More colors than there are queues, and no router is set anew: a call takes in a program what
    it takes by itself."""
    alone = compile_text(SLICES, "test.coll", {"W": 6, "H": 5, "B": 512}, target)
    spec, plan = twice(target, 512)
    assert not any(color.torn_down for color in plan.colors)
    assert len(plan.colors) > len(plan.target.input_queues)
    report = run_planned(spec, plan)
    assert report.verified, report.problem
    assert report.cycles <= 2 * alone.prediction.cycles + 12


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_queues_that_colors_share_serve_late_pes(target: str) -> None:
    spec, plan = twice(target, 30)
    for seed in (1, 2):
        report = run_planned(spec, plan, skew=150, seed=seed)
        assert report.verified, report.problem


def with_queue_of(
    plan: ProgramPlan, field: str, user: tuple[int, int], owner: tuple[int, int]
) -> ProgramPlan:
    """One color with a queue of another's, both by their phase and their number in it."""
    one, other = (plan.uses[use].positions[at][1] for use, at in (user, owner))
    colors = list(plan.colors)
    given = {field: getattr(colors[other], field)}
    assert given[field] != getattr(colors[one], field)
    colors[one] = replace(colors[one], **given)
    return replace(plan, colors=tuple(colors))


COLUMNS, ROWS_FORWARD, ROWS_ONWARD = (1, 0), (0, 2), (3, 1)


def test_an_output_queue_takes_one_phase_after_the_other_unless_it_is_bound_to_a_color() -> None:
    """Every PE of a row and a column sends on both colors."""
    for target, binds in ((name, of.binds_output_queues) for name, of in TARGETS.items()):
        spec, plan = twice(target, 30)
        shared = with_queue_of(plan, "output_queue", COLUMNS, ROWS_FORWARD)
        assert codes(shared) == ({"C305"} if binds else set())
        if binds:
            with pytest.raises(RunError, match="output queue 3 is initialised twice"):
                run_planned(spec, shared)
        else:
            report = run_planned(spec, shared, skew=60)
            assert report.verified, report.problem


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_a_queue_that_a_pe_needs_for_two_colors_is_refused(target: str) -> None:
    """An input queue in two phases, an output queue of two lanes of one phase."""
    spec, plan = twice(target, 30)
    received = with_queue_of(plan, "input_queue", COLUMNS, ROWS_FORWARD)
    assert "C305" in codes(received)
    with pytest.raises(RunError, match=r"input queue \d is initialised twice"):
        run_planned(spec, received)
    sent = with_queue_of(plan, "output_queue", ROWS_ONWARD, (3, 0))
    assert "C305" in codes(sent)


def test_an_output_queue_of_a_multicast_is_no_other_phase_s() -> None:
    """Only operations of phases that cut their vectors name the queue each time."""
    _, plan = planned(text("half late"))
    assert codes(plan) == set()
    assert codes(with_queue_of(plan, "output_queue", (1, 0), (0, 0))) == {"C305"}
