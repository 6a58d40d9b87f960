"""`order fixed`: ranks are combined one by one in their order, or the plan is refused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from time import process_time

import numpy as np
import pytest

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text, prove_text
from collc.language import parse_source
from collc.language.show import show_spec, show_steps
from collc.run.expected import expected

KINDS = {"reduce": "reduce", "allreduce": "allreduce", "scattered": "reduce_scatter"}
# what combines rank by rank, and near misses that do not
KEEP = [
    ("reduce", "reduce chain to 5"),
    ("reduce", "reduce star to 0"),
    ("reduce", "order east_to_west reduce chain to 5"),
    ("reduce", "run chain_reduce(root = 5) to 5"),
    ("reduce", "run chain_reduce(root = 4) to 4"),  # 0 to 3, its own, and the last one
    ("reduce", "run ring_reduce(c = 4, root = 5) to 5"),
    ("reduce", "reduce star to 0 then run pipelined_broadcast(c = 2) to 3"),
    ("allreduce", "reduce chain to 5 then broadcast from 5"),
    (
        "allreduce",
        "order ring run ring_reduce(c = 3, root = 5) then run direct_broadcast(root = 5)",
    ),
    ("reduce_scatter", "reduce star to 0 then run linear_scatter"),
    ("reduce_scatter", "run chain_reduce(root = 5) then run direct_broadcast(root = 5)"),
]
BREAK = [
    ("reduce", "reduce chain to 0"),
    ("reduce", "reduce star to 5"),
    ("reduce", "reduce chain to 4"),
    ("reduce", "reduce chain, star to 3"),
    ("reduce", "reduce binomial to 0"),
    ("reduce", "reduce root_bypass(star) to 2"),
    ("reduce", "run chain_reduce(root = 3) to 3"),
    ("reduce", "run ring_reduce(c = 4, root = 4) to 4"),
    ("reduce", "run pipelined_reduce(c = 3)"),
    ("allreduce", "run direct_allreduce"),
    ("allreduce", "run ring_allreduce"),
    ("allreduce", "run recursive_doubling"),
    ("reduce_scatter", "run direct_reduce_scatter"),
    ("reduce_scatter", "run chain_reduce_scatter"),
]


def program(kind: str, steps: str, what: str = "f32[24], add", size: str = "6 x 1") -> str:
    declared = """
