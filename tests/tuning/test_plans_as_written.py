"""The text of a plan says what its clauses are: read back, it is the same collective."""

from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.language import parse_source
from collc.language.elaborate import with_steps
from collc.language.show import show_steps
from collc.language.syntax import Clause
from collc.language.undecided import steps_of
from collc.spec import Collective
from collc.target import TARGETS
from collc.tuning.candidates import plans

OPEN = {
    "reduce(x: f32[16], add)": ("to 3", "to (1, 2)"),
    "allreduce(x: f32[16], add)": ("", ""),
    "reduce(x: f32[16], second)": ("to 3", "to (1, 2)"),
    "reduce_scatter(x: f32[16], add)": ("", ""),
    "scatter(x: f32[16])": ("from 2", "from (0, 0)"),
    "barrier()": ("", ""),
}


def left_open(contract: str, grid: str, place: str) -> Collective:
    second = "operation second(a, b: f32) assume associative = b\n" if "second" in contract else ""
    text = f"target wse2\n{second}grid g = {grid}\n"
    text += f"collective it = {contract} on g {{ run auto {place} }}\nprogram {{ it }}\n"
    return parse_source(text, {}, None).collectives[0]


def meaning(collective: Collective, clauses: tuple[Clause, ...]) -> object:
    """The steps and the order, or the numbers that are open, or why it cannot be."""
    try:
        found = with_steps(collective, clauses)
    except CollcError as refused:
        return [(one.code, one.message, one.at) for one in refused.diagnostics]
    return found.undecided.gaps if found.undecided else (show_steps(found), found.path)


@pytest.mark.parametrize("contract", OPEN)
@pytest.mark.parametrize("grid", ["8 x 1", "4 x 4"])
def test_a_plan_read_back_is_the_same(contract: str, grid: str) -> None:
    collective = left_open(contract, grid, OPEN[contract][grid == "4 x 4"])
    written = {one.text: one.clauses for one in plans(collective, TARGETS["wse2"])}
    assert len(written) >= 2
    for text, clauses in written.items():
        assert meaning(collective, clauses) == meaning(collective, steps_of(text)), text
