"""Changed streams that one check alone refuses: what it says, and where."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import cache

import pytest

from collc.checks import CHECKS, check_plan
from collc.checks.stream_run import Line, Place, Router, Work, run
from collc.plan import (
    Advance,
    ColorUse,
    Direction,
    Filter,
    Lane,
    Number,
    Phase,
    Plan,
    Region,
    Route,
    Slices,
    Stream,
    Strided,
    lane_of,
    stream_of,
)
from mutants import streams

TARGETS = dict(streams.RUNS)


@cache
def planned(name: str) -> Plan:
    return streams.plan_of(name, TARGETS[name])[1]


def with_lane(plan: Plan, role: str, lane: str, **changes: object) -> Plan:
    """The plan with another stream on a lane of a role of its first phase."""

    def changed(one: Lane) -> Lane:
        if one.name != lane:
            return one
        stream = stream_of(one)
        assert stream is not None
        return lane_of(one.name, replace(stream, **changes))

    first, *others = plan.phases
    assert role in {one.name for one in first.roles}
    roles = tuple(
        replace(one, lanes=tuple(map(changed, one.lanes))) if one.name == role else one
        for one in first.roles
    )
    return replace(plan, phases=(replace(first, roles=roles), *others))


def problems(plan: Plan) -> list[tuple[str, str]]:
    return [(problem.code, problem.message) for problem in check_plan(plan)]


ALONE = [
    (
        "stream_all_to_all",
        ("part_2", "backward", {"staged": False}),
        ("C323", "in `exchange` place 2 receives over slice 3, which it sends"),
    ),
    (
        "serial_reduce_scatter",
        ("part_2", "backward", {"after": ""}),
        (
            "C321",
            "in `exchange` place 2 combines from two sides as words come, in no fixed order",
        ),
    ),
    (
        "allgather",
        ("part_1", "backward", {"returns": True}),
        (
            "C319",
            "in `exchange` lane `backward` of place 2 takes its own words for returned, which its "
            "router does not hand back",
        ),
    ),
    (
        "gather_inside",
        ("part_0", "forward", {"advance": Advance.HAND_OVER}),
        ("C321", "in `exchange` the router of place 1 does not take its command off"),
    ),
]


@pytest.mark.parametrize(("name", "change", "problem"), ALONE)
def test_what_one_check_alone_refuses_is_refused(
    name: str, change: tuple[str, str, dict[str, object]], problem: tuple[str, str]
) -> None:
    role, lane, changes = change
    assert problems(planned(name)) == []
    assert problems(with_lane(planned(name), role, lane, **changes)) == [problem]


SAID = [
    (
        "allgather",
        "part_1 lane forward receives None",
        "C319",
        "lane `forward` of place 1 hands over a turn that its router does not have, or keeps one",
    ),
    (
        "gather_inside",
        "part_0 forward loop 0 entry 0 dropped",
        "C319",
        "lane `forward` of place 0 has operations of another kind",
    ),
    (
        "gather_inside",
        "part_0 forward loop 0 twice",
        "C319",
        "lane `forward` of place 0 has other operations than a stream",
    ),
    (
        "allgather",
        "region 0 plays 1",
        "C319",
        "lane `forward` of place 0 has slices that are not there",
    ),
    (
        "gather_inside",
        "part_0 lane forward advance Advance.CONTROL",
        "C319",
        "lane `forward` of place 0 moves switches as streams do not",
    ),
    (
        "gather_inside",
        "part_2 forward without input",
        "C319",
        "lane `forward` of place 2 sends or receives without a color",
    ),
    (
        "reduce_scatter",
        "part_1 lane forward staged True",
        "C319",
        "lane `forward` of place 1 stages what it combines from the last element to the first",
    ),
    (
        "slices",
        "columns_2: part_2 lane forward staged True",
        "C319",
        "lane `forward` of place 2 stages what it copies of a block, where the stage has "
        "the places of a vector",
    ),
    (
        "gather_inside",
        "part_0 lane forward returns True",
        "C319",
        "lane `forward` of place 0 takes its own words for returned, which its router "
        "does not hand back",
    ),
    (
        "gather_inside",
        "part_0 without exchange_forward",
        "C319",
        "lane `forward` of place 0 uses a color that its router does not have",
    ),
    (
        "allgather",
        "part_1 forward without loop 0",
        "C319",
        "lane `backward` of place 1 waits for another lane that does nothing of the kind",
    ),
    (
        "allgather",
        "part_0 lane forward after backward",
        "C319",
        "place 0 sends control wavelets behind some of what runs in turn, not all",
    ),
    ("gather", "region 2 plays 1", "C321", "nothing sets the router of place 1 back"),
    (
        "gather_inside",
        "part_0 lane forward advance Advance.OWN_ROUTER",
        "C321",
        "place 0 advances its switch beyond the last position",
    ),
    (
        "serial_reduce_scatter",
        "part_1 lane backward after ",
        "C321",
        "place 1 combines from two sides as words come, in no fixed order",
    ),
    (
        "allgather",
        "part_1 lane forward through True",
        "C321",
        "place 1 combines slices of other lengths",
    ),
    ("turns_all_to_all", "region 3 plays 2", "C321", "place 3 gets words that it does not receive"),
    (
        "reduce_scatter",
        "part_0 lane forward advance Advance.RESET",
        "C321",
        "place 0 moves switches of a chain, which has none",
    ),
    ("gather_inside", "region 0 plays 1", "C321", "place 2 receives slices of other lengths"),
    (
        "turns_all_to_all",
        "part_3 lane forward filter None",
        "C321",
        "place 3 stages two slices where there is room for one",
    ),
    ("gather", "region 1 plays 0", "C321", "place 0 waits for ever to receive"),
    ("gather", "region 0 plays 1", "C321", "place 0 waits for ever to send"),
    (
        "allgather",
        "part_1 with exchange_forward backwards",
        "C321",
        "the filter of place 1 cuts a slice",
    ),
    (
        "allgather",
        "part_1 forward sends on exchange_backward",
        "C321",
        "the router of place 1 does not take its command off",
    ),
    (
        "gather_inside",
        "part_0 exchange_forward in a ring: True",
        "C321",
        "the router of place 0 takes off the command for all",
    ),
    (
        "stream_scatter",
        "part_0 with exchange_forward then to the ramp",
        "C321",
        "words of the next call of place 0 may overtake those of others",
    ),
    (
        "gather_inside",
        "part_2 lane forward combines True",
        "C322",
        "place 2 ends with another slice 0 than the schedule says",
    ),
    (
        "stream_all_to_all",
        "part_2 lane forward staged False",
        "C323",
        "place 2 receives over slice 0, which it sends",
    ),
    (
        "gather_inside",
        "part_3 with exchange_backward then from the ramp",
        "C321",
        "words of the next call of place 3 may overtake those of others",
    ),
    (
        "stream_scatter",
        "part_2 with exchange_forward then the other way",
        "C321",
        "words of the next call of place 0 may overtake those of others",
    ),
    (
        "stream_all_to_all",
        "part_2 with exchange_forward_1 then from the ramp",
        "C321",
        "words of the next call of place 2 may overtake those of others",
    ),
    (
        "stream_all_to_all",
        "part_2 with exchange_forward_1 without position 1",
        "C319",
        "lane `forward` of place 2 takes its own words for returned, which its router "
        "does not hand back",
    ),
    (
        "gather",
        "part_1 lane backward through True",
        "C319",
        "lane `backward` of place 1 sends or receives without a color",
    ),
]


@cache
def changes(name: str) -> dict[str, Plan]:
    """Plans that differ from one in one thing, by what is said of that."""
    return {one.what: one.changed for one in streams.mutants(planned(name))}


@pytest.mark.parametrize(("name", "what", "code", "words"), SAID)
def test_each_fault_of_a_stream_is_told_as_what_it_is(
    name: str, what: str, code: str, words: str
) -> None:
    """Some are right in the first call, and words of the next one overtake others."""
    (problem,) = CHECKS["streams"](changes(name)[what])
    assert problem.code == code
    assert problem.message.partition("` ")[2] == words


def test_two_lanes_of_a_pe_that_receive_one_after_the_other_wait_for_ever_if_both_do() -> None:
    """Nothing goes through it, so that what comes is taken as a whole."""
    one = with_lane(planned("allgather"), "part_1", "backward", kept_first=True, after="forward")
    assert problems(one) == []
    both = with_lane(one, "part_1", "forward", kept_first=True, after="backward")
    assert problems(both) == [("C321", "in `exchange` place 0 waits for ever to send")]


def test_own_words_that_a_filter_keeps_back_have_not_returned() -> None:
    """Others come behind them, so that the router could hand them back."""
    plan = planned("allgather")
    (phase,) = plan.phases
    index = next(at for at, role in enumerate(phase.roles) if role.name == "part_1")
    (region,) = (region for region, role in phase.regions if role == index)
    assert list(region.x) == [1, 2]
    first, second = (Region(Strided(x, x), region.y) for x in region.x)
    apart = tuple(one for one in phase.regions if one[1] != index)
    regions = tuple(sorted((*apart, (first, index), (second, len(phase.roles)))))
    roles = (*phase.roles, replace(phase.roles[index], name="part_2_alone"))
    divided = replace(plan, phases=(replace(phase, roles=roles, regions=regions),))
    assert problems(divided) == []
    assert (
        "C319",
        "in `exchange` lane `backward` of place 1 waits for its own words, which it is kept from",
    ) in problems(with_lane(divided, "part_1", "backward", returns=True))


def test_a_pe_that_sets_switches_back_and_sends_nothing_moves_no_filter() -> None:
    two, none = Slices(count=Number(2)), Slices(count=Number(0))
    counting = Router(
        ColorUse("c", (Route(Direction.EAST, (Direction.RAMP,)),)), Filter(two, none, none)
    )
    sending = Router(ColorUse("c", (Route(Direction.RAMP, (Direction.WEST,)),)))
    stream = Stream(None, "c", none, None, advance=Advance.RESET)
    work = Work("lane", stream, deque(), deque(), deque())
    places = [Place({"c": counting}, [], [0, 1]), Place({"c": sending}, [work], [2, 3])]
    assert run(Line(places, [1, 1], Direction.EAST)) == ""
    assert counting.was_reset
    assert counting.passed == 0


@pytest.mark.parametrize("receives", [False, True])
@pytest.mark.parametrize("kept_first", [False, True])
@pytest.mark.parametrize("left", ["sends", "through", "receives", ""])
def test_what_begins_after_another_lane_waits_for_all_of_its_kind(
    left: str, kept_first: bool, receives: bool
) -> None:
    """Sending waits for what is sent, also through the PE; receiving, of what is kept first, for
    what is received."""
    stream = Stream("in", "out", Slices(), Slices(), kept_first=kept_first, after="other")
    work = Work("lane", stream, deque([1]), deque(), deque([1]))
    parts = {name: deque([0] * (name == left)) for name in ("sends", "through", "receives")}
    other = Work("other", replace(stream, after=""), **parts)
    waited_for = {"through", "receives"} if receives else {"sends", "through"}
    waits = kept_first is receives and left in waited_for
    place = Place({}, [work, other], [0, 1])
    assert place.may_begin(work, receives=receives) is not waits
    assert place.may_begin(other, receives=receives)


def test_the_order_of_the_sides_to_which_a_router_sends_does_not_matter() -> None:
    for name in streams.STREAMS:
        plan = planned(name)

        def turned(phase: Phase) -> Phase:
            roles = (
                replace(
                    role,
                    colors=tuple(
                        replace(
                            use,
                            positions=tuple(
                                replace(one, send=one.send[::-1]) for one in use.positions
                            ),
                        )
                        for use in role.colors
                    ),
                )
                for role in phase.roles
            )
            return replace(phase, roles=tuple(roles))

        changed = replace(plan, phases=tuple(map(turned, plan.phases)))
        assert problems(changed) == []


@pytest.mark.parametrize("at", range(4))
def test_a_fault_is_found_in_every_phase(at: int) -> None:
    plan = planned("slices")
    phase = plan.phases[at]
    role, *others = phase.roles
    changed = replace(phase, roles=(replace(role, lanes=role.lanes[::-1]), *others))
    phases = (*plan.phases[:at], changed, *plan.phases[at + 1 :])
    lanes = f"role `{role.name}` does not have the lanes of the phase"
    assert problems(plan) == []
    assert problems(replace(plan, phases=phases)) == [("C319", f"in `{phase.name}` {lanes}")]
    nowhere = replace(role, colors=())
    lacking = replace(phase, roles=(nowhere, *others))
    phases = (*plan.phases[:at], lacking, *plan.phases[at + 1 :])
    found = problems(replace(plan, phases=phases))
    assert any("uses a color that its router does not have" in words for _, words in found)
