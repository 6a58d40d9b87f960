"""What `collc list` prints is found, complete, and what the page says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.cli import commands
from collc.language.names import prelude
from collc.language.syntax import AlgorithmDecl, TreeDecl
from collc.patterns import Facts, Kind, all_patterns, facts_of, show_page
from collc.patterns.facts import contracts_of, operand_orders
from collc.pipeline import prove_text
from collc.spec import ContractKind

ROOT = Path(__file__).parents[2]
PATTERNS = {pattern.name: pattern for pattern in all_patterns()}


@pytest.fixture(scope="module")
def found() -> list[Facts]:
    return [facts_of(pattern) for pattern in all_patterns()]


def test_the_page_is_up_to_date(found: list[Facts]) -> None:
    page = (ROOT / "docs" / "patterns.md").read_text(encoding="utf-8")
    assert page == show_page(found), "run `make patterns`"


def test_every_tree_and_algorithm_of_the_prelude_is_there_with_words_about_it() -> None:
    declared = prelude().items()
    names = {name for name, of in declared if isinstance(of, TreeDecl | AlgorithmDecl)}
    assert names <= set(PATTERNS)
    assert all(pattern.about for pattern in PATTERNS.values())


def test_every_example_is_shown_by_some_pattern() -> None:
    shown = {name for pattern in PATTERNS.values() for name in pattern.examples}
    names = {path.stem for path in (ROOT / "examples").glob("*.coll")}
    programs = {name for name in names if name.startswith(("program_", "select"))}
    assert shown == names - programs - {"auto"}


def test_an_example_of_one_tree_of_the_prelude_is_no_pattern_of_its_own() -> None:
    assert PATTERNS["chain"].kind is Kind.TREE
    assert "min_u32" not in PATTERNS
    assert PATTERNS["broadcast"].kind is PATTERNS["allreduce_2d"].kind is Kind.EXAMPLE


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


def test_a_ring_has_another_order_for_each_slice_and_a_pair_two_sides() -> None:
    assert orders_of("run ring_allreduce") == "not rank order, another for each slice"
    assert orders_of("run recursive_doubling") == "not rank order, another at each rank"
    assert orders_of("run pipelined_allreduce(c = 3)") == "rank order"


def test_the_condition_is_quoted_from_the_prelude() -> None:
    assert PATTERNS["butterfly"].requires == "G >= 2 and power(G, k) == n"
    assert PATTERNS["chain"].requires == ""


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


def test_list_of_an_unknown_name_is_wrong_usage() -> None:
    assert run("list", "no_such_pattern")[0] == 2
