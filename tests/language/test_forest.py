from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collc.base.diagnostics import CollcError
from collc.language import parse_source
from collc.spec import ReduceStep, Tree

Children = tuple[tuple[int, ...], ...]


def tree(use: str, n: int, declarations: str = "") -> Tree:
    step = (
        parse_source(
            f"target wse3 {declarations} grid column = 1 x {n}\n"
            "collective c = reduce(x: f32[1], add) on column "
            f"{{ reduce {use} to 0 }} program {{ c }}"
        )
        .collectives[0]
        .steps[0]
    )
    assert isinstance(step, ReduceStep)
    return step.tree


def longest(use: str, declarations: str = "") -> Tree:
    """A tree of as many ranks as a line may have."""
    collective = f"reduce(x: f32[1], add) on g {{ order snake reduce {use} to 0 }}"
    declared = f"target wse3 {declarations} grid g = 302 x 217 collective c = {collective}"
    step = parse_source(declared + " program { c }").collectives[0].steps[0]
    assert isinstance(step, ReduceStep)
    return step.tree


def codes(use: str, n: int, declarations: str = "") -> list[str]:
    with pytest.raises(CollcError) as caught:
        tree(use, n, declarations)
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


def parents(children: Children) -> dict[int, int]:
    return {child: parent for parent, below in enumerate(children) for child in below}


def preorder(children: Children) -> list[int]:
    order, pending = [], [0]
    while pending:
        rank = pending.pop()
        order.append(rank)
        pending.extend(reversed(children[rank]))
    return order


SIZES = (1, 2, 3, 5, 7, 31, 64, 1000, 1170)


@pytest.mark.parametrize("n", SIZES)
def test_in_a_chain_every_rank_receives_from_the_next(n: int) -> None:
    assert tree("chain", n).children == (*((r + 1,) for r in range(n - 1)), ())


@pytest.mark.parametrize("n", SIZES)
def test_in_a_star_rank_0_receives_from_all_nearest_first(n: int) -> None:
    assert tree("star", n).children == (tuple(range(1, n)), *[()] * (n - 1))


@pytest.mark.parametrize("n", SIZES)
def test_in_a_binomial_tree_a_rank_sends_to_itself_without_its_lowest_bit(n: int) -> None:
    assert parents(tree("binomial", n).children) == {r: r & (r - 1) for r in range(1, n)}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 23, 2000])
def test_two_phase_cuts_groups_from_the_far_end(n: int, size: int) -> None:
    first = (n - 1) % size + 1  # ranks of the only group that may be short
    starts = [0, *range(first, n, size)]
    expected = {r: r - 1 for r in range(1, n)}
    expected.update(dict(zip(starts[1:], starts, strict=False)))
    assert parents(tree(f"two_phase(S = {size})", n).children) == expected


def test_two_phase_receives_its_chain_before_the_other_groups() -> None:
    assert tree("two_phase(S = 3)", 8).children[0] == (1, 2)
    assert tree("two_phase(3)", 8).text == "two_phase(S = 3)"


@given(st.integers(1, 60), st.sampled_from(["chain", "star", "binomial", "two_phase(S = 4)"]))
def test_trees_of_the_prelude_are_pre_order(n: int, use: str) -> None:
    assert preorder(tree(use, n).children) == list(range(n))


def test_join_receives_its_second_tree_last() -> None:
    mine = "tree mine(n) = join(join(leaf, 0 <- [1]), join(leaf, leaf))"
    assert tree("mine", 5, mine).children == ((1, 3), (2,), (), (4,), ())


def test_a_shared_part_is_unfolded_at_every_place() -> None:
    mine = "tree pair = 0 <- [1] tree mine(n) = join(pair, join(pair, pair))"
    assert tree("mine", 6, mine).children == ((1, 2), (), (3, 4), (), (5,), ())


def test_a_tree_written_by_hand_may_be_as_deep_as_the_wafer() -> None:
    n = 1000
    literal = " <- [".join(map(str, range(n))) + "]" * (n - 1)
    assert tree("mine", n, f"tree mine = {literal}").children == tree("chain", n).children


def test_parameters_go_by_name_or_by_place_and_show_their_values() -> None:
    mine = "tree mine(n, A, B) = two_phase(n, A + B)"
    assert tree("mine(B = 1, A = 2)", 9, mine).text == "mine(A = 2, B = 1)"
    assert tree("mine(2, B = 1)", 9, mine).children == tree("two_phase(3)", 9).children


