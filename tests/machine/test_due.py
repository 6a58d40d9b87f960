"""What is due behind a call is the schedule carried out, atom by atom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collc.base.columns import Array, Ints
from collc.language import parse_source
from collc.machine.due import atoms, begin, due
from collc.run.expected import carry_out
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.schedule.promised import promised
from collc.spec.exchange import StepsPhase

# by name: the grid of about so many PEs, the contract, the steps; B is the length
FORMS = {
    "a tree": ("P x 1", "reduce(x: f32[B], add)", "order east_to_west reduce binomial to P div 2"),
    "a root bypass": ("P x 1", "reduce(x: f32[B], add)", "reduce root_bypass(chain) to 1"),
    "trees on a grid": (
        "P x 3",
        "allreduce(x: f32[B], add)",
        "reduce columns by star to 1 then reduce row by two_phase(S = 2) to 0 "
        "then broadcast from (0, 1)",
    ),
    "a multicast": ("2 x P", "broadcast(x: f32[B])", "broadcast from (1, P - 1)"),
    "a path": ("P x 3", "allreduce(x: f32[B], add)", "order snake run recursive_doubling"),
    "a tree on a path": ("P x 2", "reduce(x: f32[B], add)", "order snake reduce chain to 0"),
    "a ring": ("P x 1", "allreduce(x: f32[B], add)", "order ring run ring_allreduce"),
    "other places": ("P x 1", "all_to_all(x: f32[P * B])", "run bruck_all_to_all"),
    "own slices": ("1 x P", "reduce_scatter(x: f32[B], add)", "run chain_reduce_scatter"),
    "blocks": (
        "P x 3",
        "allgather(x: f32[B])",
        "run rows by ring_allgather then run columns by ring_allgather",
    ),
    "on slices": (
        "P x 3",
        "allreduce(x: f32[B], add)",
        "run rows by chain_reduce_scatter then run columns by pipelined_allreduce(c = 2) on slices "
        "then run rows by direct_allgather",
    ),
    "a barrier": ("P x 1", "barrier()", "run dissemination_barrier"),
    "a contract of one's own": ("P x 1", "given_on(x: f32[2 * B])", "run give_on"),
}
DECLARED = """
contract given_on(n) slices 2 {
    before each r : r has slice 0 of r
    after each r where r > 0 : r has slice 0 of r - 1 as slice 1
}
algorithm give_on(n) slices 2 { step { each r where r < n - 1 : slice 0  r -> r + 1 as slice 1 } }
"""


def schedule_of(name: str, pes: int, length: int) -> Schedule:
    grid, contract, steps = FORMS[name]
    declared = DECLARED if "given_on" in contract else ""
    text = f"""target wse2 {declared} param P = {pes} param B = {length} grid g = {grid}
collective c = {contract} on g {{ {steps} }} program {{ c }}"""
    return with_tokens(build_schedule(parse_source(text).collectives[0]))


def atoms_of(schedule: Schedule) -> Ints:
    """The refinement of all cuts; all elements where slices change their places."""
    length = schedule.collective.contract.length
    phases = [phase for phase in schedule.phases if isinstance(phase, StepsPhase)]
    if any((moves.into != moves.slice).any() for phase in phases for moves in phase.steps):
        return np.arange(length + 1)
    cuts = [np.array([0, length])]
    for phase in phases:
        begins = [0]
        if phase.blocks is not None:
            begins = [phase.blocks.first_of_line(line) for line in phase.blocks.lines]
        cuts += [first + phase.slicing.bounds for first in begins]
    return np.unique(np.concatenate(cuts))


def combined(own: Array, received: Array) -> Array:
    """As the evaluator does (evaluator/src/steps.rs)."""
    second = received * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(1)
    return own * np.uint64(0x9E3779B97F4A7C15) ^ second


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=6, deadline=None)
@given(pes=st.integers(2, 6), length=st.integers(1, 13), call=st.integers(0, 3))
def test_atoms_become_what_elements_do(name: str, pes: int, length: int, call: int) -> None:
    schedule = schedule_of(name, pes, length)
    cuts, grid = atoms_of(schedule), schedule.collective.grid
    element = np.searchsorted(cuts, np.arange(cuts[-1]), side="right") - 1
    held = begin(schedule, cuts, call)[:, element].reshape(grid.height, grid.width, -1)
    wanted = carry_out(schedule, held, combined).reshape(grid.height * grid.width, -1)
    values, asked = due(schedule, cuts, call)
    assert (values[:, element] == wanted).all()
    of_elements = promised(schedule).reshape(wanted.shape)
    assert (asked == np.maximum.reduceat(of_elements, cuts[:-1], axis=1)).all()


def test_calls_begin_with_other_numbers_and_all_differ() -> None:
    schedule = schedule_of("a ring", 5, 10)
    both = [begin(schedule, atoms_of(schedule), call) for call in (0, 1)]
    assert len(np.unique(both)) == 2 * 5 * 5


def test_what_nobody_asks_for_is_not_promised() -> None:
    schedule = schedule_of("own slices", 3, 9)
    assert due(schedule, atoms_of(schedule), 0)[1].tolist() == np.eye(3, dtype=bool).tolist()
    schedule = schedule_of("a tree", 4, 9)
    assert due(schedule, np.array([0, 9]), 0)[1].sum() == 1


def test_an_atom_is_promised_if_an_element_of_it_is() -> None:
    schedule = schedule_of("own slices", 3, 9)
    finer = promised(schedule, np.array([0, 1, 3, 5, 6, 9]))[:, 0]
    assert finer.astype(int).tolist() == [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]]
    assert promised(schedule, np.array([0, 5, 9]))[:, 0].tolist() == [[1, 0], [1, 1], [0, 1]]


def test_atoms_that_a_slice_cuts_are_refused() -> None:
    with pytest.raises(ValueError, match="within an atom"):
        due(schedule_of("a ring", 5, 10), np.array([0, 3, 10]), 0)


def test_slices_that_take_the_place_of_others_are_cut_alike() -> None:
    schedule = schedule_of("other places", 3, 2)
    assert atoms(schedule, np.array([0, 1, 2, 4, 6])).tolist() == [0, 1, 2, 3, 4, 5, 6]
    schedule = schedule_of("a ring", 5, 10)
    assert atoms(schedule, np.array([0, 1, 2, 10])).tolist() == [0, 1, 2, 4, 6, 8, 10]


def test_atoms_that_differ_where_a_slice_is_put_are_refused() -> None:
    schedule = schedule_of("other places", 3, 2)
    assert due(schedule, np.array([0, 2, 4, 6]), 0)
    with pytest.raises(ValueError, match="not cut as"):
        due(schedule, np.array([0, 1, 2, 4, 6]), 0)
