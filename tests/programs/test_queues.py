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
from collc.checks.queue_users import Kind, with_queue
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
    assert [color.queues for color in plan.colors] == [(6, 2), (7, 3), (4, 4), (5, 5)]


def test_lanes_of_collectives_share_queues_where_there_are_too_few() -> None:
    """What a kernel leaves is enough for both sides of one exchange, and so for those of two."""
    spec, plan = planned(text("half wait within colors <= 4 reserve input_queues 2 .. 3"))
    inputs, outputs = plan.queues
    assert len({*inputs}) == len({*outputs}) == 2
    assert not {2, 3} & {*inputs, *outputs}
    assert not plan.in_turn
    report = run_planned(spec, plan, seed=4)
    assert report.verified, report.problem


def test_numbers_that_make_one_microthread_of_two_are_refused() -> None:
    """Of colors that phases have in turn, and of lanes."""
    _, plan = planned(text("ring half late within colors <= 4"))
    queues = [color.queues for color in plan.colors if color.queues]
    turned = [queues[-1][1], *(output for _, output in queues[:-1])]
    crossed = tuple(
        replace(color, queues=(number, output))
        for color, number, (_, output) in zip(plan.colors, turned, queues, strict=True)
    )
    assert "C324" in codes(replace(plan, colors=crossed))
    _, plan = planned(text("ring half late"))
    assert not plan.in_turn
    ring, half, late = plan.plans
    beside = replace(half, input_queues=half.output_queues[::-1])
    assert "C324" in codes(replace(plan, plans=(ring, beside, late)))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_a_lane_that_receives_before_it_sends_may_have_one_number_for_both(target: str) -> None:
    spec, plan = planned(text("repeat 2 { half }", target))
    (half,) = plan.plans
    one_number = replace(plan, plans=(replace(half, input_queues=half.output_queues),))
    assert codes(one_number) == set()
    for seed in (1, 2):
        report = run_planned(spec, one_number, skew=60, seed=seed)
        assert report.verified, report.problem


def test_a_queue_of_two_lanes_of_a_pe_is_refused_and_of_two_parts_is_not() -> None:
    spec, plan = planned(text("one_side other_side"))
    assert codes(plan) == set()
    ring, half = plan.plans
    into, out = *ring.input_queues, *ring.output_queues

    def with_queues(inputs: tuple[int, ...], outputs: tuple[int, ...]) -> ProgramPlan:
        changed = replace(half, input_queues=inputs, output_queues=outputs)
        return replace(plan, plans=(ring, changed))

    apart = [queue for queue in plan.target.input_queues if queue not in {into, out}]
    as_ring = with_queues((into, apart[0]), (out, apart[1]))
    assert codes(as_ring) == set()
    report = run_planned(spec, as_ring, skew=40)
    assert report.verified, report.problem
    assert "C305" in codes(with_queues((apart[0], apart[0]), half.output_queues))
    assert "C305" in codes(with_queues(half.input_queues, (half.output_queues[0],) * 2))


def test_too_few_queues_are_refused_and_no_limit_is_named_that_does_not_help() -> None:
    calls = "ring half reserve input_queues 5 .. 7, output_queues 5"
    with pytest.raises(collc.CollcError) as caught:
        compile_text(text(calls), "test.coll", {})
    problems = caught.value.diagnostics
    assert {problem.code for problem in problems} == {"C305"}
    assert not any("within colors" in problem.help for problem in problems)