def test_a_tree_sees_the_parameters_of_the_file_but_its_own_names_first() -> None:
    mine = "param S = 2 param n = 77 tree mine(n) = two_phase(n, S)"
    assert tree("mine", 9, mine).children == tree("two_phase(2)", 9).children


def test_a_local_without_a_value_matters_only_where_it_is_used() -> None:
    mine = "tree mine(n) = n == 3 ? chain(n) : chain(h) where h = 1 div (n - 3)"
    assert tree("mine", 3, mine).children == tree("chain", 3).children


def test_a_local_sees_those_before_it_only() -> None:
    assert codes("mine", 3, "tree mine(n) = chain(a) where a = b, b = n") == ["C110"]
    assert tree("mine", 3, "tree mine(n) = chain(b) where a = n, b = a").children[0] == (1,)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mine(n)", "C130"),
        ("mine(n + 1)", "C130"),
        ("mine(n - 1)", "C130"),
        ("join(leaf, mine(n))", "C130"),
        ("join(mine(n + 1), mine(n + 2))", "C132"),
        ("n == 0 ? leaf : join(mine(n - 1), mine(n - 1))", "C132"),
        ("n == 0 ? leaf : join(chain(n), mine(n - 1))", "C132"),
        ("join(leaf, chain(n))", "C132"),
        ("n == 1 ? leaf : join(leaf, n)", "C113"),
        ("chain(n) == chain(n) ? leaf : leaf", "C113"),
        ("chain", "C114"),
        ("chain(1, 2)", "C114"),
        ("nobody", "C110"),
        ("nobody(1)", "C110"),
    ],
)
def test_a_tree_that_cannot_be_is_refused_at_once(body: str, expected: str) -> None:
    started = time.process_time()
    assert codes("mine", 900, f"tree mine(n) = {body}") == [expected]
    assert time.process_time() - started < 5


@pytest.mark.parametrize("use", ["chain", "star", "two_phase(S = 65534)"])
def test_a_recursion_may_be_as_deep_as_the_longest_line_has_ranks(use: str) -> None:
    assert len(longest(use).children) == 65_534


def test_a_tree_of_the_longest_line_may_ask_much_at_every_rank() -> None:
    asked = " or ".join(f"n mod {k} == 1" for k in (3, 5, 7, 11, 13, 17))
    mine = f"tree mine(n) = n == 1 ? leaf : {asked} ? join(leaf, mine(n - 1)) : "
    assert len(longest("mine", mine + "join(mine(n - 1), leaf)").children) == 65_534


@given(st.integers(1, 40), st.integers(0, 2**40), st.integers(0, 3))
def test_a_tree_is_right_with_as_many_ranks_as_its_line_and_with_no_more(
    n: int, seed: int, more: int
) -> None:
    # Two trees call each other and cut their ranks at a place that the seed gives, so that equal
    # sizes have other shapes; `here` is the same for every seed, and is computed once.
    declared = """
        tree mine(n, s) = n == 1 ? leaf
            : s mod 4 == 0 ? join(here(a), other(n - a, s div 2))
            : join(other(a, s div 2), mine(n - a, s div 3)) where a = 1 + s mod (n - 1)
        tree other(n, s) = n == 1 ? leaf : n == 2 ? 0 <- [1] : s mod 3 == 0 ? mine(n, s + 1)
            : join(mine(n - a, s div 2), here(a)) where a = 1 + s mod (n - 1)
        tree here(n) = n <= 2 ? chain(n) : join(here(n div 2), here(n - n div 2))
        tree wrong(n, s, more) = mine(n + more, s)
    """
    if more == 0:
        assert preorder(tree(f"wrong({seed}, 0)", n, declared).children) == list(range(n))
    else:
        assert codes(f"wrong({seed}, {more})", n, declared) == ["C132"]


def test_what_is_known_from_a_longer_line_may_be_too_much_for_a_shorter_one() -> None:
    uses = "{ reduce columns by pair(L = 9) to 0 then reduce row by pair(L = 9) to 0 }"
    mine = "tree pair(n, L) = n == L ? join(chain(5), chain(4)) : join(leaf, chain(4))"
    collective = f"collective c = reduce(x: f32[1], add) on g {uses} program {{ c }}"
    with pytest.raises(CollcError) as caught:
        parse_source(f"target wse3 {mine} grid g = 3 x 9 {collective}")
    found = caught.value.diagnostics
    assert [diagnostic.code for diagnostic in found] == ["C132"]
    assert "pair(L = 9) has more than 3 ranks" in found[0].message


