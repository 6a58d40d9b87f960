"""Elements go in pairs only where the machine takes both, and there is an even number of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from changing import facing
from with_schedules import check as of_name

import building as b
from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text
from collc.plan import Plan
from collc.schedule import Schedule, build_schedule
from collc.spec import Collective, ElementType, Operation
from collc.target import WSE2, WSE3, Target


def of(collective: Collective, element: ElementType, operation: Operation | None) -> Collective:
    contract = replace(collective.contract, element=element)
    if operation is not None:
        contract = replace(contract, operation=operation)
    return replace(collective, contract=contract)


def planned(collective: Collective, target: Target = WSE2) -> tuple[Schedule, Plan]:
    schedule = build_schedule(collective)
    return schedule, build_plan(schedule, target)


def planned_steps(contract: str, algorithm: str) -> tuple[Schedule, Plan]:
    text = f"""target wse2 grid row = 4 x 1
    collective total = {contract} on row {{ run {algorithm} }} program {{ total }}"""
    bundle = compile_text(text, "test.coll", {})
    return bundle.schedule, bundle.plan


@pytest.mark.parametrize(
    ("element", "operation", "length", "target", "expected"),
    [
        (ElementType.F16, Operation.ADD, 16, WSE2, [True, True]),
        (ElementType.F16, Operation.ADD, 17, WSE2, [False, False]),
        (ElementType.F16, Operation.MIN, 16, WSE2, [False, True]),
        (ElementType.F16, Operation.MIN, 16, WSE3, [True, True]),
        (ElementType.U16, Operation.XOR, 2, WSE2, [True, True]),
        (ElementType.I16, Operation.MAX, 16, WSE3, [False, True]),
        (ElementType.F32, Operation.ADD, 16, WSE2, [False, False]),
    ],
)
def test_what_goes_in_pairs(element, operation, length, target, expected):
    collective = of(b.line_allreduce(b.chain(4), length), element, operation)
    _, plan = planned(collective, target)
    assert [phase.paired for phase in plan.phases] == expected


def test_pairs_that_cannot_be():
    schedule, plan = planned(of(b.line_reduce(b.chain(4)), ElementType.F16, Operation.MAX), WSE3)
    check = partial(of_name, "paired")
    assert not list(check(plan))
    (problem,) = check(replace(plan, target=WSE2))
    assert problem.code == "C337"
    odd = replace(schedule.collective, contract=replace(schedule.collective.contract, length=15))
    assert [p.code for p in check(replace(plan, collective=odd))] == ["C337"]


def test_four_at_once_never_go_backward():
    _, plan = planned_steps("scatter(x: i16[16])", "linear_scatter in simd")
    (phase,) = plan.phases
    assert phase.paired
    assert phase.wide
    assert not phase.backward
    check = partial(of_name, "paired")
    assert not list(check(plan))
    backward = facing(phase, backward=True)
    (problem,) = check(replace(plan, phases=(backward,)))
    assert problem.code == "C337"
    assert "from the last to the first" in problem.message
    assert not list(check(replace(plan, phases=(replace(backward, wide=False),))))
