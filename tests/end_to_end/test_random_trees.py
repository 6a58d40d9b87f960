"""Any tree that passes the checks delivers NumPy's result on the simulator.

Trees, element types, operations, lengths, orders and targets are drawn at random; the program goes
the whole way, from `.coll` text to emitted CSL to fabsim. COLLC_CASES sets how many are drawn.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import collc
from building import random_tree
from collc.driver.pipeline import compile_text
from collc.spec import ElementType, Operation, Order

CASES = int(os.environ.get("COLLC_CASES", "300"))
SHARDS = 10  # so that several cores share the work
PRELUDE = ("chain", "star", "binomial", "two_phase(S = 3)")


def literal(children: tuple[tuple[int, ...], ...], rank: int = 0) -> str:
    """The tree below `rank` as the language writes it."""
    if not children[rank]:
        return str(rank)
    return f"{rank} <- [{', '.join(literal(children, child) for child in children[rank])}]"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A reduce or allreduce along a line, by a random pre-order tree or by two that meet."""
    ranks = draw(st.integers(1, 40))
    root = draw(st.sampled_from([0, ranks - 1, draw(st.integers(0, ranks - 1))]))
    children = random_tree(ranks, draw(st.integers(0, 2**32)))
    tree = literal(children) if ranks > 1 else "leaf"
    sides = [draw(st.sampled_from(PRELUDE)) for _ in range(2)]
    use = ", ".join(sides) if 0 < root < ranks - 1 else "drawn"
    order = draw(st.sampled_from(Order))
    along_row = order in (Order.WEST_TO_EAST, Order.EAST_TO_WEST)
    grid = f"{ranks} x 1" if along_row else f"1 x {ranks}"
    kind = draw(st.sampled_from(["reduce", "allreduce"]))
    combined = draw(st.sampled_from(ElementType))
    element = combined.value
    operation = draw(st.sampled_from([o for o in Operation if o.combines(combined)])).value
    length = draw(st.one_of(st.integers(1, 8), st.integers(9, 70)))
    fewest = 5 if 0 < root < ranks - 1 else 3
    colors = draw(st.sampled_from(["", f"within colors <= {fewest}"]))
    then = f"then broadcast from {root}" if kind == "allreduce" else ""
    return f"""
        target {draw(st.sampled_from(["wse2", "wse3"]))}
        grid line = {grid}
        tree drawn = {tree}
        collective total = {kind}(x: {element}[{length}], {operation}) on line {{
            order {order.value}
            reduce {use} to {root}
            {then}
            {colors}
        }}
        program {{ total }}
    """


def delivers(text: str) -> None:
    try:
        bundle = compile_text(text, "drawn.coll", {})
    except collc.CollcError as refused:
        # The only thing a well-formed tree may fail for is a budget, and these have room.
        raise AssertionError(str(refused)) from refused
    report = bundle.run(repeats=2)
    assert report.verified, report.problem


@pytest.mark.parametrize("shard", range(SHARDS))
def test_any_tree_that_passes_the_checks_delivers(shard: int) -> None:
    @seed(1000 * CASES + shard)
    @settings(max_examples=CASES // SHARDS, suppress_health_check=list(HealthCheck), database=None)
    @given(programs())
    def every_drawn_program_delivers(text: str) -> None:
        delivers(text)

    every_drawn_program_delivers()
