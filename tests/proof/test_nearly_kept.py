"""Schedules that break their contract in one place only, and what is said about them."""

from __future__ import annotations

import random

import pytest

import collc.proof.line
from collc.base.diagnostics import Diagnostic
from collc.language import parse_source
from collc.proof import prove
from collc.schedule import ReducePhase, Schedule, build_schedule
from tests.proof.algorithms import Case, lengths, names, of_length, uses
from tests.proof.test_algorithms import CHANGES, mutant


def schedule_of(contract: str, steps: str, grid: str = "5 x 1", declared: str = "") -> Schedule:
    text = f"target wse2 grid g = {grid} {declared} collective c = {contract} on g {{ {steps} }}"
    return build_schedule(parse_source(f"{text} program {{ c }}").collectives[0])


def refused(contract: str, steps: str, grid: str = "5 x 1", declared: str = "") -> Diagnostic:
    (problem,) = prove(schedule_of(contract, steps, grid, declared))
    return problem


INWARD = """algorithm inward(n) { step { each r where r > 0 and r < 4 : r -> 0 } }
algorithm slices_inward(n) slices n { step { each r where r > 0 and r < 4 : slice r  r -> 0 } }"""


def test_what_arrived_is_told_step_by_step_and_run_by_run() -> None:
    problem = refused("barrier()", "run inward then run inward", declared=INWARD)
    arrow, again = "(->)", "inward (run 2) step 0 from rank"
    first = ", ".join(f"inward step 0 from rank {rank} {arrow}" for rank in (1, 2, 3))
    second = ", ".join(f"{again} {rank} {arrow}" for rank in (1, 2, 3))
    assert problem.message == (
        f"rank 0 may end before rank 4 has begun; what arrives there: {first}, {second}"
    )


def test_the_slice_that_is_wrong_is_named() -> None:
    problem = refused("gather(x: f32[10])", "run slices_inward", declared=INWARD)
    assert problem.message == (
        "rank 0 ends with what is rank 0's in elements 8 to 9 (slice 4), where rank 4's is due; "
        "nothing arrives there"
    )


def test_what_a_rank_has_sent_along_a_tree_it_does_not_keep() -> None:
    """A PE may combine what it receives in its own vector, whatever the tree."""
    kept = "contract kept(n) { after each r where r == %s : r has r }"
    steps = "reduce star to 0"
    problem = refused("kept(x: f32[10], add)", steps, declared=kept % 1)
    assert problem.message.startswith("rank 1 ends with what nobody had before or kept")


@pytest.mark.parametrize("root", [1, 2, 5, 6])
def test_a_rank_without_a_vector_is_passed_over_by_a_root_bypass(root: int) -> None:
    for tree in ("star", "chain", "binomial"):
        steps = f"reduce root_bypass({tree}) to {root}"
        schedule = schedule_of("reduce(x: f32[10], add)", steps, grid="8 x 1")
        (phase,) = schedule.phases
        assert isinstance(phase, ReducePhase) and phase.idle
        assert list(prove(schedule)) == []


ON_SLICES = "run rows by {} then run columns by {} on slices then run columns by {} on slices "


def test_the_first_line_on_slices_is_pointed_at_where_they_stand_in_the_wrong_place() -> None:
    steps = ("chain_reduce_scatter", "chain_reduce(root = 1)", "direct_broadcast(root = 1)")
    what, grid = "allreduce(x: f32[27], add)", "3 x 3"
    right = ON_SLICES.format(*steps) + "then run rows by direct_allgather"
    assert list(prove(schedule_of(what, right, grid))) == []
    wrong = ON_SLICES.format(*steps) + "then run columns by direct_allgather"
    schedule = schedule_of(what, wrong, grid)
    (problem,) = prove(schedule)
    assert "lines on slices stand between lines across" in problem.message
    assert problem.at == schedule.phases[1].span != schedule.phases[0].span


