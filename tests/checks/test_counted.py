"""What a phase takes of the machine: the numbers that its plan has are enough, and of no kind one
fewer is."""

from __future__ import annotations

from dataclasses import replace

import pytest

import building as b
from collc.checks import CHECKS
from collc.cost.choice import build_plan
from collc.driver.pipeline import prove_text
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


PLANS = [
    *(("stream", *run) for run in streams.RUNS),
    *(("exchange", *run) for run in exchanges.RUNS),
    *(("tree", name, target) for name, target, which in trees.RUNS if which == trees.FEWEST),
    *((form, form, target) for form in ("multicast", "word") for target in TARGETS),
]


@pytest.mark.parametrize(("form", "name", "target"), PLANS)
def test_one_number_fewer_of_any_kind_is_refused(form: str, name: str, target: str) -> None:
    plan = plan_of(form, name, target)
    for field, (check, code) in NUMBERS.items():
        numbers = getattr(plan, field)
        assert not list(CHECKS[check](plan))
        fewer = replace(plan, **{field: numbers[:-1]})
        assert {problem.code for problem in CHECKS[check](fewer)} == {code}, field


def test_an_output_queue_that_is_beyond_what_is_known_of_queues_is_no_business_of_its_words() -> (
    None
):
    plan = plan_of("word", "word", "wse2")
    queue = max(plan.output_queues)
    shorter = replace(plan.target, output_queue_words=WSE2.output_queue_words[:queue])
    assert not list(CHECKS["output_words"](replace(plan, target=shorter)))
