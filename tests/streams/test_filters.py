"""A PE has as many filters as its target: plans and programs keep that, and checks count it."""

from __future__ import annotations

from dataclasses import replace

from changing import streams
from stream_forms import plans, text_of
from with_schedules import check_plan, check_program

from collc.cost.choice import build_plan, build_program_plan
from collc.driver.pipeline import compile_text, prove_text
from collc.lowering.resources import within_budget
from collc.target import TARGETS

WSE2 = TARGETS["wse2"]
PROGRAM = """target {target}
grid row = 6 x 1
{collectives}
program {{ {names} }}
"""
ONE = "collective {name} = scatter({name}_x: f32[{length}]) on row {{ run linear_scatter }}"


def program(count: int, target: str = "wse2"):
    names = [f"c{number}" for number in range(count)]
    collectives = (ONE.format(name=name, length=6 * (i + 1)) for i, name in enumerate(names))
    text = PROGRAM.format(target=target, collectives="\n".join(collectives), names=" ".join(names))
    return compile_text(text, "t", {})


def codes(plan, filters: int) -> set[str]:
    changed = replace(plan, target=replace(plan.target, filters=filters))
    return {problem.code for problem in check_plan(changed)}


def test_filters_of_a_plan_are_counted():
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 6, "B": 36})
    for plan in plans(schedule):
        assert codes(plan, 1) == {"C340"}
        assert codes(plan, 2) == set()  # two a PE, on as many colors as there are


def test_a_plan_without_filters_needs_none():
    _, schedule = prove_text(text_of("gather"), "t", {"P": 6, "B": 36})
    (plan,) = plans(schedule)
    assert codes(plan, 0) == set()


def test_a_machine_with_too_few_goes_by_steps():
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 6, "B": 36})
    assert streams(build_plan(schedule, WSE2))
    assert not within_budget(replace(plans(schedule)[0], target=replace(WSE2, filters=1)))
    assert not streams(build_plan(schedule, replace(WSE2, filters=1)))


def test_collectives_of_a_program_have_their_filters_at_the_same_time():
    two = program(2)
    assert all(streams(plan) for plan in two.plans)
    assert two.run(seed=1, repeats=2).verified
    fewer = replace(WSE2, filters=1)
    changed = build_program_plan(two.schedules, two.program.program, fewer)
    assert [streams(plan) for plan in changed.plans] == [True, False]
    assert not list(check_program(changed))


def test_a_program_for_wse3_has_two_filters_at_a_pe_and_goes_by_steps_where_it_would_have_a_third():
    three = program(3, "wse3")
    assert [streams(plan) for plan in three.plans] == [True, True, False]
    assert three.run(seed=1, repeats=2).verified


def test_filters_of_a_program_are_counted():
    plan = program(2).program
    for filters, found in ((1, {"C340"}), (2, set())):
        changed = replace(plan, target=replace(plan.target, filters=filters))
        assert {problem.code for problem in check_program(changed)} == found