@pytest.mark.parametrize(("slices", "said"), [(1, ""), (2, " (slice 0)")])
def test_of_a_vector_that_is_not_cut_no_slice_is_named(slices: int, said: str) -> None:
    declared = f"""algorithm to_some(n) slices {slices} {{
        step {{ each r, q where r == 0 and q > 1 : slice 0  r -> q }}
    }}"""
    problem = refused("broadcast(x: f32[10])", "run to_some", declared=declared)
    assert f"{said}, where rank 0's is due" in problem.message
    assert ("slice" in problem.message) == bool(said)


RINGS = ("ring_allgather", "ring_reduce_scatter")


@pytest.mark.parametrize(
    ("contract", "steps", "words"),
    [
        (
            "allgather(x: f32[30])",
            "run rows by {0} then run column by {0}",
            "leaves columns out that allgather needs",
        ),
        (
            "reduce_scatter(x: f32[30], add)",
            "run column by {1} then run rows by {1}",
            "leaves columns out that reduce_scatter needs",
        ),
        (
            "gather(x: f32[30])",
            "run row by linear_gather then run column by linear_gather",
            "leaves rows out that gather needs",
        ),
        (
            "gather(x: f32[30])",
            "reduce columns by chain then run row by linear_gather",
            "is about whole vectors, the contract about slices of a grid",
        ),
        (
            "allgather(x: f32[30])",
            "reduce columns by chain then run row by linear_gather",
            "is about whole vectors, the contract about slices of a grid",
        ),
    ],
)
def test_lines_that_are_left_out_and_whole_vectors_are_told(
    contract: str, steps: str, words: str
) -> None:
    problem = refused(contract, steps.format(*RINGS), grid="5 x 3")
    assert problem.code == "C204" and words in problem.message


def test_a_gather_needs_one_line_across_only() -> None:
    steps = "run rows by linear_gather then run column by linear_gather"
    assert list(prove(schedule_of("gather(x: f32[30])", steps, grid="5 x 3"))) == []


OWN = """contract handed_on(n) slices n { after each r : r has slice r of (r - 1) mod n }
algorithm handing_on(n) slices n { step { each r : slice (r + 1) mod n  r -> (r + 1) mod n } }
algorithm handing_back(n) slices n { step { each r where r != 3 : slice r  r -> (r + 1) mod n } }"""


AT_A_TIME = 3  # segments of contributions of four places, eight bytes each


def in_one_go_and_segment_by_segment(
    schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[str]]:
    """Messages; by parts some segments at a time, the last time fewer."""
    whole = [problem.message for problem in prove(schedule)]
    with monkeypatch.context() as few:
        few.setattr(collc.proof.line, "_MOST_BYTES", AT_A_TIME * 8 * 4)
        return whole, [problem.message for problem in prove(schedule)]


@pytest.mark.parametrize(("contract", "name"), names())
def test_what_is_proved_segment_by_segment_is_what_is_proved_in_one_go(
    contract: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = random.Random(name)
    for use in uses(name, 4):
        schedule = Case(contract, use, 4, 8).schedule()
        for length in lengths(contract, 4):
            whole, parts = in_one_go_and_segment_by_segment(
                of_length(schedule, length), monkeypatch
            )
            assert whole == parts == []
        for change in CHANGES if contract != "barrier" else ():
            wrong = mutant(schedule, change, pick)
            if wrong is not None:
                whole, parts = in_one_go_and_segment_by_segment(wrong, monkeypatch)
                assert whole == parts


def test_a_contract_of_ones_own_is_proved_segment_by_segment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = schedule_of("handed_on(x: f32[15])", "run handing_on", declared=OWN)
    assert in_one_go_and_segment_by_segment(right, monkeypatch) == ([], [])
    wrong = schedule_of("handed_on(x: f32[15])", "run handing_back", declared=OWN)
    whole, parts = in_one_go_and_segment_by_segment(wrong, monkeypatch)
    assert whole == parts != []
