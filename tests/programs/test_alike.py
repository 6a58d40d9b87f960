"""Collectives that set routers alike: they share colors, and nothing is done between them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from programs.bare import planned, run_planned
from programs.texts import program_of
from switch_over import extra
from with_schedules import check_program

from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.lowering.show_program import show_program
from collc.plan import Direction, Phase
from collc.plan.plan import ProgramPlan

SIZES = {"P": 9, "B": 5}


def two(pattern: str, limits: str, target: str = "wse2", rounds: int = 1) -> str:
    """A pattern on one buffer, then on another."""
    return program_of([pattern, pattern], limits, rounds, target, others=True)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("pattern", "colors"),
    [("ring", 3), ("chain", 2), ("two_phase", 2), ("binomial", 2), ("broadcast from the west", 1)],
)
def test_nothing_is_done_between_phases_that_set_routers_alike(
    pattern: str, colors: int, target: str
) -> None:
    text = two(pattern, f"within colors <= {colors}", target, rounds=2)
    spec, plan = planned(text, SIZES)
    assert len(plan.colors) <= colors
    assert not any(color.torn_down for color in plan.colors)
    assert reconfiguration_bytes(plan) == 0
    report = run_planned(spec, plan, skew=150, seed=colors)
    assert report.verified, report.problem


def test_length_type_and_operation_do_not_matter() -> None:
    """A barrier's vector is a token."""
    lines = [
        "target wse2",
        "grid row = 7 x 1",
        "collective sum = reduce(a: f32[20], add) on row { order west_to_east reduce chain to 0 }",
        "collective top = reduce(b: u16[1], max) on row { order west_to_east reduce chain to 0 }",
        "collective all = barrier() on row {",
        "    order west_to_east reduce chain to 0 then broadcast from 0",
        "}",
        "program { repeat 3 { sum top all sum all } within colors <= 3 }",
    ]
    spec, plan = planned("\n".join(lines) + "\n")
    assert len(plan.colors) == 3
    assert not any(color.torn_down for color in plan.colors)
    report = run_planned(spec, plan, skew=100)
    assert report.verified, report.problem


def test_other_ways_are_torn_down() -> None:
    patterns = ["broadcast from the west", "broadcast from the east"]
    _, plan = planned(program_of(patterns, "within colors <= 1"), SIZES)
    assert all(color.torn_down for color in plan.colors)
    assert "c0.broadcast and c1.broadcast set its routers differently at PE (0, 0)" in (
        show_program(plan)
    )


def test_a_teardown_can_be_forced() -> None:
    text = two("ring", "within colors <= 3 reconfigure teardown")
    _, plan = planned(text, SIZES)
    assert all(color.torn_down for color in plan.colors)
    assert "since the program says so" in show_program(plan)


def test_the_plan_says_why_nothing_is_done() -> None:
    _, plan = planned(two("two_phase", "within colors <= 2"), SIZES)
    why = "stays as it is, since its 2 uses set its routers alike, and its switches are set back"
    assert why in show_program(plan)


def test_colors_of_their_own_are_preferred() -> None:
    _, plan = planned(two("chain", ""), SIZES)
    assert len(plan.colors) == 4


@pytest.mark.parametrize(
    ("pattern", "colors"), [("ring", 3), ("chain", 2), ("broadcast from the west", 1)]
)
def test_a_route_that_one_phase_has_changed_is_refused(pattern: str, colors: int) -> None:
    _, plan = planned(two(pattern, f"within colors <= {colors}"), SIZES)
    assert not check_program(plan)
    found = check_program(_changed(plan))
    assert "C333" in {problem.code for problem in found}


def _changed(plan: ProgramPlan) -> ProgramPlan:
    """The plan with another way for the first PE's color in the second collective."""
    first, second = plan.plans
    phase = second.phases[0]
    changed = replace(second, phases=(_with_other_way(phase), *second.phases[1:]))
    return replace(plan, plans=(first, changed))


def _with_other_way(phase: Phase) -> Phase:
    role = phase.roles[0]
    use = role.colors[0]
    route = replace(use.positions[0], send=(Direction.NORTH,))
    changed = replace(use, positions=(route, *use.positions[1:]))
    return replace(
        phase, roles=(replace(role, colors=(changed, *role.colors[1:])), *phase.roles[1:])
    )


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_two_rings_of_a_short_vector_overlap(target: str) -> None:
    """They mostly wait for each other's PEs; a teardown between them would cost hundreds."""
    assert extra(("ring", "ring"), 8, 1, 3, target, auto=True) <= 5
