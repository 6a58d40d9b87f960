"""Phases have one queue only where no PE has both of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, islice

import pytest
from with_schedules import check_plan, run_program

from collc.cost.choice import build_plan
from collc.language import parse_source
from collc.lowering.lane_queues import with_shared_queues
from collc.plan import Plan, Role
from collc.plan.one_call import of_one_call
from collc.plan.slots import Slot, slot_of
from collc.schedule import Schedule, build_schedule
from collc.target import TARGETS
from mutants import judging, trees
from mutants.judging import RIGHT, SAME, Subject
from mutants.kinds import Kind, Mutant

TREE = "reduce columns by {0} to 2 then reduce row by {0} to 1 then broadcast from (1, 2)"


def planned(tree: str, target: str, length: int = 9) -> tuple[Schedule, Plan]:
    what = f"allreduce(x: f32[{length}], add)"
    text = f"grid g = 4 x 5 collective s = {what} on g {{ {TREE.format(tree)} }}"
    spec = parse_source(f"target {target} {text} program {{ s }}", {}, None, file="test.coll")
    schedule = build_schedule(spec.collectives[0])
    return schedule, build_plan(schedule, TARGETS[target])


def wrongly_shared(plan: Plan) -> Iterator[Mutant[Plan]]:
    """Every plan in which a slot has the number of another one, too."""
    for field in ("input_queues", "output_queues"):
        for what, numbers in _one_number(getattr(plan, field)):
            changed = replace(plan, **{field: numbers})
            yield Mutant(Kind.NUMBERS, f"{field}, {what}", changed)


def _one_number(numbers: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for i, j in combinations(range(len(numbers)), 2):
        if numbers[i] != numbers[j]:
            yield f"{j} as {i}", (*numbers[:j], numbers[i], *numbers[j + 1 :])


def subject_of(
    tree: str, target: str, mutants: Callable[[Plan], Iterator[Mutant[Plan]]], length: int = 9
) -> Subject:
    schedule, plan = planned(tree, target, length)
    return Subject(
        f"{tree} {target}",
        plan,
        mutants,
        check_plan,
        lambda changed: judging.texts_of(schedule, changed),
        lambda changed, texts: (
            run_program(texts, of_one_call(changed), target, seed=1, repeats=2).problem
        ),
    )


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("length", [1, 9])
@pytest.mark.parametrize("tree", ["chain", "binomial"])
def test_what_is_shared_wrongly_is_refused_or_right(tree: str, length: int, target: str) -> None:
    subject = subject_of(tree, target, wrongly_shared, length)
    assert not subject.check(subject.plan)
    found = [judging.judge(subject, mutant) for mutant in wrongly_shared(subject.plan)]
    refused = [codes for codes, _ in found if codes]
    beside = {"C324"} if length == 1 else set()  # a word is received beside what else runs
    assert {code for codes in refused for code in codes} == {"C305"} | beside
    assert {outcome for codes, outcome in found if not codes} <= {SAME, RIGHT}
    assert len(refused) >= 9


def test_a_changed_plan_that_shares_numbers_is_refused_or_delivers() -> None:
    subject = subject_of("two_phase(S = 2)", "wse2", trees.mutants)
    assert not subject.check(subject.plan)
    found = [
        judging.judge(subject, one) for one in islice(subject.mutants(subject.plan), 0, None, 9)
    ]
    assert {outcome for codes, outcome in found if not codes} <= {SAME, RIGHT}
    assert sum(bool(codes) for codes, _ in found) > 50


@pytest.mark.parametrize("tree", ["chain", "star", "optimal"])
def test_slots_meet_where_a_pe_has_both(tree: str) -> None:
    """Counted PE by PE, from what the roles send."""
    _, plan = planned(tree, "wse2")
    outputs = [slot_of(at, phase, _sends) for at, phase in enumerate(plan.phases)]
    assert len(outputs) == 5
    for one, other in combinations(range(5), 2):
        both = _senders(plan, one) & _senders(plan, other)
        assert outputs[one].meets(outputs[other]) == bool(both)


def _senders(plan: Plan, phase: int) -> set[tuple[int, int]]:
    return {
        (x, y)
        for region, role in plan.phases[phase].regions
        for x in region.x
        for y in region.y
        if _sends(plan.phases[phase].roles[role])
    }


def _sends(role: Role) -> bool:
    return any(op.sends for op in role.ops)


def test_places_of_a_path_meet_all_pes_of_the_grid() -> None:
    here, there = (Slot(0, ((1, 1),), False), Slot(1, ((2, 2),), False))
    assert not here.meets(there)
    assert here.meets(replace(there, on_path=True))


def test_numbers_are_shared_only_where_they_are_short() -> None:
    _, plan = planned("chain", "wse3")
    assert len(set(plan.output_queues)) == len(plan.phases)  # six are enough
    _, plan = planned("chain", "wse2")
    assert len(set(plan.output_queues)) < len(plan.phases)
    roomy = replace(plan.target, output_queues=(1, 2, 3, 4, 5))
    alone = build_plan(planned("chain", "wse2")[0], roomy)
    assert with_shared_queues(alone) == alone


def test_what_cannot_be_shared_is_still_refused() -> None:
    schedule, plan = planned("chain", "wse2")
    smaller = replace(plan.target, input_queues=(2, 3, 4))
    found = check_plan(build_plan(schedule, smaller))
    assert "C305" in {problem.code for problem in found}
