from dataclasses import replace

import pytest
from with_schedules import check_plan

import building as b
from collc.cost import predict
from collc.cost.choice import build_plan
from collc.emit.library import libraries_of
from collc.lowering import candidate_plans
from collc.plan.one_call import of_one_call
from collc.plan.plan import Plan
from collc.plan.show import body_of, show_plan
from collc.schedule import build_schedule
from collc.spec import ElementType, Operation
from collc.spec.arithmetic import arithmetic_of
from collc.target import WSE2, WSE3


def test_names_of_phases_and_colors_are_distinct():
    plan = build_plan(build_schedule(b.grid_allreduce(b.chain(4), b.chain(3))), WSE2)
    assert [phase.name for phase in plan.phases] == ["columns", "row", "broadcast"]
    numbers = [number for _, number in plan.colors]
    assert len(set(numbers)) == len(numbers) == 5


def test_more_colors_are_taken_only_where_they_are_faster():
    for tree, length, colors in (
        (b.chain(20), 16, 2),
        (b.random_tree(64, 8), 4, 2),  # four take as long: 124 cycles
        (b.two_phase(512, 256), 4096, 2),  # long vectors would share the links of the chains
    ):
        schedule = build_schedule(b.line_reduce(tree, length))
        plans = list(candidate_plans(schedule, WSE2))
        best = build_plan(schedule, WSE2)
        assert predict(best).cycles == min(predict(p).cycles for p in plans)
        assert len(best.colors) == colors


def test_the_limit_of_colors_is_kept():
    tree = build_schedule(b.line_reduce(b.two_phase(512, 256), length=4096, colors=2))
    assert len(build_plan(tree, WSE2).colors) == 2


def test_colors_with_positions_get_numbers_with_switches():
    few = replace(WSE3, switch_colors=frozenset({7, 8}), colors=(3, 7, 8, 9))
    plan = next(candidate_plans(build_schedule(b.line_allreduce(b.two_phase(14, 4))), few))
    assert dict(plan.colors) == {"reduce_even": 7, "reduce_odd": 8, "broadcast": 3}


def task_ids(plan: Plan) -> tuple[int, ...]:
    """The task ids that the library of a plan takes."""
    (library,) = libraries_of(of_one_call(plan), "test.coll")
    return library.task_ids


def test_task_ids_keep_clear_of_the_colors_in_use():
    high = replace(WSE2, colors=(8, 9, 10))
    plan = build_plan(build_schedule(b.line_allreduce(b.chain(4))), high)
    assert task_ids(plan) == (11, 12)


def test_a_single_pe_has_a_plan_without_phases():
    schedule = build_schedule(b.line_allreduce(b.chain(1)))
    plan = build_plan(schedule, WSE2)
    assert plan.phases == () and len(task_ids(plan)) == 1
    assert check_plan(plan) == ()
    assert "colors: none" in show_plan(plan)


def decided(plan: Plan) -> str:
    """A plan's text without the collective, in which a tree may be written out."""
    return "\n".join(body_of(plan))


def test_the_size_of_a_plan_follows_the_pattern():
    texts = [
        decided(build_plan(build_schedule(b.grid_allreduce(b.chain(n), b.star(n))), WSE2))
        for n in (12, 700)
    ]
    assert abs(len(texts[0]) - len(texts[1])) < 100


def test_building_twice_gives_the_same_text():
    schedule = build_schedule(b.grid_allreduce(b.binomial(21), b.two_phase(30, 6)))
    assert show_plan(build_plan(schedule, WSE2)) == show_plan(build_plan(schedule, WSE2))


@pytest.mark.parametrize(
    ("element", "operation", "kind"),
    [
        (ElementType.F32, Operation.ADD, "dsd"),
        (ElementType.F16, Operation.MUL, "dsd"),
        (ElementType.F32, Operation.MIN, "negated_dsd"),
        (ElementType.U16, Operation.ADD, "dsd"),
        (ElementType.U16, Operation.MAX, "map"),
        (ElementType.I32, Operation.ADD, "map"),
    ],
)
def test_arithmetic_is_done_by_vector_instructions_where_there_are_any(element, operation, kind):
    assert arithmetic_of(element, operation).kind == kind
