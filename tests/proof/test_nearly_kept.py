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


def at_a_time(segments: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contributions of four places, of eight bytes each, are followed for so many segments."""
    monkeypatch.setattr(collc.proof.line, "_MOST_BYTES", segments * 8 * 4)


def in_one_go_and_segment_by_segment(
    schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[str]]:
    """What is wrong with a schedule; by parts one segment at a time, and as well three."""
    whole = [problem.message for problem in prove(schedule)]
    with monkeypatch.context() as few:
        at_a_time(3, few)
        several = [problem.message for problem in prove(schedule)]
        at_a_time(1, few)
        single = [problem.message for problem in prove(schedule)]
    assert several == single
    return whole, single


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


MANY = 70  # more than a word has bits


@pytest.mark.parametrize("left_out", [0, 63, 64, 65, 69])
def test_of_more_ranks_than_a_word_has_bits_each_is_told_from_all_others(left_out: int) -> None:
    declared = f"""contract handed_on(n) {{ after each r : r has (r - 1) mod n }}
    algorithm all_hand_on(n) {{ step {{ each r : r -> (r + 1) mod n }} }}
    algorithm some_hand_on(n) {{ step {{ each r where r != {left_out} : r -> (r + 1) mod n }} }}"""
    what, grid = "handed_on(x: f32[8])", f"{MANY} x 1"
    assert list(prove(schedule_of(what, "run all_hand_on", grid, declared))) == []
    wrong = refused(what, "run some_hand_on", grid, declared)
    assert wrong.message.startswith(f"rank {(left_out + 1) % MANY} ends with what is rank")


@pytest.mark.parametrize("slices", ["slice 1", "slice 2", "slices 1 .. 2"])
def test_of_several_slices_that_are_promised_together_none_is_left_out(slices: str) -> None:
    declared = f"""contract shifted(n) slices 4 {{
        after each r : r has slices 1 .. 2 of (r - 1) mod n
    }}
    algorithm one_step(n) slices 4 {{ step {{ each r : {slices}  r -> (r + 1) mod n }} }}"""
    problems = list(prove(schedule_of("shifted(x: f32[8])", "run one_step", declared=declared)))
    assert bool(problems) == (slices != "slices 1 .. 2")


LAST_SLICE = """algorithm some(n) slices 2 {{ step {{
    each r where r > 0 : slice 0  r => 0
    each r where r > {} : slice 1  r => 0
}} }}"""


@pytest.mark.parametrize(("above", "code"), [(0, None), (1, "C201")])
def test_a_contribution_that_lacks_in_the_last_segments_only_is_missed(
    above: int, code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = LAST_SLICE.format(above)
    schedule = schedule_of("reduce(x: f32[8], add)", "run some", "4 x 1", declared)
    whole, parts = in_one_go_and_segment_by_segment(schedule, monkeypatch)
    assert whole == parts
    assert [problem.code for problem in prove(schedule)] == [code] * bool(code)


ON_A_GRID = """algorithm spread(n) slices 2 {{ step {{
    each r, q where r == {0} and q != r : slice 0  r -> q
    each r, q where r == {1} and q != r : slice 1  r -> q
}} }}"""


@pytest.mark.parametrize(("of", "right"), [((0, 0), True), ((0, 1), False), ((1, 1), False)])
def test_on_a_grid_every_segment_of_a_result_is_spread_from_where_it_is(
    of: tuple[int, int], right: bool
) -> None:
    steps = "reduce columns by chain then reduce row by chain "
    steps += "then run row by spread then run columns by direct_broadcast(root = 0)"
    declared = ON_A_GRID.format(*of)
    schedule = schedule_of("allreduce(x: f32[8], add)", steps, "4 x 3", declared)
    assert (list(prove(schedule)) == []) == right


@pytest.mark.parametrize("source", [1, 63, 64, 69])
@pytest.mark.parametrize(("arrow", "right"), [("->", True), ("=>", False)])
def test_on_a_grid_a_result_that_is_there_is_copied_and_not_added_once_more(
    arrow: str, right: bool, source: int
) -> None:
    """To PE (0, 0) from another one of its row, in the same word of a set and in the next one."""
    declared = f"algorithm again(n) {{ step {{ each r where r == {source} : r {arrow} 0 }} }}"
    steps = "reduce columns by chain then reduce row by chain "
    steps += "then run row by direct_broadcast(root = 0) then run row by again "
    steps += "then run columns by direct_broadcast(root = 0)"
    schedule = schedule_of("allreduce(x: f32[8], add)", steps, f"{MANY} x 2", declared)
    assert [problem.code for problem in prove(schedule)] == ([] if right else ["C204"])


FOLDING = """algorithm one_by_one(n) slices 2 {
    step { each r where r == 0 : slices 0 .. 1  r => r + 1 }
    step { each r where r == 1 : slices 0 .. 1  r => r + 1 }
    step { each r where r == 2 : slices 0 .. 1  r => r + 1 }
}
algorithm in_pairs(n) slices 2 {
    step { each r where r == 0 : slices 0 .. 1  r => r + 1 }
    step {
        each r where r == 1 : slice 0  r => r + 1
        each r where r == 2 : slice 1  r => r + 1
    }
    step {
        each r where r == 2 : slice 0  r => r + 1
        each r where r == 1 : slice 1  r => r + 2
    }
}"""


@pytest.mark.parametrize(("name", "codes"), [("one_by_one", []), ("in_pairs", ["C216"])])
def test_operands_that_are_grouped_otherwise_in_the_last_segments_only_are_found(
    name: str, codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = f"order fixed run {name} to 3"
    schedule = schedule_of("reduce(x: f32[8], add)", steps, "4 x 1", FOLDING)
    whole, parts = in_one_go_and_segment_by_segment(schedule, monkeypatch)
    assert whole == parts
    assert [problem.code for problem in prove(schedule)] == codes


def test_fewer_segments_at_a_time_are_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_time(3, monkeypatch)
    schedule = schedule_of("reduce(x: f32[8], add)", "run ring_reduce(c = 8, root = 0)", "4 x 1")
    blocks = list(collc.proof.line.Line(schedule, "x").blocks())
    assert [(one.first, one.last) for one in blocks] == [(0, 3), (3, 6), (6, 8)]


def test_of_several_ranks_that_are_missing_the_first_is_named() -> None:
    declared = "algorithm some(n) { step { each r where r == 1 or r == 2 : r => 0 } }"
    problem = refused("reduce(x: f32[10], add)", "run some", declared=declared)
    assert problem.message.startswith(
        "rank 0 ends without the contribution of rank 3 in elements 0 to 9: it has 0 to 2; "
    )
