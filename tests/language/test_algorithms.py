"""What algorithms become: their transfers, their names, their limits."""

from __future__ import annotations

import time

import numpy as np
import pytest

from collc.base.diagnostics import CollcError
from collc.language import algorithms, parse_source
from collc.language.expressions import FUNCTIONS, log2ceil, pow2_below
from collc.spec import Algorithm, ContractKind, RunStep, Spec

Transfer = tuple[int, int, int, int, int, bool]


def program(algorithm: str, ranks: int = 8, use: str = "mine") -> str:
    return (
        f"target wse2 param P = {ranks} grid row = P x 1 {algorithm} "
        f"collective c = allreduce(x: f32[16], add) on row {{ run {use} }} program {{ c }}"
    )


def run_step(text: str) -> RunStep:
    (step,) = parse_source(text).collectives[0].steps
    assert isinstance(step, RunStep)
    return step


def steps(algorithm: str, ranks: int = 8, use: str = "mine") -> list[list[Transfer]]:
    """Transfers as (source, destination, slice, into, count, combines)."""
    found: Algorithm = run_step(program(algorithm, ranks, use)).algorithm
    return [
        list(
            zip(
                moves.source.tolist(),
                moves.destination.tolist(),
                moves.slice.tolist(),
                moves.into.tolist(),
                moves.count.tolist(),
                moves.combines.tolist(),
                strict=True,
            )
        )
        for moves in found.steps
    ]


def pairs(algorithm: str, ranks: int = 8) -> list[list[tuple[int, int]]]:
    return [[(t[0], t[1]) for t in step] for step in steps(algorithm, ranks)]


def codes(algorithm: str, use: str = "mine", ranks: int = 8) -> list[str]:
    with pytest.raises(CollcError) as caught:
        parse_source(program(algorithm, ranks, use))
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


def test_every_rank_that_the_condition_names_sends() -> None:
    assert pairs("algorithm mine(n) { step { each r where r mod 3 == 2 : r => r - 2 } }") == [
        [(2, 0), (5, 3)]
    ]


def test_lines_of_a_step_stand_in_their_order_and_ranks_within() -> None:
    text = "algorithm mine(n) { step { each r where r > 6 : r => 0 each r where r < 2 : r => 5 } }"
    assert pairs(text) == [[(7, 0), (0, 5), (1, 5)]]


def test_a_range_includes_both_ends_and_may_be_empty() -> None:
    text = "algorithm mine(n) {{ step s in {} {{ each r where r == s : r => 0 }} }}"
    assert pairs(text.format("3 .. 4")) == [[(3, 0)], [(4, 0)]]
    assert pairs(text.format("4 .. 3")) == []


def test_slices_have_ranges_and_places() -> None:
    text = """algorithm mine(n) slices 4 { step {
        each r where r == 1 : slices 1 .. 3  r => 0
        each r where r == 2 : slice 2  r -> 0 as slice 3
        each r where r == 3 : r -> 0
        each r where r == 4 : slices 3 .. 2  r -> 9 } }"""
    assert steps(text) == [[(1, 0, 1, 1, 3, True), (2, 0, 2, 3, 1, False), (3, 0, 0, 0, 4, False)]]


def test_every_pair_of_ranks_may_have_a_transfer() -> None:
    text = "algorithm mine(n) { step { each r, q where q > r : r => q } }"
    assert pairs(text, 3) == [[(0, 1), (0, 2), (1, 2)]]


def test_loops_and_locals_see_what_is_around_them() -> None:
    text = """algorithm mine(n, d) where far(r, k) = r + k * d { for i in 0 .. 1 where j = i + 1 {
        step s in j .. 2 where k = s * j { each r where far(r, k) < n : r => far(r, k) } } }"""
    found = steps(text, 8, "mine(d = 3)")
    assert [[(t[0], t[1]) for t in step] for step in found] == [
        [(r, r + 3) for r in range(5)],
        [(r, r + 6) for r in range(2)],
    ]


def test_a_function_may_be_a_condition_and_may_call_itself() -> None:
    text = """algorithm mine(n) where odd(r) = r == 0 ? 1 == 2 : not odd(r - 1) {
        step { each r where odd(r) : r => r - 1 } }"""
    assert pairs(text, 6) == [[(1, 0), (3, 2), (5, 4)]]


