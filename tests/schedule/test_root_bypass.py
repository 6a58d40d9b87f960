"""A root bypass: a tree over all ranks but the root, whose sum goes on from the nearer end to the
root."""

from __future__ import annotations

from dataclasses import replace

import pytest
from with_schedules import check_plan

from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text, prove_text
from collc.lowering import candidate_plans
from collc.plan import ColorUse, Direction, Plan, Role, Route
from collc.schedule.show import show_schedule
from collc.target import TARGETS

TEXT = """
target wse2
param P = 7
param R = 2
param B = 17
grid row = P x 1
collective total = reduce(x: {element}[B], {operation}) on row {{
    order {order} reduce root_bypass({base}) to R
}}
program {{ total }}
"""


def text(base: str = "chain", order: str = "west_to_east", what: str = "f32 add") -> str:
    element, operation = what.split()
    return TEXT.format(base=base, order=order, element=element, operation=operation)


@pytest.mark.parametrize(
    ("pes", "root", "length", "base", "what", "order", "target"),
    [
        (3, 1, 1, "chain", "f32 add", "west_to_east", "wse2"),
        (7, 2, 64, "two_phase(S = 2)", "f16 min", "west_to_east", "wse3"),
        (8, 6, 3, "binomial", "i32 max", "east_to_west", "wse2"),
        (9, 4, 40, "optimal", "f32 add", "east_to_west", "wse3"),
        (6, 5, 17, "star", "f32 add", "west_to_east", "wse2"),
    ],
)
def test_any_tree_jumps_to_any_root(pes, root, length, base, what, order, target):
    given = {"P": pes, "R": root, "B": length}
    bundle = compile_text(text(base, order, what), "bypass.coll", given, target)
    report = bundle.run(repeats=2)
    assert report.verified, report.problem
    assert abs(bundle.prediction.cycles - report.cycles) <= 0.02 * report.cycles + 12


def test_the_end_streams_the_sum_to_the_root() -> None:
    """A chain over all others takes its cycles once, and the way back: nothing is stored."""
    bundle = compile_text(text(), "bypass.coll", {"P": 8, "R": 3, "B": 1000})
    chain = text().replace("root_bypass(chain) to R", "chain to 0")
    other = compile_text(chain, "chain.coll", {"P": 7, "B": 1000})
    assert bundle.prediction.cycles < other.prediction.cycles + 100


def test_the_sum_has_one_color_more_than_the_tree() -> None:
    _, schedule = prove_text(text("binomial"), "bypass.coll", {"P": 12, "R": 5})
    assert min(len(plan.colors) for plan in candidate_plans(schedule, TARGETS["wse2"])) == 3


def test_the_schedule_says_what_is_combined_with_what() -> None:
    _, schedule = prove_text(text(), "bypass.coll", {"P": 5, "R": 1})
    assert "rank 1 = (1 + (0 + (2 + (3 + 4))))" in show_schedule(schedule)


def test_rows_and_columns_jump() -> None:
    program = """
    target wse2
    grid pes = 5 x 4
    collective total = allreduce(x: f32[9], add) on pes {
        reduce columns by root_bypass(chain) to 2 then reduce row by root_bypass(binomial) to 1
        then broadcast from (1, 2)
    }
    program { total }
    """
    report = compile_text(program, "bypass.coll", {}).run()
    assert report.verified, report.problem


def mutated(plan: Plan, change) -> Plan:
    """The plan with the roles of its only phase changed."""
    (phase,) = plan.phases
    return replace(plan, phases=(replace(phase, roles=tuple(map(change, phase.roles))),))


def without_sum(role: Role) -> Role:
    """A role whose router does not let the sum pass."""
    passes = (Route(Direction.WEST, (Direction.EAST,)),)
    return replace(role, colors=tuple(use for use in role.colors if use.positions != passes))


def set_everywhere(role: Role) -> Role:
    """A role whose router is set for the sum wherever it stands."""
    color, way = "reduce_bypass", (Route(Direction.WEST, (Direction.EAST,)),)
    if any(use.color == color for use in role.colors):
        return role
    return replace(role, colors=(*role.colors, ColorUse(color, way)))


@pytest.mark.parametrize(("change", "codes"), [(without_sum, {"C314"}), (set_everywhere, set())])
def test_a_way_that_is_broken_is_refused_and_one_that_goes_on_is_not(change, codes) -> None:
    _, schedule = prove_text(text(), "bypass.coll", {"P": 9, "R": 4})
    plan = build_plan(schedule, TARGETS["wse2"])
    assert check_plan(plan) == ()
    assert {problem.code for problem in check_plan(mutated(plan, change))} == codes
