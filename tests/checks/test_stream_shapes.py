"""Streams that no text runs, or that a router cannot carry, are refused and not stumbled over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from with_schedules import check_plan

from collc.plan import Lane, Plan, Role, Slices, lane_of, stream_of
from collc.plan.plan import Number
from mutants import streams


def planned(name: str):
    _, plan = streams.plan_of(name, dict(streams.RUNS)[name])
    return plan


def with_role(plan: Plan, name: str, change: Callable[[Role], Role]) -> Plan:
    (phase,) = plan.phases
    roles = tuple(change(role) if role.name == name else role for role in phase.roles)
    assert roles != phase.roles
    return replace(plan, phases=(replace(phase, roles=roles),))


def with_lane(plan: Plan, role: str, lane: str, **changes: object) -> Plan:
    def changed(one: Lane) -> Lane:
        stream = stream_of(one)
        assert stream is not None
        return lane_of(one.name, replace(stream, **changes))

    def of_role(one: Role) -> Role:
        lanes = tuple(changed(each) if each.name == lane else each for each in one.lanes)
        return replace(one, lanes=lanes)

    return with_role(plan, role, of_role)


def messages(plan: Plan) -> set[tuple[str, str]]:
    return {(p.code, p.message.partition(" place ")[0]) for p in check_plan(plan)}


@pytest.mark.parametrize("name", streams.STREAMS)
def test_what_is_planned_is_accepted(name):
    plan = planned(name)
    assert check_plan(plan) == ()


def staging(plan: Plan, lane: str) -> set[str]:
    """The roles that stage what they receive on a lane."""
    (phase,) = plan.phases
    found = ((r.name, stream_of(one)) for r in phase.roles for one in r.lanes if one.name == lane)
    return {role for role, stream in found if stream and stream.staged}


def test_two_lanes_that_stage_what_is_for_one_slice_are_refused():
    """There is one stage; a PE between two others combines what comes from both sides."""
    plan = planned("reduce_scatter")
    assert staging(plan, "backward") and not staging(plan, "forward")
    inner = min(staging(plan, "backward") - {"part_0"})
    changed = with_lane(plan, inner, "forward", staged=True)
    assert {code for code, _ in messages(changed)} & {"C319", "C321"}


def test_what_is_staged_to_be_combined_has_to_come_from_the_first_element_on():
    plan = planned("reduce_scatter")
    last = plan.phases[0].roles[-1].name
    changed = with_lane(plan, last, "forward", staged=True)
    (problem,) = check_plan(changed)
    assert problem.code == "C319"
    assert "stages what it combines from the last element to the first" in problem.message


def test_what_both_lanes_stage_alike_may_be_staged_twice():
    """In an all_to_all the own slice comes back on both lanes, and is the same."""
    plan = planned("stream_all_to_all")
    assert staging(plan, "forward") & staging(plan, "backward")


@pytest.mark.parametrize("part", ["period", "before", "passes"])
def test_a_filter_counts_slices_that_are_there(part):
    plan = planned("stream_scatter")
    (role,) = {r.name for r in plan.phases[0].roles for op in r.ops if op.filter} - {"part_2"}
    stream = next(
        s for r in plan.phases[0].roles for s in map(stream_of, r.lanes) if s and s.filter
    )
    beyond = replace(stream.filter, **{part: Slices(Number(3), Number(9))})
    changed = with_lane(plan, role, "forward", filter=beyond)
    (problem,) = check_plan(changed)
    assert problem.code == "C319"
    assert "a filter of slices that are not there" in problem.message


def test_a_color_without_positions_is_refused():
    plan = planned("allgather")

    def closed(role: Role) -> Role:
        return replace(role, colors=tuple(replace(use, positions=()) for use in role.colors))

    assert check_plan(with_role(plan, "part_1", closed))


def test_what_comes_from_two_sides_is_combined_in_a_fixed_order():
    """Without a stage the order would be that in which words happen to come."""
    plan = planned("reduce_scatter")
    inner = min(staging(plan, "backward") - {"part_0"})
    changed = with_lane(plan, inner, "backward", staged=False)
    (problem,) = check_plan(changed)
    assert problem.code == "C323"
    assert "changes slice 1 while another lane has it, and nothing orders them" in problem.message