def test_what_has_no_value_for_a_rank_matters_only_where_it_is_used() -> None:
    text = "algorithm mine(n) { step { each r where r > 0 and 6 div r == 2 : r => 6 div r } }"
    assert pairs(text) == [[(3, 2)]]
    text = "algorithm mine(n) { step { each r : r => r == 0 ? 1 : 1 div r == 1 ? 0 : 0 } }"
    assert len(pairs(text)[0]) == 8


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_give_each_rank_what_they_give_a_number(name: str) -> None:
    inside = {"min": "r, 5", "max": "r, 5", "xor": "r, 5", "power": "r, 2", "logfloor": "r + 1, 2"}
    inside |= {"reverse_bits": "r, 4", "pow2": "r"}
    call = f"{name}({inside.get(name, 'r + 1')})"
    text = f"algorithm mine(n) {{ step {{ each r : slice {call}  r => (r + 1) mod n }} }}"
    text = text.replace("(n)", "(n) slices 1000")
    found = [t[2] for t in steps(text, 9)[0]]
    wanted = {
        "isqrt": lambda r: int((r + 1) ** 0.5),
        "pow2": lambda r: 2**r,
        "pow2_below": lambda r: pow2_below(r + 1),
        "log2ceil": lambda r: log2ceil(r + 1),
        "log2floor": lambda r: (r + 1).bit_length() - 1,
        "logfloor": lambda r: (r + 1).bit_length() - 1,
        "power": lambda r: r * r,
        "xor": lambda r: r ^ 5,
        "reverse_bits": lambda r: int(f"{r:04b}"[::-1], 2),
        "min": lambda r: min(r, 5),
        "max": lambda r: max(r, 5),
    }
    assert found == [wanted[name](r) for r in range(9)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("each r : r => r + 1", "C151"),
        ("each r : r => r - 1", "C151"),
        ("each r : r => r", "C153"),
        ("each r where r > 0 : slice n  r => 0", "C152"),
        ("each r where r > 0 : slice 0 - 1  r => 0", "C152"),
        ("each r where r > 0 : slices 0 .. n  r => 0", "C152"),
        ("each r where r > 0 : slices 0 - 1 .. 1  r => 0", "C152"),
        ("each r where r > 0 : slice 0  r -> 0 as slice n", "C152"),
        ("each r where r > 0 : slice 0  r => 0 as slice 1", "C154"),
        ("each r where r > 0 : r -> 0 as slice 1", "C154"),
        ("each r where r > 0 : q -> 0", "C156"),
        ("each r where r > 0 : r => r * 9223372036854775807", "C116"),
        ("each r where r > 0 : r => r - 9223372036854775807 - 9", "C116"),
        ("each r where r > 0 : r => pow2(r * 10)", "C117"),
        ("each r : r => 1 div r", "C115"),
        ("each r where r : r => 0", "C113"),
        ("each r where r > 0 : r => r > 1", "C113"),
    ],
)
def test_a_transfer_that_cannot_be_is_refused(line: str, code: str) -> None:
    assert codes(f"algorithm mine(n) slices n {{ step {{ {line} }} }}") == [code]


@pytest.mark.parametrize(
    "text",
    [
        "algorithm mine(n) { for a in 0 .. 999999999 { } }",
        "algorithm mine(n) { step s in 0 .. 9223372036854775807 { } }",
        "algorithm mine(n) { for a in 0 .. 9999 { for b in 0 .. 9999 { } } }",
        "algorithm mine(n) { step s in 0 .. 9 { each r, q where r != q : r => q } }",
    ],
)
def test_an_algorithm_that_takes_too_much_is_refused_at_once(text: str) -> None:
    began = time.perf_counter()
    assert codes(text, ranks=740) == ["C157"]
    assert time.perf_counter() - began < 20


@pytest.mark.parametrize("argument", ["29", "r + 29"])
def test_equal_calls_of_a_function_are_computed_once(argument: str) -> None:
    fibonacci = "f(x) = x < 2 ? x : f(x - 1) + f(x - 2)"
    each = f"each r : r => f({argument}) mod 1 + (r + 1) mod n"
    text = f"algorithm mine(n) where {fibonacci} {{ step {{ {each} }} }}"
    assert pairs(text, 2) == [[(0, 1), (1, 0)]]


def test_a_function_of_numbers_may_be_a_condition_too() -> None:
    text = """algorithm mine(n) where odd(a) = a == 0 ? 1 == 2 : not odd(a - 1) {
        step { each r where r == 0 and odd(n) and not odd(n + 1) : r => 1 } }"""
    assert pairs(text, 5) == [[(0, 1)]]


def test_a_function_that_calls_itself_for_ever_is_refused() -> None:
    text = "algorithm mine(n) where f(r) = f(r) + f(r) { step { each r : r => f(r) } }"
    assert codes(text) == ["C103"]


def test_many_functions_do_not_multiply_the_work_without_end() -> None:
    chain = ", ".join(f"f{i}(r, q) = f{i - 1}(r, q) + f{i - 1}(q, r)" for i in range(1, 30))
    text = f"algorithm mine(n) where f0(r, q) = r, {chain} {{ step {{ each r : r => f29(r, r) }} }}"
    began = time.process_time()
    assert codes(text) == ["C157"]
    assert time.process_time() - began < 60


def test_expressions_nested_in_functions_do_not_overflow_the_stack() -> None:
    body = "(" * 90 + "r" + " + 1)" * 90
    chain = ", ".join(f"f{i}(r) = {body.replace('r', f'f{i - 1}(r)')}" for i in range(1, 30))
    text = f"algorithm mine(n) where f0(r) = r, {chain} {{ step {{ each r : r => f29(r) }} }}"
    assert codes(text)[0] in ("C103", "C151")


