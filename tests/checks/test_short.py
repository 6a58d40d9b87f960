"""Short collectives: registers that are loaded before the program begins are of one operand on a
PE, and an output queue holds what is put into it at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collc.checks import check_plan
from collc.checks.budgets.output_words import words_at_once
from collc.cost.choice import build_plan
from collc.language import parse_source
from collc.plan import Plan, Registers
from collc.plan.short import is_short, stores_by_registers
from collc.plan.slots import slots_of
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.target import TARGETS
from mutants import judging

STAR = "reduce star to {0} then broadcast from {0}"
INSIDE = STAR.format(4)
AT_END = STAR.format(0)


def planned(contract: str, steps: str, target: str = "wse2") -> tuple[Schedule, Plan]:
    text = f"target {target} grid row = 8 x 1 collective total = {contract} on row {{ {steps} }}"
    spec = parse_source(f"{text} program {{ total }}", {}, None, file="test.coll")
    schedule = with_tokens(build_schedule(spec.collectives[0]))
    return schedule, build_plan(schedule, TARGETS[target])


def sharing(plan: Plan, second: int) -> Plan:
    """The plan with the register pair of its second phase at a position among all pairs."""
    slots = slots_of(plan)
    pairs = list(range(1 + len(slots.pairs)))
    at = next(i for i, slot in enumerate(slots.pairs) if slot.phase == 1)
    pairs[1 + at] = second
    return replace(plan, registers=Registers(tuple(pairs), tuple(range(len(slots.sources)))))


def codes(plan: Plan) -> set[str]:
    return {problem.code for problem in check_plan(plan)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("contract", ["barrier()", "allreduce(x: f32[1], add)"])
@pytest.mark.parametrize("steps", [AT_END, INSIDE])
def test_a_word_along_trees_and_back_is_short(contract: str, steps: str, target: str) -> None:
    _, plan = planned(contract, steps, target)
    assert is_short(plan)
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
    assert not is_short(plan)


def test_a_root_stores_by_registers_of_its_own() -> None:
    schedule, plan = planned("barrier()", INSIDE)
    assert stores_by_registers(plan)
    assert "@add16(reduce_2_store_dest, " in judging.texts_of(schedule, plan)["total_pe.csl"]


def test_where_phases_share_registers_it_stores_by_descriptors() -> None:
    """So the senders of both phases, who are different PEs, may have one register."""
    schedule, plan = planned("barrier()", INSIDE)
    first = next(i for i, slot in enumerate(slots_of(plan).pairs) if slot.phase == 0)
    shared = sharing(plan, second=1 + first)
    assert not codes(shared)
    assert "_store_dest" not in judging.texts_of(schedule, shared)["total_pe.csl"]


def test_a_pe_that_sends_in_both_phases_may_not_have_one_register_for_both() -> None:
    _, plan = planned("barrier()", INSIDE)
    last = next(i for i, slot in enumerate(slots_of(plan).pairs) if slot.phase == 2)
    assert codes(sharing(plan, second=0)) == {"C307"}  # the vector's, which all copy to
    assert not codes(sharing(plan, second=1 + last))  # the root's, which sends in no other


@pytest.mark.parametrize(("holds", "found"), [(1, {"C305"}), (2, set()), (3, set())])
def test_an_output_queue_holds_a_word_and_what_is_behind_it(holds: int, found: set[str]) -> None:
    _, plan = planned("barrier()", AT_END)
    assert [words_at_once(phase) for phase in plan.phases] == [2, 1]
    smaller = replace(plan.target, output_queue_words=(holds,) * 8)
    assert codes(replace(plan, target=smaller)) == found


def test_a_word_with_nothing_behind_it_needs_a_place_for_one() -> None:
    _, plan = planned("barrier()", "reduce chain to 0 then broadcast from 0")
    assert [words_at_once(phase) for phase in plan.phases] == [1, 1]
    smaller = replace(plan.target, output_queue_words=(1,) * 8)
    assert not codes(replace(plan, target=smaller))