@pytest.mark.parametrize(
    ("use", "n", "named"),
    [("groups(S = -3)", 8, "chain(n = -1)"), ("mine", 3, "mine(n = 0)")],
)
def test_a_call_that_has_no_ranks_is_named(use: str, n: int, named: str) -> None:
    groups = "tree groups(n, S) = n <= S ? chain(n) : join(chain((n - 1) mod S + 1), groups(n, S))"
    with pytest.raises(CollcError) as caught:
        tree(use, n, f"tree mine(n) = join(leaf, mine(n - 1))\n{groups}")
    found = caught.value.diagnostics[0]
    assert found.message == f"{use} has more than {n} ranks, the line it is to reduce has {n} PEs"
    assert found.also[0][1] == f"{named} is called here"
    assert found.help.startswith("a tree has at least one rank")


@pytest.mark.parametrize("use", ["two_phase(S = 0)", "chain_star(S = -3)", "mine(S = 0)"])
def test_a_tree_is_for_the_numbers_that_it_requires(use: str) -> None:
    with pytest.raises(CollcError) as caught:
        tree(use, 8, "tree mine(n, S) requires S > 0 and n > 1 or S == 2 = two_phase(n, S + 1)")
    (found,) = caught.value.diagnostics
    assert (found.code, found.help.partition("S so that")[0]) == ("C158", "choose ")
    assert "the tree requires S" in found.message


def test_a_tree_within_a_tree_is_for_the_numbers_that_it_requires_too() -> None:
    with pytest.raises(CollcError, match=r"two_phase\(n = 8, S = 0\): the tree requires S >= 1"):
        tree("mine", 8, "tree mine(n) = two_phase(n, n - 8)")
    tree("mine", 9, "tree mine(n) = two_phase(n, n - 8)")


def test_a_call_that_has_no_ranks_and_joins_nothing_is_named() -> None:
    with pytest.raises(CollcError) as caught:
        tree("mine", 3, "tree mine(n) = mine(n - 1)")
    assert caught.value.diagnostics[0].message.startswith("mine(n = 0) comes to no leaf")


def test_a_recursion_that_grows_is_not_told_to_have_no_ranks() -> None:
    with pytest.raises(CollcError) as caught:
        tree("mine", 8, "tree mine(n) = mine(n + 1)")
    assert caught.value.diagnostics[0].message == "mine is called more than 65536 calls deep"
    with pytest.raises(CollcError) as caught:
        tree("mine", 8, "tree mine(n) = join(leaf, mine(n + 1))")
    found = caught.value.diagnostics[0]
    assert found.also[0][1] == "mine(n = 16) is called here, beside 8 ranks at least"
    assert "no rank" not in found.help


MANY = ", ".join(f"p{k}" for k in range(2000))


@pytest.mark.parametrize(
    ("mine", "given"),
    [
        ("mine(n, a) = n == 0 ? leaf : join(mine(n - 1, 2 * a), mine(n - 1, 2 * a + 1))", "a = 0"),
        ("mine(n, a) = n == 99 ? leaf : join(mine(n + 1, 2 * a), mine(n + 1, a + 1))", "a = 0"),
        ("mine(n, a) = join(yours(n, 2 * a), leaf) tree yours(n, a) = mine(n, a + 1)", "a = 0"),
        (
            f"mine(n, {MANY}) = join(mine(n, p0 + 1, {MANY[4:]}), mine(n, 2, {MANY[4:]}))",
            ", ".join("3" * 2000),
        ),
    ],
    ids=["falls", "rises", "of two", "many numbers"],
)
def test_a_recursion_with_ever_new_numbers_is_stopped(mine: str, given: str) -> None:
    started = time.process_time()
    assert codes(f"mine({given})", 40, f"tree {mine}") == ["C132"]
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("0 <- [1, 1]", ["C134"]),
        ("0 <- [0]", ["C134"]),
        ("0 <- [1 <- [2 <- [1]]]", ["C134"]),
        ("0 <- [2]", ["C133"]),
        ("0 <- [2, 1]", ["C136"]),
        ("0 <- [1 <- [3], 2]", ["C136"]),
        ("0 <- [5000]", ["C135"]),
        ("0 <- [99999999999999999999999]", ["C135"]),
        ("1 <- [0]", ["C137"]),
        ("0 <- [1, 2, 3]", ["C132"]),
        ("0 <- [1 <- [2]]", []),
        ("0 <- [1, 2]", []),
    ],
)
def test_a_tree_written_by_hand_is_judged_rank_by_rank(literal: str, expected: list[str]) -> None:
    if expected:
        assert codes("mine", 3, f"tree mine = {literal}") == expected
    else:
        assert len(tree("mine", 3, f"tree mine = {literal}").children) == 3
