"""Contracts about slices on grids: along one axis, then along the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from mismatches import mismatch

from collc.language import parse_source
from collc.proof import prove
from collc.run.expected import expected, make_input
from collc.schedule import Schedule, build_schedule
from collc.spec.exchange import Blocks
from collc.spec.slice_ownership import owners

ALLGATHER = ("allgather", "run rows by {} then run columns by {}", "ring_allgather")
GATHER = ("gather", "run rows by {} then run column by {}", "binomial_gather")
SCATTER = ("scatter", "run column by {} then run rows by {}", "linear_scatter")
REDUCE_SCATTER = (
    "reduce_scatter",
    "run columns by {} then run rows by {}",
    "direct_reduce_scatter",
)
ALL_TO_ALL = ("all_to_all", "run columns by {} then run rows by {}", "pairwise_all_to_all")
ROWS_FIRST = ("all_to_all", "run rows by {} then run columns by {}", "linear_all_to_all")
KINDS = (ALLGATHER, GATHER, SCATTER, REDUCE_SCATTER, ALL_TO_ALL, ROWS_FIRST)


def schedule_of(
    kind: str, clauses: str, size: str = "5 x 3", length: int = 30, operation: str = "add"
) -> Schedule:
    of = f", {operation}" if kind == "reduce_scatter" else ""
    text = (
        f"target wse2 grid g = {size} operation last(a, b: f32) = b "
        f"collective c = {kind}(x: f32[{length}]{of}) on g {{ {clauses} }} program {{ c }}"
    )
    return build_schedule(parse_source(text).collectives[0])


def of_kind(kind: tuple[str, str, str], size: str, length: int, order: str = "") -> Schedule:
    name, clauses, algorithm = kind
    return schedule_of(name, order + clauses.format(algorithm, algorithm), size, length)


@pytest.mark.parametrize("size", ["5 x 3", "2 x 4", "1 x 5", "4 x 1", "1 x 1"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0]}, {kind[1][:12]}")
def test_a_contract_is_kept_on_grids_of_all_sizes(kind: tuple[str, str, str], size: str) -> None:
    width, height = map(int, size.split(" x "))
    for length in (1, 2, 7, 8, 31):
        for order in ("", "order ring "):
            elements = length * width * height if kind[0] == "all_to_all" else length
            schedule = of_kind(kind, size, elements, order)
            assert list(prove(schedule)) == []
            given = make_input(schedule.collective, 1)
            assert mismatch(schedule, given, expected(schedule, given)) == ""


def test_ranks_are_counted_row_by_row_or_along_the_direction_that_is_named_first() -> None:
    found = dict(owners(of_kind(ALLGATHER, "4 x 3", 24).collective))
    assert found[0, 0] == slice(0, 2) and found[1, 0] == slice(2, 4)
    assert found[0, 1] == slice(8, 10) and found[3, 2] == slice(22, 24)
    columns = "order south_to_north, west_to_east run columns by ring_allgather "
    columns += "then run rows by ring_allgather"
    schedule = schedule_of("allgather", columns, "4 x 3", 24)
    assert list(prove(schedule)) == []
    found = dict(owners(schedule.collective))
    assert found[0, 2] == slice(0, 2) and found[0, 1] == slice(2, 4) and found[1, 2].start == 6


@pytest.mark.parametrize("length", range(1, 40))
def test_slices_differ_by_an_element_at_most_and_leave_none_out(length: int) -> None:
    parts = [part for _, part in owners(of_kind(ALLGATHER, "4 x 3", length).collective)]
    assert parts[0].start == 0 and parts[-1].stop == length
    assert all(one.stop == two.start for one, two in pairwise(parts))
    assert {part.stop - part.start for part in parts} <= {length // 12, -(-length // 12)}


RINGS = ("ring_allgather", "ring_reduce_scatter")
WRONG = [
    ("allgather", "run columns by ring_allgather then run rows by ring_allgather", "C204"),
    ("gather", "run column by linear_gather then run rows by linear_gather", "C204"),
    ("reduce_scatter", "run rows by {1} then run columns by {1}", "C204"),
    ("scatter", "run rows by linear_scatter then run columns by linear_scatter", "C204"),
    ("allgather", "run rows by ring_allgather", "C204"),
    ("allgather", "run row by ring_allgather then run columns by ring_allgather", "C204"),
    ("allgather", "run rows by {0} then run columns by {0} then run rows by {0}", "C204"),
    ("allgather", "run rows by {0} then run columns by ring_allreduce", "C212"),
    ("allgather", "run rows by scatter_allgather then run columns by {0}", "C208"),
    ("reduce_scatter", "run columns by {0} then run rows by {1}", "C201"),
    ("scatter", "run column by {0} then run rows by linear_scatter", "C208"),
    ("reduce_scatter", "reduce columns by chain then run rows by linear_scatter", "C204"),
    ("all_to_all", "run columns by {0} then run rows by linear_all_to_all", "C207"),
]


@pytest.mark.parametrize(("kind", "clauses", "code"), WRONG)
def test_what_does_not_keep_its_contract_is_refused(kind: str, clauses: str, code: str) -> None:
    schedule = schedule_of(kind, clauses.format(*RINGS))
    assert [problem.code for problem in prove(schedule)][:1] == [code]


def test_the_wrong_axis_first_is_told_with_the_order_that_would_do() -> None:
    (problem,) = prove(schedule_of(*WRONG[0][:2]))
    assert "only their slices follow each other" in problem.message
    assert problem.help is not None and "`order north_to_south, west_to_east`" in problem.help


def test_ranks_of_several_lines_are_not_combined_in_their_order() -> None:
    name, clauses, algorithm = REDUCE_SCATTER
    steps = clauses.format(algorithm, algorithm)
    (problem,) = prove(schedule_of(name, steps, operation="last"))
    assert problem.code == "C203" and "several lines" in problem.message


def test_a_line_that_works_on_the_block_of_another_is_refused() -> None:
    schedule = of_kind(ALLGATHER, "4 x 3", 24)
    rows, columns = schedule.phases
    turned = Schedule(schedule.collective, (replace(rows, blocks=Blocks(24, (2, 1, 0))), columns))
    assert "other blocks than theirs" in next(prove(turned)).message


def test_slices_that_leave_their_block_are_refused() -> None:
    schedule = of_kind(ALL_TO_ALL, "4 x 3", 24)
    columns, rows = schedule.phases
    first = rows.steps[0]
    into = np.where(first.into == 0, 4, first.into).astype(np.int32)
    mixed = replace(rows, steps=(replace(first, into=into), *rows.steps[1:]))
    (problem,) = prove(Schedule(schedule.collective, (columns, mixed)))
    assert "from block to block" in problem.message


def test_one_block_that_is_treated_differently_is_found() -> None:
    schedule = of_kind(ALL_TO_ALL, "4 x 3", 24)
    columns, rows = schedule.phases
    last = rows.steps[-1]
    kept = np.arange(len(last)) < len(last) - 1
    short = replace(last, **{name: of[kept] for name, of in vars(last).items()})
    lacking = replace(rows, steps=(*rows.steps[:-1], short))
    assert [p.code for p in prove(Schedule(schedule.collective, (columns, lacking)))] == ["C207"]
