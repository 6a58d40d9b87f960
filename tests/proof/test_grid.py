"""Algorithms and trees one after the other, on lines and grids."""

from __future__ import annotations

import numpy as np
import pytest
from mismatches import mismatch

from collc.language import parse_source
from collc.proof import prove
from collc.run.expected import expected, make_input
from collc.schedule import Schedule, build_schedule
from collc.schedule.promised import promised

SUM = "allreduce(x: f32[7], add)"
LARGEST = "reduce(x: f32[7], max)"
COPY = "broadcast(x: f32[7])"


def schedule_of(clauses: str, contract: str = SUM, size: str = "5 x 3") -> Schedule:
    collective = f"collective c = {contract} on g {{ {clauses} }}"
    text = f"target wse2 grid g = {size} {collective} program {{ c }}"
    return build_schedule(parse_source(text).collectives[0])


def codes(clauses: str, contract: str = SUM, size: str = "5 x 3") -> list[str]:
    return [diagnostic.code for diagnostic in prove(schedule_of(clauses, contract, size))]


COLUMNS = "run columns by ring_allreduce "
RIGHT = [
    ("order ring " + COLUMNS + "then run rows by ring_allreduce", SUM),
    ("run rows by recursive_doubling then run columns by halving_doubling", SUM),
    (COLUMNS + "then run row by ring_allreduce then broadcast from (2, 0)", SUM),
    (
        "run columns by pipelined_reduce(2) then run row by binary_blocks "
        "then run columns by pipelined_broadcast(3)",
        SUM,
    ),
    ("reduce columns by chain then run row by ring_allreduce then broadcast from (4, 0)", SUM),
    (COLUMNS + "then reduce row by chain then broadcast from (0, 0)", SUM),
    ("run columns by pipelined_reduce(2) then reduce row by chain", "reduce(x: f32[7], add)"),
    ("run columns by pipelined_reduce(4) then run row by pipelined_reduce(2)", LARGEST),
    (COLUMNS + "then run row by binary_tree_reduce(2) to (0, 0)", "reduce(x: i32[7], add)"),
    ("run row by pipelined_broadcast(2) then run columns by scatter_allgather", COPY),
    ("run column by pipelined_broadcast(2) then run rows by scatter_allgather", COPY),
    ("run columns by dissemination_barrier then run rows by linear_barrier", "barrier()"),
]


@pytest.mark.parametrize(("clauses", "contract"), RIGHT)
def test_phases_that_keep_the_contract_together_are_proved(clauses: str, contract: str) -> None:
    schedule = schedule_of(clauses, contract)
    assert list(prove(schedule)) == []
    given = make_input(schedule.collective, 1)
    assert mismatch(schedule, given, expected(schedule, given)) == ""


WRONG = [
    (COLUMNS, SUM),
    (COLUMNS + "then " + COLUMNS, SUM),
    (COLUMNS + "then run row by ring_allreduce", SUM),
    ("run column by ring_allreduce then run rows by ring_allreduce", SUM),
    ("run columns by pipelined_reduce(2) then run rows by pipelined_broadcast(2)", SUM),
    (COLUMNS + "then broadcast from (0, 0) then run rows by ring_allreduce", SUM),
    ("run columns by pipelined_broadcast(2) then run rows by scatter_allgather from (1, 0)", COPY),
    (
        "run columns by pipelined_reduce(4) then run row by pipelined_reduce(2) to (1, 0)",
        "reduce(x: f32[7], add)",
    ),
    ("run columns by linear_barrier then run row by linear_barrier", "barrier()"),
    ("run column by linear_barrier then run rows by linear_barrier", "barrier()"),
]


@pytest.mark.parametrize(("clauses", "contract"), WRONG)
def test_phases_that_do_not_are_refused(clauses: str, contract: str) -> None:
    assert codes(clauses, contract) != []


def test_an_algorithm_beside_the_column_of_sums_is_told_where_they_are() -> None:
    clauses = "reduce rows by chain to 3 then run column by ring_allreduce then broadcast from {}"
    (problem,) = prove(schedule_of(clauses.format("(3, 1)"), size="6 x 3"))
    assert problem.message == (
        "`run column by ring_allreduce` goes along column 0, the results of the steps before are "
        "in column 3"
    )
    at_0 = clauses.replace("to 3", "to 0").format("(0, 1)")
    assert codes(at_0, size="6 x 3") == []


