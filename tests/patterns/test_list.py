"""`collc list`: what a word finds, and what is printed of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.cli import commands
from collc.language.kinds import ORDER_WORDS
from collc.patterns import Entry, Found, Kind, all_orders, all_patterns, meant_by, near, search
from collc.patterns.elsewhere import INSTEAD, KINDS, SAME

EXAMPLES = Path(__file__).parents[2] / "examples"
KNOWN: tuple[Entry, ...] = (*all_patterns(), *all_orders())


def found(word: str) -> list[str]:
    return [entry.name for entry in search(word, KNOWN).entries]


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("chain", ["chain"]),
        ("scalar", ["star"]),
        ("Left-Right", ["left_right"]),
        ("reduce broadcast", ["allreduce_row"]),
        ("SIMD-64", ["two_pes"]),
        ("Bruck", ["bruck_all_to_all"]),
        ("bucket", ["ring_reduce_scatter", "ring_allgather", "ring_allreduce"]),
        ("multicast", ["broadcast"]),
        ("two-tier", ["allreduce_2d"]),
        ("Auto-Gen", ["optimal"]),
        ("folded ring", ["ring"]),
        ("row-major", ["row_major", "row_major"]),
    ],
)
def test_a_name_finds_what_is_called_so_however_it_is_spelled(word: str, names: list[str]) -> None:
    assert found(word) == names


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("two-level", "two_phase"),
        ("Rabenseifner", "halving_doubling"),
        ("recursive halving", "recursive_halving_reduce_scatter"),
        ("tree", "binary_tree_allreduce"),
        ("ring", "ring_reduce"),
    ],
)
def test_a_name_of_several_finds_all_of_them(word: str, name: str) -> None:
    assert name in found(word)
    assert len(found(word)) > 1


def test_a_word_that_is_no_name_finds_what_is_said_with_it() -> None:
    assert {"snake", "hilbert", "allreduce_2d"} <= set(found("grid"))
    assert "chain" not in found("grid")
    assert found("rid") == []  # words are found from their beginning on


def test_what_has_a_name_in_its_words_is_named_besides() -> None:
    assert {"chain_star", "two_phase"} <= set(search("chain", KNOWN).more)
    assert search("butterfly", KNOWN).more == ("recursive_doubling",)
    assert search("grid", KNOWN).more == ()
    assert search("", KNOWN) == Found((), ())


def test_names_that_are_near() -> None:
    assert near("brodcast", KNOWN)[0] == "broadcast"
    assert near("rabenseifer", KNOWN)[0] == "Rabenseifner"
    assert near("zzz", KNOWN) == ()


def test_every_order_is_there_with_an_example_that_says_it() -> None:
    orders = {order.name: order for order in all_orders()}
    assert set(orders) >= ORDER_WORDS | {"snake", "row_major"}
    for order in orders.values():
        assert order.examples, order.name
        for name in order.examples:
            assert order.name in (EXAMPLES / f"{name}.coll").read_text()


def test_the_hops_of_an_order_are_those_between_its_pes() -> None:
    hops = {order.name: (order.next_hops, order.back_hops) for order in all_orders()}
    assert hops["west_to_east"] == hops["south_to_north"] == (1, 7)
    assert hops["ring"] == (2, 1)
    assert hops["snake"] == hops["hilbert"] == (1, 7)
    assert hops["row_major"] == (8, 14)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(commands, arguments)
    return result.exit_code, result.output


def test_list_prints_the_patterns_asked_for() -> None:
    status, text = run("list", "chain", "ring_allreduce")
    assert status == 0
    assert "2 * (P - 1) * (ramp + 1) + B" in text
    assert "binomial" not in text


def test_list_as_data() -> None:
    status, text = run("list", "--json", "butterfly")
    (data,) = json.loads(text)["patterns"]
    assert status == 0
    assert data["contract"] == "allreduce"
    assert data["parameters"] == ["G"]
    assert data["fewest_colors"] <= data["colors"]


def test_list_says_how_a_pattern_is_written_and_what_shows_it() -> None:
    status, text = run("list", "butterfly")
    assert status == 0
    assert "run butterfly(G = 2)" in text or "run butterfly(G = 4)" in text
    assert "also called  recursive multiplying" in text
    assert "collc example butterfly" in text


def test_list_shows_an_order_beside_the_example_of_its_name() -> None:
    status, text = run("list", "hilbert")
    assert status == 0
    assert "order hilbert: " in text
    assert "hilbert    allreduce" in text or "hilbert  allreduce" in text


def test_orders_as_data() -> None:
    _, text = run("list", "--json", "folded ring")
    data = json.loads(text)
    assert data["patterns"] == []
    (order,) = data["orders"]
    assert (order["name"], order["hops_to_next"]) == ("ring", 2)


@pytest.mark.parametrize("word", ["allreduce", "MPI_Iallreduce", "ncclAllReduce", "all-reduce"])
def test_a_contract_finds_what_is_for_it_by_all_its_names(word: str) -> None:
    status, text = run("list", "--json", word)
    patterns = {one["name"]: one["contract"] for one in json.loads(text)["patterns"]}
    assert status == 0
    assert set(patterns.values()) == {"allreduce"}
    assert {"recursive_doubling", "halving_doubling", "binary_blocks", "butterfly"} <= set(patterns)


def test_reduce_finds_every_tree() -> None:
    _, text = run("list", "--json", "reduce")
    trees = {one.name for one in all_patterns() if one.kind is Kind.TREE}
    assert trees <= {one["name"] for one in json.loads(text)["patterns"]}


@pytest.mark.parametrize(
    ("word", "told", "name"),
    [
        ("MPI_Alltoall", "MPI_Alltoall is called all_to_all here", "bruck_all_to_all"),
        ("alltoallv", "alltoallv: see all_to_all; all slices have one length", "bruck_all_to_all"),
        ("gemv", "gemv: see reduce; ", "two_phase"),
        ("double binary tree", "see dual_root_allreduce; the nearest", "dual_root_allreduce"),
    ],
)
def test_a_name_from_elsewhere_is_told_with_what_it_is_here(
    word: str, told: str, name: str
) -> None:
    status, text = run("list", word)
    assert status == 0
    assert told in text.partition("\n")[0]
    assert name in text


def test_every_name_of_the_table_finds_something() -> None:
    for word in (*SAME, *INSTEAD, *KINDS):
        meant = meant_by(word)
        assert meant is not None, word
        assert meant.contract or meant.kind or search(meant.name, KNOWN).entries, word


def test_kinds_are_listed() -> None:
    _, text = run("list", "--json", "orders")
    assert {one["name"] for one in json.loads(text)["orders"]} == {one.name for one in all_orders()}


def test_list_of_an_unknown_name_is_wrong_usage_and_says_what_is_near() -> None:
    status, text = run("list", "brodcast")
    assert status == 2
    assert "did you mean broadcast or reduce_broadcast or direct_broadcast?" in text
    status, text = run("list", "zzz")
    assert status == 2
    assert "`collc list` shows all" in text


def test_what_was_found_out_is_kept_and_printed_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = ["list", "chain", "binomial_gather", "--json"]
    first = CliRunner().invoke(commands, words)
    monkeypatch.delattr("collc.commands.list.facts_of")
    assert CliRunner().invoke(commands, words).output == first.output
    assert len(json.loads(first.output)["patterns"]) == 2
    other = CliRunner().invoke(commands, ["list", "star"])
    assert isinstance(other.exception, NameError)  # of what is not kept