def test_enough_queues_with_the_wrong_numbers_are_not_called_too_few() -> None:
    """An exchange receives while it sends, and a queue's number is its microthread."""
    _, plan = planned(text("half wait reserve input_queues 6 .. 7"))
    half, wait = plan.plans
    assert {*half.input_queues, *half.output_queues} == {2, 3, 4, 5}
    wrong = tuple(
        replace(one, input_queues=queues, output_queues=(2, 3))
        for one, queues in ((half, (4, 98)), (wait, (5, 99)))
    )
    messages = {problem.message for problem in check_program(replace(plan, plans=wrong))}
    needs, has = "the program needs 4 input queues for its colors", "wse2 has 2"
    which = "with numbers that no output queue beside them has"
    assert f"{needs}, {which}, {has} beside memcpy and what is reserved" in messages


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
    assert max(plan.queues[1]) >= 6  # wse2 has 0 to 5
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
    assert report.cycles <= 2 * (alone.prediction.cycles + 25)  # a turn begins in a task of its own


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_queues_that_colors_share_serve_late_pes(target: str) -> None:
    spec, plan = twice(target, 30)
    for seed in (1, 2):
        report = run_planned(spec, plan, skew=150, seed=seed)
        assert report.verified, report.problem


Lane = tuple[str, str]  # a phase, and a lane of it


def with_queue_of(plan: ProgramPlan, kind: Kind, user: Lane, owner: Lane) -> ProgramPlan:
    """A lane of the one collective with a queue of another lane."""
    (one,) = plan.plans
    bound = plan.target.binds_output_queues
    lanes = [(of.name, lane) for of in one.phases for lane in with_queue(of, kind, bound=bound)]
    numbers = list(one.input_queues if kind == "input" else one.output_queues)
    given = numbers[lanes.index(owner)]
    assert numbers[lanes.index(user)] != given
    numbers[lanes.index(user)] = given
    return replace(plan, plans=(replace(one, **{f"{kind}_queues": tuple(numbers)}),))


def lane_of(plan: ProgramPlan, phase: str, which: int, kind: Kind = "output") -> Lane:
    """A lane of a phase that has a queue of a kind, as they are called on each target."""
    (one,) = (of for of in plan.plans[0].phases if of.name == phase)
    return phase, with_queue(one, kind, bound=plan.target.binds_output_queues)[which]


def test_an_output_queue_takes_one_phase_after_the_other_unless_it_is_bound_to_a_color() -> None:
    """Every PE of a row and a column sends on both lanes."""
    for target, binds in ((name, of.binds_output_queues) for name, of in TARGETS.items()):
        spec, plan = twice(target, 30)
        column, row = lane_of(plan, "columns", 0), lane_of(plan, "rows", 0 if binds else 1)
        shared = with_queue_of(plan, "output", column, row)
        assert codes(shared) == ({"C305"} if binds else set())
        if binds:
            with pytest.raises(RunError, match=r"output queue \d is initialised twice"):
                run_planned(spec, shared)
        else:
            report = run_planned(spec, shared, skew=60)
            assert report.verified, report.problem


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_a_queue_that_a_pe_needs_for_two_colors_is_refused(target: str) -> None:
    """An input queue in two phases, an output queue of two lanes of one phase."""
    spec, plan = twice(target, 30)
    column, row = lane_of(plan, "columns", 0, "input"), lane_of(plan, "rows", 0, "input")
    received = with_queue_of(plan, "input", column, row)
    assert "C305" in codes(received)
    with pytest.raises(RunError, match=r"input queue \d is initialised twice"):
        run_planned(spec, received)
    first, second = lane_of(plan, "rows_2", 0), lane_of(plan, "rows_2", 1)
    assert "C305" in codes(with_queue_of(plan, "output", first, second))


def test_an_output_queue_of_a_multicast_is_another_phase_s_too_unless_it_is_bound_to_a_color() -> (
    None
):
    """An operation names its color when it is issued, of whatever phase."""
    for target, binds in ((name, of.binds_output_queues) for name, of in TARGETS.items()):
        spec, plan = planned(text("repeat 2 { half late }", target))
        assert codes(plan) == set()
        half, late = plan.plans
        assert late.phases[-1].whole
        *trees, _ = late.output_queues
        sent = replace(late, output_queues=(*trees, half.output_queues[0]))
        shared = replace(plan, plans=(half, sent))
        if binds:
            assert codes(shared) == {"C305"}
            continue
        assert shared == plan  # it is dealt so
        for seed in (1, 2, 3):
            report = run_planned(spec, shared, skew=150, seed=seed)
            assert report.verified, report.problem
