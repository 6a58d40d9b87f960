"""A sample of the cells of tests/cells.py that has every value of every axis."""

from __future__ import annotations

from dataclasses import fields

import pytest
from cells import (
    AROUND,
    CONTRACTS,
    ELEMENTS,
    FORMS,
    GIVEN,
    ROOTED,
    SITES,
    TARGETS,
    Cell,
    cells,
    outcome,
)

from collc.driver.pipeline import compile_text

LINES = [name for name, (_, _, ranks) in SITES.items() if ranks > 1]


def sample() -> list[Cell]:
    """Each contract with all that can be given; sites, programs and buffers as they come."""
    found = []
    for number, contract in enumerate(CONTRACTS):
        for shift, given in enumerate(GIVEN):
            if "root" in given and contract not in ROOTED:
                continue
            at = number + 3 * shift
            sites = LINES if "root" in given else tuple(SITES)
            around, target = AROUND[at % len(AROUND)], TARGETS[at % 2]
            found.append(Cell(contract, sites[at % len(sites)], given, around, target=target))
    for at in range(max(len(ELEMENTS), 2 * len(FORMS))):
        contract = [one for one in CONTRACTS if one != "barrier"][at % 8]
        site, element = ("row", "grid")[at % 2], ELEMENTS[at % len(ELEMENTS)]
        form = FORMS[at % len(FORMS)]
        found.append(Cell(contract, site, "fixed", "alone", element, form, TARGETS[at % 2]))
    return [cell for cell in found if cell.contract != "barrier" or cell.given == "fixed"]


@pytest.mark.parametrize("cell", sample(), ids=str)
def test_each_cell_compiles_or_is_refused_with_a_place_and_a_help(cell: Cell) -> None:
    assert not outcome(cell).wrong


def test_the_sample_has_every_value_of_every_axis() -> None:
    for field in fields(Cell):
        values = {getattr(cell, field.name) for cell in cells()}
        assert {getattr(cell, field.name) for cell in sample()} == values, field.name


@pytest.mark.parametrize(
    "cell",
    [
        *(Cell(kind, given="length") for kind in ("scatter", "gather", "allgather")),
        Cell("reduce_scatter", "each row", "length", "before another"),
        Cell("gather", "path", "length", "repeated", target="wse3"),
        Cell("broadcast", "each column", "length and root", "behind another"),
        Cell("reduce", "row of a part", "root", target="wse3"),
        Cell("gather", "row", "root", "repeated"),
        Cell("scatter", "each row", "length and root", "behind another", target="wse3"),
    ],
    ids=str,
)
def test_what_once_was_refused_or_ended_in_a_traceback_compiles(cell: Cell) -> None:
    assert outcome(cell).name == "compiles"


@pytest.mark.parametrize("contract", ["gather", "scatter", "allgather"])
def test_long_grids_have_plans_for_contracts_about_slices(contract: str) -> None:
    """Beyond 64 PEs along an axis steps along both were no candidates."""
    text = f"grid g = 66 x 2 collective c = {contract}(x: f32[132]) on g {{ run auto }}"
    text += " program { c }"
    assert compile_text(text, "t.coll", {}, "wse2").prediction.cycles


def test_a_traceback_or_a_message_without_help_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr("cells.compile_text", fails)
    assert outcome(Cell("gather")).wrong == "IndexError: list index out of range"
