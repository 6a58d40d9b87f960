from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.language import parse_source
from collc.spec import BroadcastStep, Collective, Order, ReduceStep


def collective(contract: str, size: str, body: str) -> Collective:
    operation = "" if contract == "broadcast" else ", add"
    return parse_source(
        f"target wse2 grid g = {size} collective c = {contract}(x: f32[4]{operation}) on g "
        f"{{ {body} }} program {{ c }}"
    ).collectives[0]


def codes(contract: str, size: str, body: str) -> list[str]:
    with pytest.raises(CollcError) as caught:
        collective(contract, size, body)
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


def orders(c: Collective) -> list[Order]:
    return [step.order for step in c.steps if isinstance(step, ReduceStep)]


def root(c: Collective) -> tuple[int, int]:
    (step,) = (step for step in c.steps if isinstance(step, BroadcastStep))
    return step.x, step.y


@pytest.mark.parametrize(
    ("size", "body", "expected"),
    [
        ("5 x 1", "", Order.WEST_TO_EAST),
        ("5 x 1", "order east_to_west", Order.EAST_TO_WEST),
        ("5 x 1", "order south_to_north, east_to_west", Order.EAST_TO_WEST),
        ("1 x 5", "", Order.NORTH_TO_SOUTH),
        ("1 x 5", "order south_to_north", Order.SOUTH_TO_NORTH),
        ("1 x 1", "", Order.WEST_TO_EAST),
        ("1 x 1", "order south_to_north", Order.SOUTH_TO_NORTH),
    ],
)
def test_a_line_has_the_order_that_is_said_or_the_default(
    size: str, body: str, expected: Order
) -> None:
    assert orders(collective("reduce", size, f"{body} reduce chain to 0")) == [expected]


def test_a_grid_reduces_columns_then_the_row() -> None:
    c = collective("reduce", "6 x 4", "reduce columns by chain then reduce row by star to (0, 0)")
    assert orders(c) == [Order.NORTH_TO_SOUTH, Order.WEST_TO_EAST]
    sizes = [len(step.tree.children) for step in c.steps if isinstance(step, ReduceStep)]
    assert sizes == [4, 6]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("6 x 1", [Order.WEST_TO_EAST]),
        ("1 x 4", [Order.NORTH_TO_SOUTH]),
        ("1 x 1", [Order.WEST_TO_EAST]),
    ],
)
def test_a_step_with_nothing_to_do_vanishes(size: str, expected: list[Order]) -> None:
    body = "reduce columns by chain then reduce row by chain then broadcast from 0"
    assert orders(collective("allreduce", size, body)) == expected


@pytest.mark.parametrize(
    ("size", "body", "expected"),
    [
        ("5 x 1", "broadcast from 3", (3, 0)),
        ("5 x 1", "order east_to_west broadcast from 3", (1, 0)),
        ("1 x 5", "broadcast from 3", (0, 3)),
        ("1 x 5", "order south_to_north broadcast from 0", (0, 4)),
        ("5 x 1", "broadcast from (3, 0)", (3, 0)),
        ("5 x 4", "broadcast from (3, 2)", (3, 2)),
        ("5 x 4", "broadcast from 0", (0, 0)),
        ("5 x 4", "order east_to_west, south_to_north broadcast from 0", (4, 3)),
        ("5 x 4", "broadcast from ((3), 2)", (3, 2)),
        ("5 x 1", "broadcast from (3)", (3, 0)),
    ],
)
def test_a_broadcast_starts_at_a_rank_or_a_pe(
    size: str, body: str, expected: tuple[int, int]
) -> None:
    assert root(collective("broadcast", size, body)) == expected