def test_an_algorithm_takes_over_the_steps_of_another_with_equal_slices() -> None:
    text = "algorithm mine(n) slices {} {{ run ring_reduce_scatter(n) run ring_allgather(n) }}"
    assert len(steps(text.format("n"), 5)) == 8
    assert codes(text.format("2 * n")) == ["C152"]
    assert codes("algorithm mine(n) slices 3 { run ring_allgather(3) }") == ["C151"]
    assert codes("algorithm mine(n) { run mine(n) }") == ["C130"]


@pytest.mark.parametrize("ranks", range(1, 12))
def test_neighbours_in_the_order_ring_are_at_most_two_hops_apart(ranks: int) -> None:
    text = program("", ranks, "ring_allreduce").replace("{ run", "{ order ring run")
    places = run_step(text).places
    assert sorted(places) == list(range(ranks))
    assert all(abs(places[r] - places[(r + 1) % ranks]) <= 2 for r in range(ranks))


def grid_program(clauses: str, contract: str = "allreduce(x: f32[16], add)") -> Spec:
    return parse_source(
        f"target wse2 grid g = 5 x 3 collective c = {contract} on g {{ {clauses} }} program {{ c }}"
    )


def test_rows_are_all_rows_and_row_is_the_one_of_rank_0() -> None:
    clauses = "order south_to_north, east_to_west run columns by ring_allreduce "
    every = grid_program(clauses + "then run rows by ring_allreduce").collectives[0].steps
    one = grid_program(clauses + "then run row by ring_allreduce").collectives[0].steps
    lines = [(s.axis, s.lines, s.places[0]) for s in (*every, one[1]) if isinstance(s, RunStep)]
    assert lines == [("y", (0, 4), 2), ("x", (0, 2), 4), ("x", (2, 2), 4)]


def test_a_rooted_contract_has_its_root_at_rank_0_unless_it_is_said() -> None:
    text = (
        "target wse2 grid row = 6 x 1 collective c = gather(x: f32[6]) on row "
        "{{ order east_to_west run linear_gather {} }} program {{ c }}"
    )
    assert parse_source(text.format("")).collectives[0].root == (5, 0)
    assert parse_source(text.format("to 0")).collectives[0].root == (5, 0)
    assert parse_source(text.format("to 2")).collectives[0].root == (3, 0)
    assert parse_source(text.format("to (1, 0)")).collectives[0].root == (1, 0)
    assert grid_program("run columns by ring_allreduce").collectives[0].root is None


def test_a_barrier_has_no_vector() -> None:
    text = "target wse2 grid g = 4 x 1 collective c = barrier() on g { run linear_barrier }"
    contract = parse_source(text + " program { c }").collectives[0].contract
    assert (contract.kind, contract.length) == (ContractKind.BARRIER, 0)


def test_an_all_to_all_of_512_ranks_is_worked_out_quickly() -> None:
    text = (
        "target wse2 grid row = 512 x 1 collective c = all_to_all(x: f32[512]) on row "
        "{ run pairwise_all_to_all } program { c }"
    )
    began = time.perf_counter()
    step = run_step(text)
    assert time.perf_counter() - began < 10  # half a second on an idle machine
    assert len(step.algorithm.steps) == 511
    assert sum(len(moves) for moves in step.algorithm.steps) == 512 * 511
    assert all(np.unique(moves.destination).size == len(moves) for moves in step.algorithm.steps)


@pytest.mark.parametrize(
    ("limit", "most"), [("algorithms.MAX_STEPS", 40), ("expressions.MAX_EVALUATIONS", 400)]
)
def test_what_is_unfolded_already_counts_against_the_limits_of_each_file(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring of 16 ranks has 30 steps, two different ones have 60."""
    head = "target wse2\ngrid row = 16 x 1\n"
    one = "collective {} = {} on row {{ run {} }}\n"
    ring = one.format("a", "allreduce(x: f32[96], add)", "ring_allreduce")
    other = one.format("b", "allgather(y: f32[96])", "ring_allgather")
    other += one.format("c", "reduce_scatter(z: f32[96], add)", "ring_reduce_scatter")
    parse_source(head + ring + other + "program { a b c }")  # now they are known
    monkeypatch.setattr(f"collc.language.{limit}", most)
    parse_source(head + ring + "program { a }")
    with pytest.raises(CollcError) as refused:
        parse_source(head + ring + other + "program { a b c }")
    assert {found.code for found in refused.value.diagnostics} == {"C157"}


def test_what_is_unfolded_already_is_forgotten_before_it_takes_much_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "target wse2\nparam P = 8\ngrid row = P x 1\nprogram { a }\n"
    text += "collective a = allreduce(x: f32[96], add) on row { run ring_allreduce }\n"
    held: dict[object, object] = {}
    monkeypatch.setattr(algorithms._unfolded, "held", held)
    for ranks in range(4, 32):
        parse_source(text.replace("P = 8", f"P = {ranks}"))
    assert [ranks for _, _, ranks in held] == [*range(16, 32)]
    monkeypatch.setattr(algorithms._unfolded, "room", 2 * 15 * 16 + 1)
    parse_source(text.replace("P = 8", "P = 16"))
    assert [ranks for _, _, ranks in held] == [16]
