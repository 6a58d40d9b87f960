"""Bundles of every form of a stream, whichever would be chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from changing import streams
from with_schedules import check_plan, render

from collc.cost import predict
from collc.cost.predict import unprinted
from collc.driver.bundle import Bundle
from collc.driver.pipeline import prove_text
from collc.lowering import candidate_plans
from collc.lowering.lane_queues import with_shared_queues
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.schedule import Schedule
from collc.target import TARGETS

TEXT = """target wse2
param P = 8 where 2 <= P <= 750
param B = 64 where 1 <= B <= 8192
grid row = P x 1
collective total = CONTRACT on row { run STEPS }
program { total }
"""
CONTRACTS = {
    "gather": ("gather(x: ELEMENT[B])", "linear_gather"),
    "scatter": ("scatter(x: ELEMENT[B])", "linear_scatter"),
    "allgather": ("allgather(x: ELEMENT[B])", "direct_allgather"),
    "all_to_all": ("all_to_all(x: ELEMENT[B])", "linear_all_to_all"),
    "reduce_scatter": ("reduce_scatter(x: ELEMENT[B], add)", "chain_reduce_scatter"),
}


def text_of(name: str, element: str = "f32") -> str:
    contract, steps = CONTRACTS[name]
    text = TEXT.replace("CONTRACT", contract).replace("STEPS", steps)
    return text.replace("ELEMENT", element)


def plans(schedule: Schedule, target: str = "wse2") -> list[Plan]:
    """The plans of a schedule that stream."""
    found = candidate_plans(schedule, TARGETS[target])
    return [with_shared_queues(plan) for plan in found if streams(plan)]


def forms(text: str, parameters: Mapping[str, int], target: str = "wse2") -> Iterator[Bundle]:
    """A bundle for each of them that keeps all limits."""
    spec, schedule = prove_text(text, "forms.coll", parameters, target)
    for plan in plans(schedule, target):
        problems = check_plan(plan) or unprinted(of_one_call(plan))
        assert all(one.code in {"C304", "C305", "C306", "C307"} for one in problems), problems
        if not problems:
            prediction = predict(plan)
            program = of_one_call(plan)
            files = render(spec, program, prediction, (target,))
            yield Bundle(spec, program, (schedule,), prediction, files)
