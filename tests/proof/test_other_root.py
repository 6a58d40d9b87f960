"""An algorithm with another root than the contract's: the message says so, and all that it advises
compiles for the same contract."""

from __future__ import annotations

import re

import pytest

from collc.base.diagnostics import CollcError, Diagnostic
from collc.driver.pipeline import compile_text

GRID = "run rows by linear_gather to {0} then run column by linear_gather to {0}"
ROOTS = [
    ("gather", "8 x 1", "", "run linear_gather {}", "to 3"),
    ("gather", "8 x 1", "", "run binomial_gather {}", "to 7"),
    ("gather", "8 x 1", "order east_to_west", "run linear_gather {}", "to 7"),
    ("gather", "1 x 8", "", "run linear_gather {}", "to 5"),
    ("gather", "1 x 8", "", "run linear_gather {}", "to 7"),
    ("scatter", "8 x 1", "", "run linear_scatter {}", "from 3"),
    ("scatter", "8 x 1", "", "run binomial_scatter {}", "from 7"),
    ("broadcast", "8 x 1", "", "run pipelined_broadcast(c = 2) {}", "from 3"),
    ("broadcast", "8 x 1", "", "run scatter_allgather {}", "from 1"),
    ("reduce", "8 x 1", "", "run reduce_scatter_gather {}", "to 3"),
    ("reduce", "8 x 1", "order ring", "run pipelined_reduce(c = 2) {}", "to 3"),
    ("reduce", "1 x 8", "", "run binary_tree_reduce(c = 2) {}", "to 2"),
    (
        "gather",
        "4 x 2",
        "",
        "run rows by linear_gather {0} then run column by linear_gather {0}",
        "to (2, 1)",
    ),
    (
        "broadcast",
        "4 x 2",
        "",
        "run column by scatter_allgather {0} then run rows by pipelined_broadcast(c = 2) {0}",
        "from (3, 1)",
    ),
    (
        "reduce",
        "4 x 2",
        "",
        "run columns by pipelined_reduce(c = 2) {0} then run row by pipelined_reduce(c = 2) {0}",
        "to (3, 0)",
    ),
    ("gather", "4 x 2", "order snake", "run linear_gather {}", "to (2, 1)"),
]


def compiled(contract: str, grid: str, steps: str, declared: str = "", operation: str = "") -> None:
    combined = f", {operation or 'add'}" if contract == "reduce" else ""
    text = f"""target wse2
    grid tile = {grid}
    operation second(a, b: i32) = b
    {declared}
    collective c = {contract}(x: i32[16]{combined}) on tile {{ {steps} }}
    program {{ c }}
    """
    compile_text(text, "root.coll", {})


def refused(contract: str, grid: str, steps: str, operation: str = "") -> Diagnostic:
    with pytest.raises(CollcError) as caught:
        compiled(contract, grid, steps, operation=operation)
    (problem,) = caught.value.diagnostics
    return problem


@pytest.mark.parametrize(("contract", "grid", "order", "steps", "root"), ROOTS)
def test_what_is_advised_compiles(
    contract: str, grid: str, order: str, steps: str, root: str
) -> None:
    problem = refused(contract, grid, f"{order} {steps.format(root)}")
    assert problem.code == "C214" and "at rank 0, and" in problem.message
    quoted = re.findall("`([^`]+)`", problem.help)
    declared = "".join(one for one in quoted if "->" in one)
    first = [one for one in quoted if one.endswith(" 0") and len(one.split()) == 2]
    for one in quoted:
        if one.startswith("order") and one != declared:
            compiled(contract, grid, f"{one} {steps.format(first[0])}", declared)
        elif one != declared and one not in first:
            compiled(contract, grid, f"{order} {one}")
    assert quoted


def test_the_root_that_an_algorithm_was_given_is_found() -> None:
    problem = refused("reduce", "8 x 1", "order ring run ring_reduce(c = 2, root = 5) to 3")
    assert problem.code == "C214"
    assert problem.message == (
        "`ring_reduce(c = 2, root = 5)` ends at rank 5, and the contract ends at rank 3"
    )


@pytest.mark.parametrize("place", ["", "to 0"])
def test_the_place_that_an_algorithm_was_given_is_advised(place: str) -> None:
    problem = refused("reduce", "8 x 1", f"order ring run ring_reduce(c = 3, root = 2) {place}")
    steps = "run ring_reduce(c = 3, root = 2) to 2"
    assert problem.help.startswith(f"name that place: `{steps}`")
    compiled("reduce", "8 x 1", f"order ring {steps}")


def test_what_keeps_the_contract_at_no_rank_is_explained_as_before() -> None:
    assert refused("gather", "8 x 1", "run ring_reduce_scatter to 3").code == "C212"
    assert refused("gather", "8 x 1", "run linear_scatter to 3").code == "C208"


def test_ranks_that_have_to_be_combined_in_order_are_advised_so() -> None:
    problem = refused("reduce", "8 x 1", "run pipelined_reduce(c = 2) to 3", "second")
    patterns = [one for one in re.findall("`([^`]+)`", problem.help) if one.endswith(" to 3")]
    assert problem.code == "C214" and len(patterns) == 2
    for one in patterns:
        compiled("reduce", "8 x 1", one, operation="second")


TURNED = "`order turned`, declared as `order turned(W, H) : i -> {}`,"


@pytest.mark.parametrize(
    ("contract", "grid", "steps", "help"),
    [
        ("gather", "8 x 1", "run linear_gather to 3", TURNED.format("((i + 3) mod W, 0)")),
        ("gather", "1 x 8", "run linear_gather to 5", TURNED.format("(0, (i + 5) mod H)")),
        ("gather", "8 x 1", "run linear_gather to 7", "`order east_to_west`"),
        ("gather", "1 x 8", "run linear_gather to 7", "`order south_to_north`"),
        ("gather", "4 x 2", GRID.format("(3, 1)"), "`order east_to_west, south_to_north`"),
        ("gather", "4 x 2", GRID.format("(3, 0)"), "`order east_to_west, north_to_south`"),
        ("gather", "4 x 2", GRID.format("(0, 1)"), "`order west_to_east, south_to_north`"),
        ("gather", "4 x 2", GRID.format("(2, 1)"), ""),
        ("gather", "4 x 2", "order snake run linear_gather to (2, 1)", ""),
        ("reduce", "8 x 1", "order ring run ring_reduce(c = 2, root = 5) to 3", ""),
    ],
)
def test_the_order_in_which_the_root_comes_first_is_advised_where_there_is_one(
    contract: str, grid: str, steps: str, help: str
) -> None:
    advice = refused(contract, grid, steps).help
    first = "count ranks from that PE on, by "
    assert (first in advice) == bool(help)
    assert f"{first}{help} and `to 0`, or write `run" in advice if help else "order" not in advice
