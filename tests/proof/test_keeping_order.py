"""What a message advises for an operation that is not commutative: every pattern of it compiles,
for the same contract, and combines in the order of ranks."""

from __future__ import annotations

import re

import pytest

from collc.base.diagnostics import CollcError, Diagnostic
from collc.driver.pipeline import compile_text

REFUSED = [
    ("reduce", "7 x 1", "", "reduce chain to 3"),
    ("reduce", "7 x 1", "", "reduce chain to 6"),
    ("reduce", "7 x 1", "", "reduce root_bypass(chain) to 3"),
    ("reduce", "7 x 1", "", "run reduce_scatter_gather"),
    ("reduce", "1 x 6", "", "reduce star to 2"),
    ("reduce", "7 x 1", "order east_to_west", "reduce chain to 2"),
    ("reduce", "7 x 1", "order ring", "run reduce_scatter_gather"),
    ("reduce", "4 x 3", "", "reduce columns by chain to 2 then reduce row by chain to 0"),
    ("reduce", "4 x 3", "", "reduce columns by chain to 0 then reduce row by chain to 1"),
    ("reduce", "4 x 3", "order snake", "reduce chain to 5"),
    ("reduce", "4 x 3", "order row_major", "run reduce_scatter_gather"),
    ("allreduce", "8 x 1", "", "run recursive_doubling"),
    ("allreduce", "2 x 1", "", "run dual_root_allreduce(c = 2)"),
    ("allreduce", "7 x 1", "order ring", "run ring_allreduce"),
    ("allreduce", "1 x 5", "", "reduce chain to 2 then broadcast from 2"),
    ("allreduce", "4 x 3", "", "run columns by ring_allreduce then run rows by ring_allreduce"),
    (
        "allreduce",
        "4 x 3",
        "",
        "reduce columns by chain to 2 then reduce row by chain to 0 then broadcast from (0, 2)",
    ),
    ("allreduce", "4 x 3", "order snake", "run ring_allreduce"),
    ("reduce_scatter", "6 x 1", "", "run ring_reduce_scatter"),
    ("reduce_scatter", "6 x 1", "order ring", "run ring_reduce_scatter"),
    (
        "reduce_scatter",
        "4 x 3",
        "",
        "run columns by ring_reduce_scatter then run rows by ring_reduce_scatter",
    ),
]


def text(contract: str, grid: str, steps: str, length: int) -> str:
    return f"""target wse2
    grid tile = {grid}
    operation second(a, b: i32) = b
    collective c = {contract}(x: i32[{length}], second) on tile {{ {steps} }}
    program {{ c }}
    """


def refused(contract: str, grid: str, steps: str, length: int = 24) -> Diagnostic:
    with pytest.raises(CollcError) as caught:
        compile_text(text(contract, grid, steps, length), "refused.coll", {})
    return caught.value.diagnostics[0]


@pytest.mark.parametrize("length", [1, 24])
@pytest.mark.parametrize(("contract", "grid", "order", "steps"), REFUSED)
def test_every_pattern_that_is_advised_compiles(
    contract: str, grid: str, order: str, steps: str, length: int
) -> None:
    problem = refused(contract, grid, f"{order} {steps}", length)
    assert problem.code == "C203"
    advised = [one for one in re.findall("`([^`]+)`", problem.help) if one != "commutative"]
    assert advised
    for one in advised:
        compile_text(text(contract, grid, f"{order} {one}", length), "advised.coll", {})


def test_the_result_is_advised_to_go_where_the_contract_wants_it() -> None:
    problem = refused("reduce", "7 x 1", "reduce chain to 3")
    assert problem.help.count("to 3`") == 2
    assert "pipelined_broadcast" not in refused("reduce", "7 x 1", "run reduce_scatter_gather").help


def test_the_algorithm_is_called_by_its_name() -> None:
    message = refused("allreduce", "8 x 1", "run recursive_doubling").message
    assert "`recursive_doubling` does not combine" in message and "exchange" not in message


def test_nothing_is_advised_for_a_contract_of_the_users_own() -> None:
    prefix = """target wse2
    grid row = 4 x 1
    operation second(a, b: i32) = b
    contract prefix(n) { after each r, q where q <= r : r has q }
    algorithm around(n) { step { each r where r < n - 1 : r => r + 1 } }
    collective c = prefix(x: i32[4], second) on row { run around }
    program { c }
    """
    with pytest.raises(CollcError) as caught:
        compile_text(prefix, "own.coll", {})
    assert "`run" not in caught.value.diagnostics[0].help
