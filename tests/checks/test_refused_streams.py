"""Changed streams: what is said of each, and where; and changes that do not matter."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from with_schedules import check_plan

from collc.plan import (
    Advance,
    Lane,
    Phase,
    Plan,
    Region,
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
        (
            "C323",
            "in `exchange` PE (2, 0) changes slice 3 while another lane has it, and nothing orders "
            "them",
        ),
    ),
    (
        "serial_reduce_scatter",
        ("part_2", "backward", {"after": ""}),
        (
            "C323",
            "in `exchange` PE (2, 0) changes slice 2 while another lane has it, and nothing orders "
            "them",
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
        (
            "C321",
            "in `exchange` the router of PE (1, 0) does not take off the command of PE (0, 0)",
        ),
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
    (
        "gather",
        "region 2 plays 1",
        "C321",
        "gets stuck: PE (0, 0) waits for ever: the router of PE (4, 0) is in position 1 of "
        "`exchange_backward`, for words from beyond the grid in its next call",
    ),
    (
        "gather_inside",
        "part_0 lane forward advance Advance.OWN_ROUTER",
        "C322",
        "PE (2, 0) takes slice 1, of 5 wavelets, and PE (0, 0) sends slice 0, of 4 in its next "
        "call",
    ),
    (
        "serial_reduce_scatter",
        "part_1 lane backward after ",
        "C323",
        "PE (1, 0) changes slice 1 while another lane has it, and nothing orders them",
    ),
    (
        "allgather",
        "part_1 lane forward through True",
        "C321",
        "gets stuck: PE (0, 0) waits for ever: the router of PE (1, 0) is in position 0 of "
        "`exchange_forward`, for words from the west, and those wait for words of PE (0, 0), "
        "which it does not let in",
    ),
    (
        "turns_all_to_all",
        "region 3 plays 2",
        "C322",
        "PE (3, 0) takes in call 0 words that PE (4, 0) sends in call 1",
    ),
    (
        "gather_inside",
        "region 0 plays 1",
        "C322",
        "PE (2, 0) takes slice 0, of 4 wavelets, and PE (0, 0) sends slice 1, of 5",
    ),
    (
        "turns_all_to_all",
        "part_3 lane forward filter None",
        "C322",
        "PE (3, 0) stages two slices where there is room for one",
    ),
    (
        "gather",
        "region 1 plays 0",
        "C322",
        "PE (3, 0) takes in call 0 words that PE (4, 0) sends in call 1",
    ),
    (
        "gather",
        "region 0 plays 1",
        "C320",
        "words of PE (0, 0) on `exchange_backward` leave the grid at PE (0, 0)",
    ),
    (
        "allgather",
        "part_1 with exchange_forward backwards",
        "C321",
        "the filter of PE (1, 0) cuts a slice",
    ),
    (
        "allgather",
        "part_1 forward sends on exchange_backward",
        "C321",
        "the router of PE (1, 0) does not take off the command of PE (1, 0)",
    ),
    (
        "gather_inside",
        "part_0 exchange_forward in a ring: True",
        "C321",
        "the router of PE (0, 0) takes off the command that PE (0, 0) sends to all",
    ),
    (
        "gather_inside",
        "part_2 lane forward combines True",
        "C322",
        "PE (2, 0) ends with other values in elements 0 to 3: contributions of PE (0, 0), PE (2, "
        "0), due are those of PE (0, 0)",
    ),
    (
        "stream_all_to_all",
        "part_2 lane forward staged False",
        "C323",
        "PE (2, 0) changes slice 1 while another lane has it, and nothing orders them",
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
    """Some are right in the first call, and words of the next one come to the wrong operation."""
    (problem,) = check_plan(changes(name)[what])
    assert problem.code == code
    assert problem.message.partition("` ")[2] == words


RIGHT = [
    ("reduce_scatter", "part_0 lane forward advance Advance.RESET"),
    ("stream_scatter", "part_0 with exchange_forward then to the ramp"),
    ("gather_inside", "part_3 with exchange_backward then from the ramp"),
    ("stream_scatter", "part_2 with exchange_forward then the other way"),
    ("stream_all_to_all", "part_2 with exchange_forward_1 then from the ramp"),
]


@pytest.mark.parametrize(("name", "what"), RIGHT)
def test_a_position_that_nothing_meets_and_a_command_that_moves_nothing_are_accepted(
    name: str, what: str
) -> None:
    """A router in a position that lets nothing of this call in holds back what the next one
    sends. fabsim gets these right, whoever begins late."""
    assert problems(changes(name)[what]) == []


def test_two_lanes_of_a_pe_that_receive_one_after_the_other_wait_for_ever_if_both_do() -> None:
    """Nothing goes through it, so that what comes is taken as a whole."""
    one = with_lane(planned("allgather"), "part_1", "backward", kept_first=True, after="forward")
    assert problems(one) == []
    both = with_lane(one, "part_1", "forward", kept_first=True, after="backward")
    ((code, words),) = problems(both)
    assert code == "C321" and "PE (0, 0) waits for ever: the router of PE (1, 0)" in words


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
    assert problems(with_lane(divided, "part_1", "backward", returns=True)) == [
        ("C321", "in `exchange` PE (1, 0) waits for its own words, which do not come back to it")
    ]


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
    found = problems(replace(plan, phases=phases))
    assert ("C319", f"in `{phase.name}` {lanes}") in found
    # lanes of steps turn with their queues, which are those of the whole collective
    assert all(code == "C305" for code, words in found if f"in `{phase.name}`" not in words)
    nowhere = replace(role, colors=())
    lacking = replace(phase, roles=(nowhere, *others))
    phases = (*plan.phases[:at], lacking, *plan.phases[at + 1 :])
    found = problems(replace(plan, phases=phases))
    steps = any(lane.name == "first" for lane in role.lanes)
    words = (
        "whose router has no route for them"
        if steps
        else "uses a color that its router does not have"
    )
    assert any(f"in `{phase.name}`" in said and words in said for _, said in found)
