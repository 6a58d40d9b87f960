"""What the checks of exchanges accept, what they refuse, and what is nearly refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import steps_patterns as s
from changing import facing, streams, with_first_entry, with_first_op
from with_schedules import check, check_plan

from collc.checks.step_table_entries import _leaves, _loop_problems
from collc.cost.choice import build_plan
from collc.driver.pipeline import compile_text
from collc.lowering import candidate_plans
from collc.lowering.lane_queues import with_shared_queues
from collc.plan import (
    ONE,
    VECTOR,
    ZERO,
    Action,
    Buffer,
    Direction,
    Entry,
    Loop,
    Memory,
    Number,
    Op,
    Phase,
    Plan,
    Role,
    Route,
)
from collc.plan.unrolled import unrolled
from collc.spec import Operation
from collc.spec.exchange import Slicing
from collc.target import TARGETS

WSE2 = TARGETS["wse2"]
RING = s.Line("ring_allreduce", 6, 24, ring=True)
DOUBLING = s.Line("recursive_doubling", 8, 12)


def planned(line: s.Line, target: str = "wse2") -> Plan:
    schedule = line.schedule()
    return build_plan(schedule, TARGETS[target])


def codes(plan: Plan) -> set[str]:
    return {problem.code for problem in check_plan(plan)}


def with_phase(plan: Plan, phase: Phase) -> Plan:
    return replace(plan, phases=(phase, *plan.phases[1:]))


def with_role(plan: Plan, index: int, role: Role) -> Plan:
    phase = plan.phases[0]
    roles = (*phase.roles[:index], role, *phase.roles[index + 1 :])
    return with_phase(plan, replace(phase, roles=roles))


def with_op(plan: Plan, op: Op) -> Plan:
    """Another operation in place of the first one of its kind, of the first role."""
    return with_role(plan, 0, with_first_op(plan.phases[0].roles[0], op))


def first_entry(plan: Plan) -> Entry:
    return plan.phases[0].roles[0].lanes[0].loops[0].entries[0]


def first_sent(plan: Plan) -> Op:
    return next(op for op in first_entry(plan).ops if op.sends)


def first_received(plan: Plan) -> Op:
    return next(op for op in first_entry(plan).ops if not isinstance(op.send, str))


@pytest.mark.parametrize(
    ("name", "ranks", "length"),
    [
        (name, ranks, length)
        for name, ranks, length in product(s.PATTERNS, (1, 2, 3, 7, 8), (1, 8, 56))
        if name != "all_to_all" or length % ranks == 0  # it exchanges slices of one length
    ],
)
def test_every_wiring_of_every_pattern_passes(name, ranks, length):
    schedule = s.Line(name, ranks, length, ring=name == "ring_allreduce").schedule()
    for target in TARGETS.values():
        for plan in candidate_plans(schedule, target):
            assert check_plan(with_shared_queues(plan) if streams(plan) else plan) == ()


def test_an_entry_that_sends_and_relays_is_refused():
    plan = planned(RING)
    entry = first_entry(plan)
    relay = Op(first_received(plan).receive, Action.RELAY, first_sent(plan).send)
    both = replace(entry, ops=(*entry.ops, relay))
    role = with_first_entry(plan.phases[0].roles[0], both)
    assert codes(with_role(plan, 0, role)) == {"C319"}


@pytest.mark.parametrize(
    "change",
    [
        {"vectors": 2},
        {"action": Action.COMBINE},
        {"where": Number(2)},
    ],
)
def test_an_operation_that_no_step_table_has_is_refused(change):
    plan = planned(RING)
    assert codes(with_op(plan, replace(first_sent(plan), **change))) == {"C319"}


@pytest.mark.parametrize("target", TARGETS)
def test_rows_that_combine_need_an_operation(target):
    pattern = s.phase(s.ring_allreduce(4), 4, 16)
    with_one = s.schedule([pattern], 4, 1, 16)
    for plan in candidate_plans(with_one, TARGETS[target]):
        assert codes(plan) == set()
    without = s.schedule([pattern], 4, 1, 16, operation=None)
    for plan in candidate_plans(without, TARGETS[target]):
        assert codes(plan) == {"C319"}


def test_sending_the_last_slice_passes_and_one_behind_it_is_refused():
    plan = planned(DOUBLING)
    sent = first_sent(plan)
    assert sent.slices.first.offset + sent.slices.count.offset == 1
    assert codes(plan) == set()
    two = replace(sent, slices=replace(sent.slices, count=Number(2)))
    assert codes(with_op(plan, two)) == {"C319"}


def test_a_loop_without_turns_is_refused():
    plan = planned(RING)
    role = plan.phases[0].roles[0]
    loop = role.lanes[0].loops[0]
    for changed in (replace(loop, turns=Number(0)), Loop(loop.turns, loop.shift, ())):
        lanes = (replace(role.lanes[0], loops=(changed, *role.lanes[0].loops[1:])),)
        assert codes(with_role(plan, 0, replace(role, lanes=lanes))) == {"C319"}


def test_lanes_of_a_place_that_end_different_steps_are_refused():
    plan = planned(s.Line("recursive_doubling", 4, 40))
    role = plan.phases[0].roles[0]
    assert len(role.lanes) > 1
    for at, lane in enumerate(role.lanes):
        *before, last = lane.loops
        *others, entry = last.entries
        turned = replace(entry, ends_step=ZERO if entry.ends_step == ONE else ONE)
        loops = (*before, replace(last, entries=(*others, turned)))
        lanes = (*role.lanes[:at], replace(lane, loops=loops), *role.lanes[at + 1 :])
        assert codes(with_role(plan, 0, replace(role, lanes=lanes))) == {"C319"}


SCATTERING = """\
target wse2
grid row = 6 x 1
collective it = scatter(x: f32[20]) on row {
    run linear_scatter
}
program { it }
"""


def test_slices_that_fall_are_one_operation_from_the_last_element_on():
    schedule = compile_text(SCATTERING, "test.coll", {}).schedule
    plan = next(candidate_plans(schedule, TARGETS["wse2"], streams=False))
    (phase,) = plan.phases
    assert phase.backward
    assert first_sent(plan).slices.count == Number(5)
    assert "C322" in codes(with_phase(plan, facing(phase, backward=False)))
    role = phase.roles[0]
    roles = (facing(role, backward=False), *phase.roles[1:])
    problem = check_plan(with_phase(plan, replace(phase, roles=roles)))[0]
    assert problem.code == "C319"
    assert "passes elements both ways" in problem.message


def test_a_stage_is_not_filled_from_the_last_element_on():
    plan = planned(DOUBLING)
    assert plan.phases[0].areas
    assert "C319" in codes(with_phase(plan, facing(plan.phases[0], backward=True)))


def test_a_route_to_the_wrong_side_is_refused():
    plan = planned(RING)
    role = plan.phases[0].roles[1]
    use = next(use for use in role.colors if use.positions[0].receive is not Direction.RAMP)
    turned = replace(use, positions=(Route(Direction.NORTH, use.positions[0].send),))
    colors = tuple(turned if one is use else one for one in role.colors)
    assert codes(with_role(plan, 1, replace(role, colors=colors))) == {"C321"}


def test_circuits_of_one_color_that_meet_are_refused_and_neighbours_are_not():
    plan = planned(RING)
    names = [name for name, _ in plan.colors]
    merged = tuple((name, 0) for name in names)
    assert codes(replace(plan, colors=merged)) >= {"C303"}
    # two circuits share a color where they do not share a router
    assert len(names) < RING.ranks


def test_a_turn_too_few_takes_words_of_the_next_call():
    plan = planned(RING)
    role = plan.phases[0].roles[2]
    loop = role.lanes[0].loops[-1]
    fewer = replace(loop, turns=Number(loop.turns.offset - 1))
    lanes = (replace(role.lanes[0], loops=(*role.lanes[0].loops[:-1], fewer)),)
    (problem,) = check_plan(with_role(plan, 2, replace(role, lanes=lanes)))
    assert problem.code == "C322"
    assert "takes in call 0 words that" in problem.message


def test_a_slice_beside_the_right_one_is_refused():
    plan = planned(RING)
    op = first_received(plan)
    other = Number((op.slices.first.offset + 1) % RING.ranks)
    beside = replace(op, slices=replace(op.slices, first=other))
    assert codes(with_op(plan, beside)) & {"C322", "C323"}
    assert codes(with_op(plan, op)) == set()


@pytest.mark.parametrize(("operation", "code"), [(Operation.ADD, "C322"), (None, "C319")])
def test_combining_instead_of_copying_is_refused(operation, code):
    pattern = s.phase(s.linear_gather(4), 4, 8)
    schedule = s.schedule([pattern], 4, 1, 8, operation=operation)
    plan = next(candidate_plans(schedule, TARGETS["wse2"], streams=False))
    assert codes(plan) == set()
    combining = replace(first_received(plan), action=Action.COMBINE)
    assert codes(with_op(plan, combining)) == {code}


def test_receiving_over_what_is_sent_is_refused_and_staging_it_is_not():
    plan = planned(s.Line("recursive_doubling", 2, 12))
    assert codes(plan) == set()
    role, entry = plan.phases[0].roles[0], first_entry(plan)
    op = first_received(plan)
    assert isinstance(op.send, Memory) and op.send.buffer is Buffer.STAGE
    direct = replace(op, action=Action.COMBINE, send=VECTOR)
    ops = tuple(direct if one is op else one for one in entry.ops)
    loop = Loop(Number(1), Number(0), (replace(entry, ops=ops),))
    lanes = (replace(role.lanes[0], loops=(loop,)),)
    assert codes(with_role(plan, 0, replace(role, lanes=lanes))) == {"C323"}


def test_one_number_for_an_input_and_an_output_queue_is_refused():
    plan = planned(RING)
    assert codes(replace(plan, input_queues=plan.output_queues)) == {"C324"}
    swapped = replace(plan, input_queues=(7,), output_queues=(5,))
    assert codes(swapped) == set()


def test_budgets_count_the_queues_that_lanes_take():
    plan = planned(DOUBLING)
    assert len(plan.input_queues) == len(plan.output_queues) == 2
    assert "C305" in codes(replace(plan, output_queues=plan.output_queues[:1]))
    assert "C305" in codes(replace(plan, input_queues=plan.input_queues[:1]))


def test_the_stage_counts_as_memory():
    short, long = (planned(s.Line("recursive_doubling", 4, length)) for length in (4500, 6000))
    assert codes(short) == set()
    assert codes(long) == {"C308"}
    (problem,) = check("memory", long)
    most = int(problem.help.split("at most ")[1].split()[0])
    for length, found in ((most, set()), (most + 1, {"C308"})):
        assert codes(planned(s.Line("recursive_doubling", 4, length))) == found


def test_what_passes_a_pe_is_cut_where_no_operation_is_long_enough():
    plan = planned(s.Line("recursive_doubling", 32, 2400))
    assert codes(plan) == set()
    passed = unrolled(plan.phases[0]).passed
    assert 4096 < passed.max() <= WSE2.max_extent < 15 * 2400


def test_what_passes_a_pe_at_once_counts_as_an_operation():
    plan = planned(s.Line("recursive_doubling", 16, 4700))
    for elements, refused in ((WSE2.max_extent, False), (WSE2.max_extent + 1, True)):
        relay = Op("in", Action.RELAY, "out", elements=Number(elements))
        role = with_first_entry(plan.phases[0].roles[1], Entry((relay,), ONE))
        assert ("C309" in codes(with_role(plan, 1, role))) == refused


def test_a_place_without_a_role_is_refused():
    plan = planned(RING)
    phase = plan.phases[0]
    assert "C312" in codes(with_phase(plan, replace(phase, regions=phase.regions[1:])))


@pytest.mark.parametrize("slices", [1, 2, 5, 6])
def test_a_range_leaves_the_slices_if_it_does_in_some_turn(slices: int):
    """A range of one slice comes round; a longer one that would is refused."""
    for first, count, shift, turns in product(
        range(slices), range(slices + 2), range(slices), (1, 2, 3, slices, slices + 1, 70)
    ):
        starts = ((first + turn * shift) % slices for turn in range(turns))
        leaves = count > 1 and any(start + count > slices for start in starts)
        one = np.array([[first], [count], [shift], [turns]])
        assert _leaves(one, slices) == leaves, (first, count, shift, turns)
        beside = np.array([[0, first], [1, count], [1, shift], [9, turns]])
        assert _leaves(beside, slices) == leaves


def test_two_slices_that_go_round_a_ring_are_refused_where_one_is_not():
    plan = planned(RING)
    sent = first_sent(plan)
    assert sent.slices.count == Number(1)
    two = replace(sent, slices=replace(sent.slices, count=Number(2)))
    assert "goes beyond the last slice" in check_plan(with_op(plan, two))[0].message


def test_a_vector_that_is_cut_otherwise_than_scheduled_is_refused():
    plan = planned(RING)
    (phase,) = plan.phases
    more = Slicing(RING.ranks + 1, RING.length)
    longer = Slicing(RING.ranks, RING.length + 1)
    problem = check_plan(with_phase(plan, replace(phase, slicing=more)))[0]
    assert problem.code == "C322" and "ends with other values" in problem.message
    problem = check_plan(with_phase(plan, replace(phase, slicing=longer)))[0]
    assert problem.code == "C319" and "is not the vector" in problem.message


@pytest.mark.parametrize(
    ("turns", "shift", "problem"),
    [
        (1, 0, ""),
        (0xFFFF, 5, ""),
        (0x10000, 5, "has a loop without turns or rows"),
        (0, 5, "has a loop without turns or rows"),
        (1, 6, "has a loop that goes on by more than all slices"),
        (1, -1, "has a loop that goes on by more than all slices"),
    ],
)
def test_the_turns_of_a_loop_are_counted_in_16_bits_and_it_goes_on_within_the_slices(
    turns: int, shift: int, problem: str
):
    """At every place, and in every loop."""
    (lane,) = planned(RING).phases[0].roles[0].lanes
    loops = len(lane.table)
    for loop, place in product(range(loops), range(3)):
        many = np.full((loops, 3), 1)
        on = np.full((loops, 3), 0)
        many[loop, place], on[loop, place] = turns, shift
        found = _loop_problems(lane, many, on, 6)
        assert found == [problem if at == loop else "" for at in range(loops)]
