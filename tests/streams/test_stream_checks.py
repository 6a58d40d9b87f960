"""What the checks of streams accept, what they refuse, and what is nearly refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import steps_patterns as s
from changing import streams
from stream_forms import plans, text_of
from with_schedules import check_plan

from collc.driver.pipeline import prove_text
from collc.lowering import candidate_plans
from collc.plan import (
    Advance,
    ColorUse,
    Direction,
    Filter,
    Lane,
    Number,
    Plan,
    Role,
    Slices,
    Stream,
    lane_of,
    stream_of,
    streams_of,
)
from collc.target import TARGETS


def planned(name: str = "gather", ranks: int = 5, length: int = 23) -> Plan:
    """The stream of a line; roles are the root, those between, the farthest."""
    schedule = s.Line(name, ranks, length).schedule()
    plans = candidate_plans(schedule, TARGETS["wse2"])
    return next(plan for plan in plans if streams(plan))


def codes(plan: Plan) -> set[str]:
    return {problem.code for problem in check_plan(plan)}


def with_role(plan: Plan, index: int, change: Callable[[Role], Role]) -> Plan:
    phase = plan.phases[0]
    roles = list(phase.roles)
    roles[index] = change(roles[index])
    return replace(plan, phases=(replace(phase, roles=tuple(roles)),))


def with_stream(plan: Plan, index: int, **changes: object) -> Plan:
    """The stream of the one lane of a role changed."""

    def change(role: Role) -> Role:
        (lane,) = role.lanes
        stream = stream_of(lane)
        assert stream is not None
        return replace(role, lanes=(lane_of(lane.name, replace(stream, **changes)),))

    return with_role(plan, index, change)


def with_color(plan: Plan, index: int, **changes: object) -> Plan:
    return with_role(
        plan, index, lambda role: replace(role, colors=(replace(role.colors[0], **changes),))
    )


def between(first: int, end: int, *, backward: bool = False) -> Slices:
    return Slices(Number(first), Number(end - first), backward)


def turned(plan: Plan, index: int) -> Plan:
    """The lane of a role goes over the vector the other way."""
    stream = stream_of(plan.phases[0].roles[index].lanes[0])
    assert stream is not None
    ways = {
        name: slices and replace(slices, backward=not slices.backward)
        for name, slices in (("sends", stream.sends), ("receives", stream.receives))
    }
    return with_stream(plan, index, **ways)


def filtered(plan: Plan, index: int, change: Callable[[Filter], Filter | None]) -> Plan:
    """The filter of a role changed."""
    stream = stream_of(plan.phases[0].roles[index].lanes[0])
    assert stream is not None
    assert stream.filter is not None
    return with_stream(plan, index, filter=change(stream.filter))


ROOT, INNER, FAR = 0, 1, 2


@pytest.mark.parametrize("name", ["gather", "scatter"])
@pytest.mark.parametrize(("ranks", "length"), [(2, 2), (2, 1), (3, 1), (8, 5), (9, 100)])
def test_every_stream_passes_also_with_empty_slices(name, ranks, length):
    plan = planned(name, ranks, length) if length >= ranks else None
    if plan is not None:
        assert check_plan(plan) == ()


def test_a_switch_that_is_never_advanced_lets_words_of_the_next_call_in():
    plan = planned()
    assert codes(with_stream(plan, INNER, advance=Advance.NOTHING)) == {"C322"}


def test_a_switch_that_is_not_set_back_is_refused():
    plan = planned()
    assert codes(with_stream(plan, FAR, advance=Advance.NOTHING)) == {"C321"}


def test_a_switch_set_back_by_every_pe_is_refused():
    plan = planned()
    assert codes(with_stream(plan, INNER, advance=Advance.RESET)) == {"C322"}


def test_a_receive_of_one_slice_less_is_refused():
    plan = planned()
    assert codes(with_stream(plan, ROOT, receives=between(1, 4))) == {"C322"}
    assert codes(with_stream(plan, ROOT, receives=between(0, 5))) == {"C322"}


@pytest.mark.parametrize("index", [ROOT, INNER, FAR])
def test_all_pes_of_a_lane_go_over_their_vectors_the_same_way(index):
    plan = planned()
    assert codes(turned(plan, index)) == {"C319"}


def test_slices_that_arrive_the_other_way_round_are_refused():
    plan = planned(length=25)
    for index in (ROOT, INNER, FAR):
        plan = turned(plan, index)
    assert codes(plan) == {"C322"}


def test_another_slice_is_refused():
    plan = planned(length=25)
    own = Slices(Number(0, 1))
    assert codes(with_stream(plan, INNER, sends=own)) == set()
    shifted = Slices(Number(-1, 1))
    assert codes(with_stream(plan, INNER, sends=shifted)) == {"C322"}


def test_slices_beyond_the_last_are_refused():
    plan = planned()
    assert codes(with_stream(plan, FAR, sends=between(4, 6))) == {"C319"}


def test_a_router_that_passes_on_to_its_own_pe_is_refused():
    plan = planned()
    phase = plan.phases[0]
    first, second = phase.roles[INNER].colors[0].positions
    both = replace(second, send=(Direction.WEST, Direction.RAMP))
    found = codes(with_color(plan, INNER, positions=(first, both)))
    assert found == {"C311"}  # both sides change at once


def test_a_filter_that_begins_a_slice_late_is_refused():
    plan = planned("scatter")
    late = filtered(plan, 1, lambda counter: replace(counter, before=between(0, 1)))
    assert codes(late) & {"C321", "C322"}


def test_a_filter_with_another_period_is_refused_even_if_the_first_call_is_right():
    plan = planned("scatter", 5, 25)
    longer = filtered(plan, 1, lambda counter: replace(counter, period=between(0, 5)))
    assert codes(longer) == {"C321"}


def test_no_filter_at_all_gives_a_pe_what_it_does_not_receive():
    plan = planned("scatter")
    assert codes(filtered(plan, 1, lambda _: None)) == {"C322"}


def test_an_own_slice_that_does_not_come_back_has_to_be_waited_for():
    """What is sent and received on one color counts as sent when it has been received. Of two
    operations of a lane at the same time, each has to have a microthread, too."""
    plan = planned()
    color = plan.phases[0].roles[INNER].colors[0].color
    back = {"receives": between(0, 1), "receives_on": color, "returns": True}
    both = with_stream(plan, INNER, **back)
    assert codes(both) == {"C319", "C324"}


def test_a_lane_has_a_stream_or_nothing():
    plan = planned()
    name = plan.phases[0].lanes[0]
    silent = with_role(plan, FAR, lambda role: replace(role, lanes=(Lane(name, ()),)))
    assert codes(silent) == {"C321"}

    def twice(role: Role) -> Role:
        return replace(role, lanes=(Lane(name, role.lanes[0].loops * 2),))

    assert codes(with_role(plan, INNER, twice)) == {"C319"}


def test_a_router_without_its_color_is_refused():
    plan = planned()
    found = codes(with_role(plan, INNER, lambda role: replace(role, colors=())))
    assert found == {"C319"}


def test_a_position_that_no_sender_can_take_is_refused():
    plan = planned()
    use: ColorUse = plan.phases[0].roles[INNER].colors[0]
    first, second = use.positions
    turned = replace(second, send=(Direction.EAST,), receive=first.receive)
    assert "C311" in codes(with_color(plan, INNER, positions=(first, turned)))


def test_a_stream_is_found_again_in_its_operations():
    for name in ("gather", "scatter", "all_to_all"):
        plan = planned(name, 5, 25)
        for role in plan.phases[0].roles:
            for lane in role.lanes:
                stream = stream_of(lane)
                assert stream is None or lane_of(lane.name, stream) == lane


def role_of(*lanes: tuple[str, Stream]) -> Role:
    return Role("part", "", tuple(lane_of(name, stream) for name, stream in lanes), ())


@pytest.mark.parametrize("after", ["backward", "forward", "nowhere"])
def test_what_a_lane_begins_after_has_to_be_there(after):
    """The first PE sends forward and receives backward."""
    _, schedule = prove_text(text_of("allgather"), "t", {"P": 5, "B": 50})
    chained = plans(schedule)[1]

    def change(role: Role) -> Role:
        first, second = role.lanes
        stream = stream_of(first)
        assert stream is not None
        return replace(role, lanes=(lane_of(first.name, replace(stream, after=after)), second))

    assert codes(chained) == set()
    assert codes(with_role(chained, 0, change)) == {"C319"}


def test_what_is_staged_from_both_sides_adjoins():
    """One operation takes it from the stage; at the ends of a line there is only one side."""
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 6, "B": 36})
    plan = plans(schedule)[0]
    assert codes(plan) == set()
    staged = [sum(s.staged for s in streams_of(r).values()) for r in plan.phases[0].roles]
    assert set(staged) == {1, 2}

    def other_way(role: Role) -> Role:
        first, second = role.lanes
        names = first.name, second.name
        both = zip(names, (second, first), strict=True)
        return replace(role, lanes=tuple(replace(lane, name=name) for name, lane in both))

    for index, lanes in enumerate(staged):
        problem = check_plan(with_role(plan, index, other_way))[0]
        assert ("do not adjoin" in problem.message) == (lanes == 2)