@pytest.mark.parametrize(
    ("contract", "size", "body", "expected"),
    [
        ("broadcast", "5 x 1", "broadcast from 5", ["C142"]),
        ("broadcast", "5 x 1", "broadcast from -1", ["C142"]),
        ("broadcast", "5 x 1", "broadcast from (0, 1)", ["C142"]),
        ("broadcast", "5 x 4", "broadcast from 1", ["C142"]),
        ("broadcast", "5 x 1", "", ["C140"]),
        ("broadcast", "5 x 1", "broadcast from 0 then broadcast from 0", ["C140"]),
        ("reduce", "5 x 1", "", ["C140"]),
        ("reduce", "5 x 1", "broadcast from 0", ["C140"]),
        ("reduce", "5 x 4", "reduce columns by chain", ["C140"]),
        ("reduce", "5 x 4", "reduce row by chain", ["C140"]),
        ("reduce", "5 x 1", "reduce columns by chain", ["C140"]),
        ("reduce", "5 x 4", "reduce chain", ["C144"]),
        ("reduce", "5 x 1", "reduce lines by chain", ["C111"]),
        ("reduce", "5 x 1", "reduce chain to 5", ["C142"]),
        ("reduce", "5 x 1", "reduce chain to (1, 1)", ["C142"]),
        ("allreduce", "5 x 1", "reduce chain to 2 then broadcast from 0", ["C141"]),
        ("reduce", "5 x 1", "order north_to_south reduce chain", ["C143"]),
        ("reduce", "5 x 1", "reduce optimal(S = 3)", ["C114"]),
        ("reduce", "70 x 70", "order row_major reduce binomial", ["C165"]),
        ("reduce", "5 x 2", "order snake reduce row by chain", ["C144"]),
        ("reduce", "5 x 2", "order snake reduce chain to 10", ["C142"]),
        ("allreduce", "5 x 2", "order snake reduce chain to 5 then broadcast from 4", ["C141"]),
        ("reduce", "5 x 1", "order sideways reduce chain", ["C111"]),
        ("reduce", "5 x 1", "then reduce chain", ["C145"]),
        ("allreduce", "5 x 1", "reduce chain broadcast from 0", ["C145"]),
        ("allreduce", "5 x 1", "reduce chain then broadcast from 1", ["C141"]),
        ("allreduce", "5 x 1", "broadcast from 0 then reduce chain", ["C140"]),
    ],
)
def test_steps_that_break_the_contract_are_refused(
    contract: str, size: str, body: str, expected: list[str]
) -> None:
    assert codes(contract, size, body) == expected


def test_every_step_is_judged_even_if_another_is_wrong() -> None:
    found = codes("reduce", "5 x 4", "reduce columns by chian then reduce row by two_phase")
    assert found == ["C110", "C114"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("run columns by pipelined_reduce(c = 2) then reduce row by chain to 2", (2, 0)),
        ("run columns by ring_allreduce then reduce rows by chain to 2", (2, 0)),
        ("run columns by ring_allreduce then reduce rows by chain to (2, 1)", (2, 1)),
        ("run columns by ring_allreduce to (0, 1) then reduce rows by chain to 2", (2, 1)),
        ("run columns by ring_allreduce to (0, 1) then reduce rows by chain to 0", (0, 1)),
        ("run rows by pipelined_reduce(c = 2) then reduce column by chain to 2", (0, 2)),
        ("reduce columns by chain to 1 then run rows by ring_allreduce", (0, 1)),
        ("order east_to_west run columns by ring_allreduce then reduce rows by chain to 2", (1, 0)),
    ],
)
def test_beside_algorithms_too_a_reduction_ends_at_a_rank_of_its_lines(
    body: str, expected: tuple[int, int]
) -> None:
    assert collective("reduce", "4 x 3", body).root == expected


@pytest.mark.parametrize(
    "body",
    [
        "run columns by ring_allreduce then reduce rows by chain to 4",
        "run columns by ring_allreduce to 1 then reduce rows by chain to 2",
    ],
)
def test_beside_algorithms_too_a_rank_that_is_not_there_is_refused_once(body: str) -> None:
    assert codes("reduce", "4 x 3", body) == ["C142"]
