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
from collc.spec import ElementType, Operation, Order

CASES = int(os.environ.get("COLLC_CASES", "300"))
SHARDS = 10  # so that several cores share the work


def literal(children: tuple[tuple[int, ...], ...], rank: int = 0) -> str:
    """The tree below `rank` as the language writes it."""
    if not children[rank]:
        return str(rank)
    return f"{rank} <- [{', '.join(literal(children, child) for child in children[rank])}]"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A reduce or allreduce along a row or a column by a random pre-order tree."""
    ranks = draw(st.integers(1, 40))
    children = random_tree(ranks, draw(st.integers(0, 2**32)))
    tree = literal(children) if ranks > 1 else "leaf"
    order = draw(st.sampled_from(Order))
    along_row = order in (Order.WEST_TO_EAST, Order.EAST_TO_WEST)
    grid = f"{ranks} x 1" if along_row else f"1 x {ranks}"
    kind = draw(st.sampled_from(["reduce", "allreduce"]))
    element = draw(st.sampled_from(ElementType)).value
    operation = draw(st.sampled_from(Operation)).value
    length = draw(st.one_of(st.integers(1, 8), st.integers(9, 70)))
    colors = draw(st.sampled_from(["", "within colors <= 3"]))
    then = "then broadcast from 0" if kind == "allreduce" else ""
    return f"""
        target {draw(st.sampled_from(["wse2", "wse3"]))}
        grid line = {grid}
        tree drawn = {tree}
        collective total = {kind}(x: {element}[{length}], {operation}) on line {{
            order {order.value}
            reduce drawn to 0
            {then}
            {colors}
        }}
        program {{ total }}
    """


def delivers(text: str) -> None:
    try:
        bundle = collc.compile_text(text, "drawn.coll", {})
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
