"""Any plan, run without a clock: nothing is wrong, and no order of moves decides.

`python tests/machine_gate.py` does so with everything that there is; here is one of each kind.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from machine.plans import beginning, plan_of, program_of

from collc.base.columns import Words
from collc.driver.pipeline import compile_text
from collc.machine import cuts, run
from collc.plan import Plan
from collc.plan.dynamic_lengths import plan_of_length
from collc.plan.plan import ProgramPlan

ALONE = {
    "two_phase": {"P": 12, "S": 3, "B": 16},  # switches that are reset
    "star": {"P": 7},  # open routers
    "allreduce_2d": {},  # phases one behind the other, a multicast
    "barrier": {},  # one word, sent to all in the phase before
    "root_bypass": {},
    "reduce_middle": {},  # a root inside, two sides
    "snake": {"W": 4, "H": 3},  # a path
    "row_major": {},  # an order that is not contiguous, detours
    "ring_allreduce": {"P": 6, "B": 13},  # a step table in loops, slices of two lengths
    "halving_doubling": {},  # relays
    "all_to_all": {"P": 5, "E": 2},  # a stream: filters, own words that return, lanes in turn
    "reduce_scatter_gather": {},
    "chain_reduce_scatter": {"P": 6},  # what is combined on its way
    "ring_2d": {},  # blocks of lines
    "scan_grid": {},
    "halo_exchange": {},
    "argmax": {},  # two words an element
}
PROGRAMS = {
    "program_mixed": {"P": 8},  # colors torn down between phases
    "program_grid": {"W": 4, "H": 3},
    "program_parts": {"W": 4, "H": 4, "B": 2},  # parts of the grid
    "program_together": {"W": 4, "H": 3, "B": 2},  # calls beside each other
    "program_halo_columns": {},  # each column by itself
    "select": {"P": 4, "B": 16},
    "rotating_root": {"P": 5, "B": 2},  # a plan for each root
}


def checked(plan: Plan | ProgramPlan, begin: list[Words], calls: list[int] | None = None) -> None:
    found = run(plan, begin, calls=calls)
    assert found.faults == ()
    assert any((one != other).any() for one, other in zip(begin, found.held, strict=True))
    for order in (1, 2):
        other = run(plan, begin, order=order, calls=calls)
        assert other.faults == ()
        for one, same in zip(found.held, other.held, strict=True):
            np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("name", ALONE)
def test_two_calls_one_behind_the_other_end_well_in_any_order(name):
    target = ("wse2", "wse3")[len(name) % 2]
    plan = plan_of(name, target, **ALONE[name])
    checked(plan, beginning([plan, plan]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_rounds_of_a_program_end_well_in_any_order(name):
    program = program_of(name, **PROGRAMS[name])
    calls = [*range(len(program.plans)), *program.calls]
    checked(program, beginning([program.plans[call] for call in calls]), calls)


DYNAMIC = """
target wse2
grid row = 5 x 1
collective total = allreduce(x: f32[n <= 20], add) on row { run direct_allreduce }
program { total, total }
"""


@pytest.mark.parametrize("length", [1, 3, 5, 20])
def test_a_length_of_the_call_may_leave_slices_empty(length):
    program = compile_text(DYNAMIC, "dynamic.coll", {}, "wse2").program
    (plan,) = program.plans
    called = plan_of_length(plan, length)
    checked(replace(program, plans=(called,)), beginning([called, called]))


def test_what_is_left_of_a_call_is_no_business_of_the_next_one():
    plan = plan_of("two_phase", "wse2", P=8, B=16)
    first, second = beginning([plan, plan])
    both = run(plan, [first, second]).held
    for one, alone in zip(both, (first, second), strict=True):
        np.testing.assert_array_equal(one, run(plan, [alone]).held[0])


def test_atoms_are_what_no_phase_cuts():
    assert cuts(plan_of("two_phase", "wse2", P=8, B=16)).tolist() == [0, 16]
    assert cuts(plan_of("barrier", "wse2")).tolist() == [0, 1]
    assert cuts(plan_of("ring_allreduce", "wse2", P=4, B=10)).tolist() == [0, 2, 5, 7, 10]


def test_it_is_told_on_request_who_has_received_from_whom():
    plan = plan_of("star", "wse2", P=4)
    begin = beginning([plan])
    assert run(plan, begin).receipts == ()
    found = run(plan, begin, receipts=True).receipts
    assert [(one.pe, one.source) for one in found] == [((0, 0), (x, 0)) for x in (1, 2, 3)]


def test_every_call_begins_with_something():
    program = program_of("program_mixed", **PROGRAMS["program_mixed"])
    with pytest.raises(ValueError, match="calls begin with 0 arrays"):
        run(program, [])


def test_a_path_of_a_thousand_pes_takes_as_many_moves_as_routers():
    plan = plan_of("snake", "wse2", W=32, H=32)
    found = run(plan, beginning([plan]))
    assert found.faults == ()
    assert found.events < 10 * 32 * 32