def test_the_second_of_two_steps_along_rows_is_named_as_written() -> None:
    again = "then run rows by linear_gather to (0, 0)"
    clauses = f"run rows by pipelined_reduce(2) to (1, 0) {again}"
    (problem,) = prove(schedule_of(clauses, "reduce(x: f32[7], add)"))
    assert "`run rows by linear_gather" in problem.message
    assert "rows_2" not in problem.message
    assert problem.at is not None
    text = f"target wse2 grid g = 5 x 3 collective c = reduce(x: f32[7], add) on g {{ {clauses}"
    assert problem.at.column == text.index("run rows by linear_gather") + 1


@pytest.mark.parametrize(("clauses", "contract"), WRONG[:-2])
def test_numpy_agrees_that_they_do_not(clauses: str, contract: str) -> None:
    schedule = schedule_of(clauses, contract)
    given = make_input(schedule.collective, 1)
    assert mismatch(schedule, given, expected(schedule, given)) != ""


def test_trees_broadcasts_and_algorithms_follow_each_other_on_a_line() -> None:
    assert codes("reduce chain then run scatter_allgather", size="6 x 1") == []
    assert codes("run reduce_scatter_gather then broadcast from 0", size="1 x 6") == []
    assert codes("run ring_reduce_scatter then run ring_allgather", size="6 x 1") == []
    assert codes("run pairwise_reduce_scatter then broadcast from 0", size="6 x 1") == ["C201"]
    assert codes("reduce chain then run ring_allreduce", size="6 x 1") == ["C202"]
    both = "run pipelined_reduce(9) then run linear_scatter"
    assert codes(both, "reduce_scatter(x: f32[8], add)", "4 x 1") == []


def test_slices_of_different_numbers_meet_in_one_vector() -> None:
    reduce_scatter = "reduce_scatter(x: f32[50], add)"
    assert codes("run butterfly(3)", reduce_scatter, "9 x 1") == []
    assert codes("run pipelined_allreduce(7)", reduce_scatter, "9 x 1") == []
    assert codes("run pipelined_broadcast(7)", "scatter(x: f32[50])", "9 x 1") == []


def test_a_root_that_is_not_rank_0_is_served_by_an_algorithm_that_knows_it() -> None:
    clauses = "order east_to_west run linear_gather to {}"
    assert codes(clauses.format("0"), "gather(x: f32[9])", "4 x 1") == []
    assert codes(clauses.format("(3, 0)"), "gather(x: f32[9])", "4 x 1") == []
    assert codes(clauses.format("1"), "gather(x: f32[9])", "4 x 1") == ["C214"]


@pytest.mark.parametrize("kind", ["scatter", "gather", "allgather", "all_to_all"])
def test_a_contract_that_nothing_is_done_for_is_refused(kind: str) -> None:
    algorithm = "algorithm idle(n) { } "
    text = (
        f"target wse2 {algorithm} grid g = 4 x 1 collective c = {kind}(x: f32[8]) on g "
        "{ run idle } program { c }"
    )
    (problem,) = prove(build_schedule(parse_source(text).collectives[0]))
    assert problem.code in ("C207", "C208") and "nothing arrives there" in problem.message


def test_only_what_is_promised_is_compared() -> None:
    schedule = schedule_of("run ring_reduce_scatter", "reduce_scatter(x: f32[8], add)", "4 x 1")
    given = make_input(schedule.collective, 1)
    found = expected(schedule, given)
    asked = promised(schedule)
    assert asked.sum() == 8
    found[~asked] = np.nan
    assert mismatch(schedule, given, found) == ""
    found[0, 2, 5] += 1
    assert "1 of 8 elements are wrong; the first is element 5 at PE (2, 0)" in mismatch(
        schedule, given, found
    )


def test_the_line_may_have_more_than_64_ranks_and_long_vectors_are_followed_in_turns() -> None:
    assert codes("order ring run ring_allreduce", "allreduce(x: f32[300], add)", "130 x 1") == []
    chunks = "run pipelined_allreduce(c = 3000)"
    assert codes(chunks, "allreduce(x: f32[4000], add)", "66 x 1") == []


SLICES = "run columns by ring_reduce_scatter then {} run columns by ring_allgather"


@pytest.mark.parametrize("between", ["", "run rows by ring_allreduce then"])
def test_on_a_grid_slices_that_a_step_leaves_are_not_put_together_by_another(between: str) -> None:
    assert codes(SLICES.format(between)) == ["C204"]


@pytest.mark.parametrize(
    ("order", "size"), [("", "5 x 1"), ("", "1 x 5"), ("order snake ", "5 x 3")]
)
def test_on_a_line_or_a_path_they_are(order: str, size: str) -> None:
    steps = "run ring_reduce_scatter then run ring_allgather"
    assert codes(order + steps, size=size) == []
