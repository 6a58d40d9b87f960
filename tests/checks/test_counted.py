"""What a phase takes of the machine: the numbers that its plan has are enough, and of no kind one
fewer is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stream_forms import CONTRACTS, plans, text_of

import building as b
from collc.checks import CHECKS
from collc.checks.budgets.dsr_ids import pairs, sources
from collc.checks.counted import output_queues_of, preceding_lanes
from collc.cost.choice import build_plan
from collc.driver.pipeline import prove_text
from collc.lowering.registers import pairs_of_phase, sources_of_phase
from collc.plan import Plan
from collc.schedule import build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.target import TARGETS, WSE2
from mutants import exchanges, streams, trees

NUMBERS = {
    "input_queues": ("queues", "C305"),
    "output_queues": ("queues", "C305"),
    "task_ids": ("task_ids", "C306"),
    "dsr_ids": ("dsr_ids", "C307"),
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
    for field, (check, code) in NUMBERS.items():
        assert not list(CHECKS[check](plan)), field
        fewer = replace(plan, **{field: getattr(plan, field)[:-1]})
        assert {problem.code for problem in CHECKS[check](fewer)} == {code}, field


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
    assert output_queues_of(phase, bound=False) == 4
    assert output_queues_of(phase) == 10
    fewer_is_refused(plan)


@pytest.mark.parametrize("target", TARGETS)
def test_registers_of_a_word_are_counted_as_the_planner_does(target: str) -> None:
    plan = plan_of("word", "word", target)
    for phase in plan.phases:
        assert pairs(phase, one_word=True) == pairs_of_phase(phase, one_word=True)
        assert sources(phase, one_word=True) == sources_of_phase(phase, one_word=True)
    assert pairs(plan.phases[0], one_word=True) > pairs(plan.phases[0])


def test_an_output_queue_that_is_beyond_what_is_known_of_queues_is_no_business_of_its_words() -> (
    None
):
    plan = plan_of("word", "word", "wse2")
    queue = max(plan.output_queues)
    shorter = replace(plan.target, output_queue_words=WSE2.output_queue_words[:queue])
    assert not list(CHECKS["output_words"](replace(plan, target=shorter)))
