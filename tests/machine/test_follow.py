"""Calls followed through the machine: what is right passes, and what is not is told in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from changing import advancing_by
from machine.plans import plan_of, program_of
from with_schedules import schedule_of, schedules_of

from collc.base.diagnostics import Diagnostic
from collc.checks import one_line
from collc.checks.follow import called, follow
from collc.driver.pipeline import compile_text
from collc.plan import Advance, Plan
from collc.plan.plan import ZERO, ProgramPlan, Role
from collc.schedule import Schedule

DYNAMIC = """target wse2
grid row = 5 x 1
collective all = allreduce(x: f32[n <= 12], add) on row { run ring_allreduce }
program { all }
"""

# slices of two lengths in one plan, of which some take the places of others
TWO_SLICINGS = """target wse2
grid row = 4 x 1
contract moved(n) slices 6 { after each r where 0 < r < 3 : r has slice 0 of r - 1 as slice 3 }
algorithm first(n) slices 2 { step { each r where r < n - 1 : slice 0  r -> r + 1 as slice 1 } }
algorithm again(n) slices 3 { step { each r where r < n - 1 : slice 2  r -> r + 1 } }
collective c = moved(x: f32[24]) on row { run first then run again }
program { c }
"""


def with_roles(plan: Plan, change: object, phase: int = 0) -> Plan:
    """The plan with every role of a phase changed."""
    old = plan.phases[phase]
    new = replace(old, roles=tuple(map(change, old.roles)))  # type: ignore[call-overload]
    return replace(plan, phases=(*plan.phases[:phase], new, *plan.phases[phase + 1 :]))


def told(plan: Plan | ProgramPlan, schedules: tuple[Schedule, ...] | None = None) -> Diagnostic:
    return next(follow(plan, schedules or schedules_of(plan)))


@pytest.mark.parametrize(
    "plan",
    [
        plan_of("two_phase", "wse2", P=12, S=3, B=16),
        plan_of("ring_2d", "wse3"),
        plan_of("row_major", "wse2"),
        plan_of("halo_exchange", "wse2"),
        program_of("program_together", W=4, H=3, B=2),
        program_of("rotating_root", P=5, B=2),
        program_of("select", P=4, B=16),
        compile_text(DYNAMIC, "dynamic.coll", {}).program,
        compile_text(TWO_SLICINGS, "slices.coll", {}).program,
    ],
    ids=lambda plan: plan.phases[0].name if isinstance(plan, Plan) else plan.program.calls[0],
)
def test_plans_that_are_right_pass(plan: Plan | ProgramPlan) -> None:
    assert list(follow(plan, schedules_of(plan))) == []


def test_a_router_that_stays_in_a_position_for_others_is_where_a_tree_gets_stuck() -> None:
    plan = plan_of("two_phase", "wse2", P=12, S=3, B=16)

    def for_the_own_one(advance: Advance) -> Advance:
        return Advance.OWN_ROUTER if advance is Advance.RESET else advance

    problem = told(with_roles(plan, advancing_by(for_the_own_one)))
    assert (problem.code, problem.at) == ("C314", plan.phases[0].span)
    assert problem.message == (
        "`reduce` gets stuck: PE (0, 0) waits for ever: the router of PE (9, 0) is in position 0 "
        "of `reduce_even`, for words from its own PE, which sends nothing more there"
    )


def test_words_of_the_next_call_that_come_first_are_told() -> None:
    plan = plan_of("star", "wse2", P=5, B=8)
    problem = told(with_roles(plan, advancing_by(lambda _: Advance.NOTHING)))
    assert problem.code == "C315"
    assert problem.message == (
        "in `reduce` PE (0, 0) takes in call 0 words that PE (1, 0) sends in call 1"
    )


def test_another_order_of_the_same_vectors_is_told() -> None:
    plan, other = (plan_of(name, "wse2", P=5, B=8) for name in ("star", "chain"))
    problem = told(plan, (schedule_of(other.collective),))
    assert problem.code == "C315"
    assert problem.message == (
        "in `reduce` PE (0, 0) ends with other values in elements 0 to 7: the same contributions "
        "in another order, or from other elements"
    )


def test_whose_contributions_are_there_and_whose_are_due_is_told() -> None:
    text = "target wse2 grid row = 3 x 1 collective c = broadcast(x: f32[1]) on row "
    text += "{{ broadcast from {} }} program {{ c }}"
    plan, other = (compile_text(text.format(x), "b.coll", {}).program.plans[0] for x in (0, 2))
    problem = told(plan, (schedule_of(other.collective),))
    assert problem.code == "C317"
    assert "PE (0, 0) ends with other values in its element" in problem.message
    assert problem.message.endswith("contributions of PE (0, 0), due are those of PE (2, 0)")


def test_a_slice_of_an_exchange_that_is_another_one_is_told() -> None:
    plan = plan_of("ring_allreduce", "wse2", P=4, B=8)
    turned = schedule_of(plan_of("ring_allreduce", "wse3", P=4, B=8).collective)
    assert list(follow(plan, (turned,))) == []  # the target is no part of a schedule
    (phase,) = turned.phases
    fewer = replace(turned, phases=(replace(phase, steps=phase.steps[:-1]),))
    problem = told(plan, (fewer,))
    assert problem.code == "C322" and "ends with other values in elements" in problem.message


def test_what_a_collective_of_a_program_does_wrong_is_told_with_its_name() -> None:
    program = program_of("program_mixed", P=8)

    torn = next(
        k
        for k, plan in enumerate(program.plans)
        if any(op.advance is Advance.TEARDOWN for role in plan.phases[0].roles for op in role.ops)
    )
    plans = list(program.plans)
    plans[torn] = with_roles(plans[torn], advancing_by(lambda _: Advance.NOTHING))
    problem = told(replace(program, plans=tuple(plans)))
    name = plans[torn].collective.name
    assert problem.code in {"C314", "C331", "C317"} and f"`{name}." in problem.message


def test_every_alternative_is_called_and_all_calls_are_twice() -> None:
    rooted = program_of("rotating_root", P=5, B=2)
    assert set(called(rooted)) == set(range(len(rooted.plans)))
    mixed = program_of("program_mixed", P=8)
    assert called(mixed) == 2 * mixed.calls


GRIDS = {
    "trees": ("allreduce_2d", {"W": 5, "H": 4}, "wse2"),
    "a word": ("tree_barrier", {}, "wse3"),
    "blocks": ("ring_2d", {}, "wse2"),
    "work space": ("allreduce_slices", {}, "wse3"),
}


@pytest.mark.parametrize("name", GRIDS)
def test_grids_followed_phase_by_phase_on_one_line_pass_as_well(name, monkeypatch) -> None:
    example, parameters, target = GRIDS[name]
    plan = plan_of(example, target, **parameters)
    monkeypatch.setattr(one_line, "MOST_NUMBERS", 0)
    assert len(list(one_line.parts(plan, *schedules_of(plan)))) > 1
    assert list(follow(plan, schedules_of(plan))) == []


def test_what_is_wrong_on_a_line_is_told_with_the_places_of_the_grid(monkeypatch) -> None:
    text = """target wse2 grid g = 4 x 3
    collective c = reduce(x: f32[8], add) on g {
        reduce columns by chain to 2 then reduce row by star to 0
    } program { c }"""
    plan = compile_text(text, "grid.coll", {}).program.plans[0]
    phase = len(plan.phases) - 1
    wrong = with_roles(plan, advancing_by(lambda _: Advance.NOTHING), phase)
    together = [problem.message for problem in follow(wrong, schedules_of(wrong))]
    monkeypatch.setattr(one_line, "MOST_NUMBERS", 0)
    apart = [problem.message for problem in follow(wrong, schedules_of(wrong))]
    assert apart == together and "(1, 2)" in apart[0]


def test_of_a_large_multicast_the_edges_of_regions_are_followed(monkeypatch) -> None:
    plan = plan_of("broadcast", "wse2", P=64)
    wide = compile_text(
        "target wse2 grid g = 64 x 48 collective c = broadcast(x: f32[4]) on g "
        "{ broadcast from (20, 30) } program { c }",
        "wide.coll",
        {},
    ).program.plans[0]
    monkeypatch.setattr(one_line, "MOST_NUMBERS", 0)
    (part,) = one_line.parts(wide, *schedules_of(wide))
    grid = part.plan.collective.grid
    assert grid.width * grid.height < 100 and list(follow(wide, schedules_of(wide))) == []
    (role_is_lost,) = wide.phases
    regions = role_is_lost.regions[:-1]
    lost = replace(wide, phases=(replace(role_is_lost, regions=regions),))
    problem = told(lost)
    assert problem.code == "C317" and "PE (" in problem.message
    assert len(list(one_line.parts(plan, *schedules_of(plan)))) == 1


def test_a_circle_without_a_router_is_told_with_the_colors_of_an_operation_in_it() -> None:
    plan = plan_of("halving_doubling", "wse2", P=8, B=64)

    def never_ending(role: Role) -> Role:
        """Of one lane no entry ends a step, so that the others wait for it for ever."""
        first, *others = role.lanes
        loops = [
            replace(loop, entries=tuple(replace(entry, ends_step=ZERO) for entry in loop.entries))
            for loop in first.loops
        ]
        lanes = (replace(first, loops=tuple(loops)), *others)
        return replace(role, lanes=lanes) if role.name == "part_1" else role

    assert told(with_roles(plan, never_ending)).message == (
        "`exchange` gets stuck: PE (0, 0) waits for ever: what it waits for waits for itself, "
        "beginning with what PE (1, 0) sends on `exchange_forward_odd`"
    )
