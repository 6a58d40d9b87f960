"""What `collc list` prints is found, complete, and what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from collc.driver.pipeline import prove_text
from collc.language.prelude import is_listed, prelude_kinds
from collc.language.syntax import OrderDecl
from collc.patterns import Facts, Kind, all_orders, all_patterns, facts_of, show_page
from collc.patterns.facts import contracts_of, operand_orders
from collc.spec import ContractKind

ROOT = Path(__file__).parents[2]
PATTERNS = {pattern.name: pattern for pattern in all_patterns()}


@pytest.fixture(scope="module")
def found() -> list[Facts]:
    return [facts_of(pattern) for pattern in all_patterns()]


def test_the_page_is_up_to_date(found: list[Facts]) -> None:
    page = (ROOT / "docs" / "patterns.md").read_text(encoding="utf-8")
    assert page == show_page(found, all_orders()), "run `make patterns`"


def test_every_tree_and_algorithm_of_the_prelude_is_there_with_words_about_it() -> None:
    names = {
        name for name, kind in prelude_kinds().items() if kind is not OrderDecl and is_listed(name)
    }
    assert names <= set(PATTERNS)
    assert all(pattern.about for pattern in PATTERNS.values())


def test_every_pattern_has_an_example() -> None:
    assert [pattern.name for pattern in PATTERNS.values() if not pattern.examples] == []


def test_every_example_is_shown_by_some_pattern() -> None:
    shown = {name for pattern in PATTERNS.values() for name in pattern.examples}
    names = {path.stem for path in (ROOT / "examples").glob("*.coll")}
    programs = {name for name in names if name.startswith(("program_", "select", "rotating_"))}
    assert shown == names - programs - {"auto"}


def test_an_example_of_one_tree_of_the_prelude_is_no_pattern_of_its_own() -> None:
    assert PATTERNS["chain"].kind is Kind.TREE
    assert "min_u32" not in PATTERNS
    assert PATTERNS["broadcast"].kind is PATTERNS["allreduce_2d"].kind is Kind.EXAMPLE


@pytest.mark.parametrize("name", ["snake", "row_major", "two_pes", "left_right"])
def test_an_example_of_an_order_of_a_grid_of_twos_or_of_two_trees_is_a_pattern(name: str) -> None:
    assert PATTERNS[name].kind is Kind.EXAMPLE
    used = [pattern for pattern in PATTERNS.values() if name in pattern.examples]
    assert used == [PATTERNS[name]]


def test_an_example_of_so_many_pes_says_how_many() -> None:
    assert PATTERNS["two_pes"].requires == "P == 2"
    assert PATTERNS["snake"].requires == PATTERNS["left_right"].requires == ""


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        ("chain", ContractKind.REDUCE),
        ("halving_doubling", ContractKind.ALLREDUCE),
        ("scatter_allgather", ContractKind.BROADCAST),
        ("reduce_scatter_gather", ContractKind.REDUCE),
        ("ring_reduce_scatter", ContractKind.REDUCE_SCATTER),
        ("bruck_all_to_all", ContractKind.ALL_TO_ALL),
        ("linear_barrier", ContractKind.BARRIER),
        ("broadcast", ContractKind.BROADCAST),
    ],
)
def test_the_contract_is_what_the_proof_finds(name: str, contract: ContractKind) -> None:
    assert contracts_of(PATTERNS[name])[0] is contract


def orders_of(steps: str) -> str:
    text = f"""
        target wse2
        grid row = 6 x 1
        collective total = allreduce(x: f32[12], add) on row {{ {steps} }}
        program {{ total }}
    """
    return operand_orders(prove_text(text, "test.coll", {})[1])


@pytest.mark.parametrize("tree", ["chain", "star", "binomial", "two_phase(S = 4)"])
def test_trees_keep_the_order_of_the_ranks_from_either_side(tree: str) -> None:
    for order in ("west_to_east", "east_to_west"):
        steps = f"order {order} reduce {tree} to 0 then broadcast from 0"
        assert orders_of(steps) == "rank order"


@pytest.mark.parametrize(
    ("name", "operands"),
    [("snake", "rank order"), ("row_major", "rank order"), ("left_right", "not rank order")],
)
def test_along_a_path_ranks_are_its_own(name: str, operands: str) -> None:
    assert facts_of(PATTERNS[name]).operands == operands


def test_a_ring_has_another_order_for_each_slice_and_a_pair_two_sides() -> None:
    assert orders_of("run ring_allreduce") == "not rank order, another for each slice"
    assert orders_of("run recursive_doubling") == "not rank order, another at each rank"
    assert orders_of("run pipelined_allreduce(c = 3)") == "rank order"


def test_the_condition_is_quoted_from_the_prelude() -> None:
    assert PATTERNS["butterfly"].requires == "G >= 2"
    assert PATTERNS["chain"].requires == ""
