"""One-word collectives: which plans are of one, and an output queue holds what is put
into it at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from with_schedules import check_plan

from collc.checks.budgets.output_words import words_at_once
from collc.cost.choice import build_plan
from collc.language import parse_source
from collc.plan import VECTOR, Action, Direction, Lane, Op, Plan, Role, once
from collc.plan.one_word import is_one_word
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.target import TARGETS

STAR = "reduce star to {0} then broadcast from {0}"
INSIDE = STAR.format(4)
AT_END = STAR.format(0)


def planned(contract: str, steps: str, target: str = "wse2") -> tuple[Schedule, Plan]:
    text = f"target {target} grid row = 8 x 1 collective total = {contract} on row {{ {steps} }}"
    spec = parse_source(f"{text} program {{ total }}", {}, None, file="test.coll")
    schedule = with_tokens(build_schedule(spec.collectives[0]))
    return schedule, build_plan(schedule, TARGETS[target])


def codes(plan: Plan) -> set[str]:
    return {problem.code for problem in check_plan(plan)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("contract", ["barrier()", "allreduce(x: f32[1], add)"])
@pytest.mark.parametrize("steps", [AT_END, INSIDE])
def test_a_word_along_trees_and_back_makes_a_one_word_plan(
    contract: str, steps: str, target: str
) -> None:
    _, plan = planned(contract, steps, target)
    assert is_one_word(plan)
    assert not codes(plan)


@pytest.mark.parametrize(
    ("contract", "steps"),
    [
        ("allreduce(x: f32[2], add)", AT_END),  # two words
        ("allreduce(x: u32[1], add)", AT_END),  # call-backs combine them
        ("allreduce(x: f32[1], min)", AT_END),  # their sign is changed before and behind
        ("reduce(x: f32[1], add)", "reduce star to 0"),  # nobody is told
        ("allreduce(x: f32[1], add)", "run recursive_doubling"),
    ],
)
def test_anything_else_is_not(contract: str, steps: str) -> None:
    _, plan = planned(contract, steps)
    assert not is_one_word(plan)


def test_the_sum_is_sent_where_it_is_combined_if_sending_takes_longer_from_memory() -> None:
    for target, sends in (("wse2", VECTOR), ("wse3", "reduce_2_even")):
        _, plan = planned("barrier()", INSIDE, target)
        root = root_of(plan, 1)
        assert root.ops[-1].receive == sends
        assert root.ops[-1].send == "broadcast"
        assert Direction.RAMP in root_of(plan, 2).colors[0].positions[0].send


def with_root(plan: Plan, phase: int, last: Op) -> Plan:
    """The plan with another last operation of the root in one of its phases."""
    role = root_of(plan, phase)
    loops = tuple(once(op) for op in (*(op for op in role.ops if op.stores), last))
    return with_role(plan, phase, replace(role, lanes=(Lane("vectors", loops),)))


def with_role(plan: Plan, phase: int, role: Role) -> Plan:
    roles = tuple(role if one.name == role.name else one for one in plan.phases[phase].roles)
    changed = replace(plan.phases[phase], roles=roles)
    phases = tuple(changed if i == phase else one for i, one in enumerate(plan.phases))
    return replace(plan, phases=phases)


def root_of(plan: Plan, phase: int) -> Role:
    return next(role for role in plan.phases[phase].roles if role.name == "root")


TO_ALL = Op("reduce_2_even", Action.COMBINE, "broadcast")
OWN = Op(VECTOR, Action.COPY, "broadcast")


def test_a_sum_that_is_sent_too_early_is_found() -> None:
    """The root has two words to take behind its first side, on WSE-3 from rank 3 and on its way."""
    _, plan = planned("barrier()", INSIDE, "wse3")
    assert not codes(with_root(plan, 1, TO_ALL))
    assert "C314" in codes(with_root(plan, 1, OWN))  # rank 3's word is never taken
    # and the root would have two output queues for the color to all
    assert codes(with_root(plan, 0, replace(TO_ALL, receive="reduce_even"))) == {"C305"}


def test_a_sum_that_nobody_sends_or_another_pe_is_found() -> None:
    _, plan = planned("barrier()", INSIDE, "wse3")
    assert "C317" in codes(with_root(plan, 1, replace(TO_ALL, send=VECTOR)))
    leaf = next(role for role in plan.phases[1].roles if role.name == "leaf_2")
    astray = replace(leaf, lanes=(Lane("vectors", (once(OWN),)),))
    assert codes(with_role(plan, 1, astray)) == {"C314"}


def test_a_root_that_its_router_does_not_hand_the_sum_back_is_found() -> None:
    _, plan = planned("barrier()", INSIDE, "wse3")
    root = root_of(plan, 2)
    (use,) = root.colors
    (route,) = use.positions
    away = tuple(side for side in route.send if side is not Direction.RAMP)
    lost = replace(use, positions=(replace(route, send=away),))
    assert codes(with_role(plan, 2, replace(root, colors=(lost,)))) == {"C317"}


def test_more_than_a_word_is_sent_to_all_by_no_reduction() -> None:
    _, word = planned("allreduce(x: f32[1], add)", INSIDE, "wse3")
    _, longer = planned("allreduce(x: f32[2], add)", INSIDE, "wse3")
    assert "C318" in codes(replace(longer, phases=word.phases))


def test_what_is_broadcast_has_a_microthread_of_its_own() -> None:
    """PEs receive it beside the operation that sends; beside those of a phase before none ends."""
    _, plan = planned("barrier()", INSIDE, "wse3")
    last, outputs = plan.input_queues[-1], plan.output_queues
    assert last not in outputs
    assert codes(replace(plan, output_queues=(outputs[0], last))) == {"C324"}
    near = next(n for n in plan.target.output_queues if n not in {*outputs, last})
    assert not codes(replace(plan, output_queues=(outputs[0], near)))


@pytest.mark.parametrize(("holds", "found"), [(1, {"C305"}), (2, set()), (3, set())])
def test_an_output_queue_holds_a_word_and_what_is_behind_it(holds: int, found: set[str]) -> None:
    _, plan = planned("barrier()", AT_END)
    assert [words_at_once(phase) for phase in plan.phases] == [2, 0]
    smaller = replace(plan.target, output_queue_words=(holds,) * 8)
    assert codes(replace(plan, target=smaller)) == found


def test_a_word_with_nothing_behind_it_needs_a_place_for_one() -> None:
    _, plan = planned("barrier()", "reduce chain to 0 then broadcast from 0")
    assert [words_at_once(phase) for phase in plan.phases] == [1, 0]
    smaller = replace(plan.target, output_queue_words=(1,) * 8)
    assert not codes(replace(plan, target=smaller))