operation turned(a, b: f32) commutative = a + b * (1.0 + a)
operation sided(a, b: f32) = b
operation folded(a, b: i32) assume associative = a * 3 + b
operation whole(a, b: i32) commutative = a + b + a * b
"""
    clauses = f"order fixed\n{steps}"
    return (
        f"target wse2\ngrid g = {size}\n{declared}\ncollective c = {kind}(x: {what}) on g {{\n"
        f"{clauses}\n}}\nprogram {{ c }}\n"
    )


def codes(text: str) -> list[str]:
    try:
        prove_text(text, "test.coll", {})
    except CollcError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


@pytest.mark.parametrize(("kind", "steps"), KEEP)
def test_what_goes_on_rank_by_rank_is_accepted(kind: str, steps: str) -> None:
    assert codes(program(kind, steps)) == []


@pytest.mark.parametrize(("kind", "steps"), BREAK)
def test_what_groups_ranks_is_refused_for_rounded_sums_only(kind: str, steps: str) -> None:
    assert codes(program(kind, steps)) == ["C216"]
    for what in ("i32[24], add", "u16[24], xor", "f16[24], max", "i32[24], whole"):
        assert codes(program(kind, steps, what)) == []
    assert codes(program(kind, steps).replace("order fixed\n", "")) == []


def test_operands_of_an_operation_change_sides_only_where_no_bit_can_change() -> None:
    for what in ("f32[24], turned", "f32[24], sided"):
        assert codes(program("reduce", "reduce star to 0", what)) == []
    assert codes(program("reduce", "reduce chain to 5", "f32[24], turned")) == ["C216"]
    same = program("reduce", "reduce chain to 5", "f32[24], turned")
    assert codes(same.replace("b * (1.0 + a)", "b + a * b")) == []


def test_an_operation_that_is_assumed_to_be_associative_is_looked_at() -> None:
    assert codes(program("reduce", "reduce star to 0", "i32[24], folded")) == []
    assert codes(program("reduce", "reduce binomial to 0", "i32[24], folded")) == ["C216"]


@pytest.mark.parametrize("first", ["columns", "rows"])
def test_rows_and_columns_are_groups_and_a_path_is_none(first: str) -> None:
    across = "row" if first == "columns" else "column"
    steps = f"reduce {first} by chain to 0 then reduce {across} by chain to 0 then broadcast from 0"
    text = program("allreduce", steps, size="3 x 4")
    with pytest.raises(CollcError) as caught:
        prove_text(text, "test.coll", {})
    (one,) = caught.value.diagnostics
    assert one.code == "C216" and f"ranks of each {first[:-1]}" in one.message
    for order in ("snake", "row_major", "hilbert"):
        along = f"order {order} reduce chain to 11 then broadcast from 11"
        assert along in (one.help or "") or order != "snake"
        assert codes(program("allreduce", along, size="3 x 4")) == []
        assert (
            codes(program("allreduce", along.replace("chain to 11", "chain to 0"), size="3 x 4"))
            != []
        )


def test_a_grid_of_one_line_and_each_row_of_a_grid_are_lines() -> None:
    assert codes(program("reduce", "reduce chain to 6", size="1 x 7")) == []
    rows = program("reduce", "reduce chain to 3", size="4 x 5").replace("on g", "on each row of g")
    assert codes(rows) == []
    assert codes(rows.replace("to 3", "to 2")) == ["C216"]


@pytest.mark.parametrize(
    ("kind", "run", "what", "chosen"),
    [
        ("allreduce", "run auto", "f32[1], add", "reduce star to 0 then broadcast from (0, 0)"),
        (  # `reduce chain to 5 then broadcast from (5, 0)` takes as many cycles
            "allreduce",
            "run auto",
            "f32[300], add",
            "run chain_reduce(root = 5) then run direct_broadcast(root = 5)",
        ),
        ("reduce", "run auto to 5", "f32[300], mul", "reduce chain to 5"),
        ("reduce", "run auto to 0", "f32[2], add", "reduce star to 0"),
        (
            "reduce",
            "run auto to 2",
            "f16[300], add",
            "run chain_reduce(root = 5) to (2, 0) then run direct_broadcast(root = 5) to (2, 0)",
        ),
        (
            "reduce_scatter",
            "run auto",
            "f32[300], add",
            "run chain_reduce(root = 5) then run direct_broadcast(root = 5)",
        ),
        ("reduce", "run auto to 5", "f32[30], sided", "reduce star to 0 then run pipelined"),
    ],
)
def test_auto_chooses_among_what_goes_on_rank_by_rank(
    kind: str, run: str, what: str, chosen: str
) -> None:
    spec, _ = prove_text(program(kind, run, what), "test.coll", {})
    (one,) = compile_text(program(kind, run, what), "test.coll", {}).spec.collectives
    assert spec.collectives[0].fixed is not None
    assert show_steps(one).startswith(chosen)
    assert one.decision is not None and one.decision.lost


def test_auto_for_whole_numbers_is_as_free_as_without() -> None:
    text = program("allreduce", "run auto", "i32[4], add", "2 x 2")
    with_it, without = (
        compile_text(one, "test.coll", {}).spec.collectives[0]
        for one in (text, text.replace("order fixed\n", ""))
    )
    assert show_steps(with_it) == show_steps(without)


def test_every_length_of_a_choice_keeps_it() -> None:
    bundle = compile_text(program("allreduce", "run auto", "f32[n <= 400], add"), "test.coll", {})
    (one,) = bundle.schedules
    assert (
        show_steps(one.collective)
        == "run chain_reduce(root = 5) then run direct_broadcast(root = 5)"
    )
    auto = """select by n {
        n <= auto: run auto
        else: run auto
    }"""
    text = program("allreduce", auto, "f32[n <= 400], add")
    chosen = [show_steps(s.collective) for s in compile_text(text, "t.coll", {}).schedules]
    assert set(chosen) <= {
        "reduce star to 0 then broadcast from (0, 0)",
        "run chain_reduce(root = 5) then run direct_broadcast(root = 5)",
    }
    beside = """select by n {
        n <= 8: reduce star to 0 then broadcast from 0
        else: reduce binomial to 0 then broadcast from 0
    }"""
    with pytest.raises(CollcError) as caught:
        compile_text(program("allreduce", beside, "f32[n <= 400], add"), "test.coll", {})
    assert [one.code for one in caught.value.diagnostics] == ["C216"]


def test_it_is_shown_and_read_again() -> None:
    text = program("reduce", "reduce chain to 5")
    shown = show_spec(parse_source(text))
    assert "    order fixed\n" in shown
    assert show_spec(parse_source(shown)) == shown


TREES = ("chain", "star", "binomial", "two_phase(S = 2)", "chain_star(S = 2)", "chain, star")
ALGORITHMS = (
    "ring_allreduce",
    "halving_doubling",
    "butterfly(G = 2)",
    "pipelined_allreduce(c = 2)",
    "binary_tree_allreduce(c = 2)",
    "dual_root_allreduce(c = 2)",
    "direct_allreduce",
)


def _many(ranks: int) -> Iterator[str]:
    for order in ("", "order east_to_west "):
        for root in range(ranks):
            for tree in TREES:
                yield f"{order}reduce {tree} to {root} then broadcast from {root}"
    for order in ("", "order ring "):
        yield from (f"{order}run {name}" for name in ALGORITHMS)
        for root in range(ranks):
            spread = f"run direct_broadcast(root = {root})"
            yield f"{order}run chain_reduce(root = {root}) then {spread}"
            yield f"{order}run ring_reduce(c = 3, root = {root}) then {spread}"


def _places(steps: str, ranks: int) -> list[int]:
    forward = list(range(ranks))
    if "ring " in steps:
        return forward[::2] + forward[1::2][::-1]
    return forward[::-1] if "east_to_west" in steps else forward


def test_the_proof_and_numpy_agree_on_what_is_a_left_fold() -> None:
    ranks, seen = 4, []
    dice = np.random.default_rng(3)
    sizes = 10.0 ** dice.uniform(-2, 2, (1, ranks, 96))
    given = (sizes * dice.choice([-1, 1], sizes.shape)).astype(np.float32)
    for steps in _many(ranks):
        fixed = program("allreduce", steps, "f32[96], add", f"{ranks} x 1")
        _, schedule = prove_text(fixed.replace("order fixed\n", ""), "test.coll", {})
        wanted = reduce(np.add, [given[0, place] for place in _places(steps, ranks)])
        same = bool((expected(schedule, given) == wanted).all())
        assert (codes(fixed) == []) == same, steps
        seen.append(same)
    assert 10 < sum(seen) < len(seen) / 2


def test_a_long_line_is_proved_in_little_time() -> None:
    begin = process_time()
    assert (
        codes(program("allreduce", "reduce chain to 749 then broadcast from 749", size="750 x 1"))
        == []
    )
    assert (
        codes(
            program(
                "reduce", "run ring_reduce(c = 64, root = 749) to 749", "f32[640], add", "750 x 1"
            )
        )
        == []
    )
    assert codes(program("reduce", "order snake reduce chain to 3599", size="60 x 60")) == []
    assert process_time() - begin < 10
