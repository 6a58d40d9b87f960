"""What a phase takes of the machine: the numbers that its plan has are enough, and of no kind one
fewer is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stream_forms import CONTRACTS, plans, text_of
from with_schedules import check

import building as b
from collc.checks.counted import preceding_lanes
from collc.checks.queue_users import count_of
from collc.cost.choice import build_plan
from collc.driver.pipeline import prove_text
from collc.plan import Phase, Plan, Role, Slices, Stream, lane_of
from collc.schedule import build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.target import TARGETS, WSE2
from mutants import exchanges, streams, trees

NUMBERS = {
    "input_queues": ("queues", "C305"),
    "output_queues": ("queues", "C305"),
}
WORD = """target wse2 grid row = 8 x 1
collective total = barrier() on row { reduce star to 0 then broadcast from 0 }
program { total }"""


def plan_of(form: str, name: str, target: str) -> Plan:
    if form == "stream":
        return streams.plan_of(name, target)[1]
    if form == "exchange":
        return exchanges.plan_of(name, target)[1]
    if form == "tree":
        return trees.plan_of(name, target, trees.FEWEST)[1]
    if form == "multicast":
        return build_plan(build_schedule(b.broadcast(5, 4, 2, 1)), TARGETS[target])
    _, schedule = prove_text(WORD, "test.coll", {}, target)
    return build_plan(with_tokens(schedule), TARGETS[target])


def fewer_is_refused(plan: Plan) -> None:
    for field, (name, code) in NUMBERS.items():
        assert not list(check(name, plan)), field
        fewer = replace(plan, **{field: getattr(plan, field)[:-1]})
        assert {problem.code for problem in check(name, fewer)} == {code}, field


PLANS = [
    *(("stream", *run) for run in streams.RUNS),
    *(("exchange", *run) for run in exchanges.RUNS),
    *(("tree", name, target) for name, target, which in trees.RUNS if which == trees.FEWEST),
    *((form, form, target) for form in ("multicast", "word") for target in TARGETS),
]


@pytest.mark.parametrize(("form", "name", "target"), PLANS)
def test_one_number_fewer_of_any_kind_is_refused(form: str, name: str, target: str) -> None:
    fewer_is_refused(plan_of(form, name, target))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CONTRACTS)
def test_one_number_fewer_is_refused_in_every_form_of_a_stream(name: str, target: str) -> None:
    _, schedule = prove_text(text_of(name), "test.coll", {"P": 6, "B": 36}, target)
    for plan in plans(schedule, target):
        fewer_is_refused(plan)


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_that_run_in_turn_are_known_by_those_before_them(target: str) -> None:
    """Five groups of an all_to_all: four go across each way, one behind the other."""
    _, schedule = prove_text(text_of("all_to_all"), "test.coll", {"P": 14, "B": 14}, target)
    plan = next(one for one in plans(schedule, target) if len(one.colors) == 2 * 5)
    (phase,) = plan.phases
    assert preceding_lanes(phase) == {
        f"across_{way}_{number}": f"across_{way}_{number - 1}"
        for way in ("forward", "backward")
        for number in (2, 3, 4)
    }
    for bound, outputs in ((False, 4), (True, 10)):
        machine = replace(plan.target, binds_output_queues=bound)
        assert count_of(replace(plan, target=machine), "output") == {phase.name: outputs}
    fewer_is_refused(plan)


def test_a_lane_that_receives_or_begins_at_once_somewhere_runs_in_nobodys_turn() -> None:
    """Six of each, since the name that stands for several would be any of them."""
    (phase,) = plan_of("stream", "allgather", "wse2").phases
    first = Stream(None, "out", Slices(), None)
    sends, receives = replace(first, after="x"), Stream("in", None, None, Slices(), kept_first=True)

    def with_roles(*roles: dict[str, Stream]) -> Phase:
        made = (
            Role("part", "", tuple(lane_of(name, of) for name, of in one.items()), ())
            for one in roles
        )
        return replace(phase, roles=tuple(made))

    before = {f"a{i}": first for i in range(6)}
    behind = {f"b{i}": replace(sends, after=f"a{i}") for i in range(6)}
    assert preceding_lanes(with_roles(before | behind)) == {f"b{i}": f"a{i}" for i in range(6)}
    at_once = {name: first for name in behind}
    assert preceding_lanes(with_roles(before | behind, before | at_once)) == {}
    taking = {name: replace(receives, after=of.after) for name, of in behind.items()}
    assert preceding_lanes(with_roles(before | taking)) == {}
    both = {f"c{i}": replace(sends, after=f"a{i}") for i in range(6)}
    assert preceding_lanes(with_roles(before | behind | both)) == {}


def test_an_output_queue_that_is_beyond_what_is_known_of_queues_is_no_business_of_its_words() -> (
    None
):
    plan = plan_of("word", "word", "wse2")
    queue = max(plan.output_queues)
    shorter = replace(plan.target, output_queue_words=WSE2.output_queue_words[:queue])
    assert not list(check("output_words", replace(plan, target=shorter)))
