"""Lanes that run in turn: what they have in common, and what is refused where they do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from libraries import lacking
from stream_forms import plans, text_of
from with_schedules import check_plan

from collc.driver.pipeline import prove_text
from collc.emit.library import libraries_of
from collc.emit.model import ClassModel, PhaseModel
from collc.plan import (
    Advance,
    Plan,
    Stream,
    lane_of,
    leaders_of,
    sides_of,
    stream_of,
)
from collc.plan.one_call import of_one_call

ACROSS = "across_forward_"


def planned(target: str, ranks: int = 14, groups: int = 5) -> Plan:
    """An all_to_all of a word a pair with so many groups."""
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": ranks, "B": ranks}, target)
    return next(one for one in plans(schedule, target) if len(one.colors) == 2 * groups)


def codes(plan: Plan) -> set[str]:
    return {problem.code for problem in check_plan(plan)}


def phase_of(plan: Plan) -> PhaseModel:
    """The phase in the library of the plan."""
    (library,) = libraries_of(of_one_call(plan), "t")
    (phase,) = library.phases
    return phase


def classes_of(plan: Plan) -> tuple[ClassModel, ...]:
    """What PEs do in it."""
    return phase_of(plan).classes


def with_streams(plan: Plan, change: Callable[[str, Stream], Stream]) -> Plan:
    """The streams of all roles changed."""
    phase = plan.phases[0]
    roles = [
        replace(
            role,
            lanes=tuple(
                lane_of(lane.name, change(lane.name, stream))
                if (stream := stream_of(lane))
                else lane
                for lane in role.lanes
            ),
        )
        for role in phase.roles
    ]
    return replace(plan, phases=(replace(phase, roles=tuple(roles)),))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_the_first_lane_of_a_row_has_the_registers_of_all(target):
    plan = planned(target)
    leaders = leaders_of(plan.phases[0])
    assert leaders[f"{ACROSS}2"] == leaders[f"{ACROSS}4"] == f"{ACROSS}1"
    assert f"{ACROSS}1" not in leaders
    assert codes(plan) == set()
    # two that receive and send, the first of each row; what empties the stage does so behind them
    at_once = 2 * 2 + 2
    assert not lacking(plan, dsr_ids=at_once, local_task_ids=20)
    assert lacking(plan, dsr_ids=at_once - 1) == ["C307"]


def test_on_wse2_a_row_has_one_output_queue_and_on_wse3_one_microthread():
    two, three = planned("wse2"), planned("wse3")
    assert len(two.output_queues) == 4
    assert len(three.output_queues) == 10
    assert len(set(three.output_queues)) == 6
    sending = [side for side in sides_of(three.phases[0]) if side.sends]
    beside = [
        number
        for side, number in zip(sending, three.output_queues, strict=True)
        if not side.follows
    ]
    assert not set(beside) & set(three.input_queues)
    assert set(three.output_queues) & set(three.input_queues)


@pytest.mark.parametrize(("lane", "refused"), [("forward", True), (f"{ACROSS}1", True)])
def test_what_runs_beside_a_receive_has_another_microthread(lane, refused):
    """The queues of lanes that run in turn with another may have the number of an input queue."""
    plan = planned("wse3")
    lanes = plan.phases[0].lanes
    queues = list(plan.output_queues)
    queues[lanes.index(lane)] = plan.input_queues[0]
    assert ("C324" in codes(replace(plan, output_queues=tuple(queues)))) is refused


def test_three_groups_are_sent_to_at_the_same_time():
    plan = planned("wse2", groups=3)
    assert not leaders_of(plan.phases[0])
    assert codes(plan) == set()
    assert max(ends for one in classes_of(plan) for ends in one.ends) == 4


def test_a_lane_that_two_others_come_after_is_no_row():
    """A microthread that three lanes had would be another operation's while one has it."""
    plan = planned("wse2")

    def both_after_the_first(name: str, stream: Stream) -> Stream:
        return replace(stream, after=f"{ACROSS}1") if name == f"{ACROSS}3" else stream

    changed = with_streams(plan, both_after_the_first)
    assert f"{ACROSS}2" not in leaders_of(changed.phases[0])
    assert {"C305", "C307"} & codes(changed)


def test_control_wavelets_behind_some_of_a_row_only_are_refused():
    plan = planned("wse2")

    def without_one(name: str, stream: Stream) -> Stream:
        ends = name == f"{ACROSS}2" and stream.advance is Advance.RESET
        return replace(stream, advance=Advance.NOTHING) if ends else stream

    assert "C319" in codes(with_streams(plan, without_one))


def test_a_lane_that_comes_after_itself_is_refused():
    plan = planned("wse2")

    def after_itself(name: str, stream: Stream) -> Stream:
        return replace(stream, after=name) if name == f"{ACROSS}2" else stream

    assert "C319" in codes(with_streams(plan, after_itself))


def test_a_register_less_is_refused():
    """A PE receives from both sides, sends to both, and across to one; two groups take turns."""
    plan = planned("wse2", groups=2)
    assert codes(plan) == set()
    assert lacking(plan, dsr_ids=5) == []
    assert lacking(plan, dsr_ids=4) == ["C307"]


def test_of_four_ends_those_of_what_is_received_come_last():
    """The first two are joined, then these with the third, then all with the last."""
    plan = planned("wse2")
    joins = {join.task: at for at, join in enumerate(phase_of(plan).sections[0].joins)}
    one = next(one for one in classes_of(plan) if 4 in one.ends)
    ends = {of.act.lane: (joins[of.end], of.unblocks) for of in one.acts if of.end in joins}
    assert {ends.pop("forward"), ends.pop("backward")} == {(1, True), (0, True)}
    assert set(ends.values()) == {(2, False), (2, True)}
    assert all(lane.startswith("across") for lane in ends)
