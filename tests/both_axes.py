"""What it takes to have both axes of a grid busy at once, in cycles: halves of a vector as two
collectives in flight together, one along columns and then rows, the other along rows and then
columns, against the whole vector as one collective.

    python tests/both_axes.py [CONTRACT ...] [--size 4x4 ...] [--length 64 ...] [--target wse3]

Without CONTRACT all that can be joined. Run by hand; docs/program-costs.md has a result.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import click

from collc.driver.pipeline import compile_text

ROWS, COLUMNS = "west_to_east, north_to_south", "north_to_south, west_to_east"
OTHER_AXIS = {"rows": "columns", "columns": "rows", "column": "row"}


@dataclass(frozen=True)
class Pattern:
    """How a contract goes along both axes: the whole and the first half on `axes` in `order`, the
    other half on the other axes. Slices follow each other on the axis that is named first, so the
    other half counts its ranks along columns; `ring` stands for counting along rows."""

    algorithm: str
    axes: tuple[str, str]
    order: str
    other_order: str = COLUMNS


PATTERNS = {
    "allgather": Pattern("ring_allgather", ("rows", "columns"), "ring"),
    "reduce_scatter": Pattern("ring_reduce_scatter", ("columns", "rows"), "ring"),
    "allreduce": Pattern("ring_allreduce", ("columns", "rows"), "ring", "ring"),
    "scatter": Pattern("binomial_scatter", ("column", "rows"), ROWS),
    "gather": Pattern("binomial_gather", ("rows", "column"), ROWS),
}


@click.command()
@click.argument("contracts", nargs=-1, type=click.Choice(list(PATTERNS)))
@click.option("--size", "sizes", multiple=True, default=("4x4", "8x8"))
@click.option("--length", "lengths", type=int, multiple=True, default=(64, 2048))
@click.option("--target", default="wse2")
def main(
    contracts: Sequence[str], sizes: Sequence[str], lengths: Sequence[int], target: str
) -> None:
    """Measure CONTRACTS on grids of all sizes with vectors of all lengths."""
    print("| target | contract | PEs | B | whole | both axes at once | predicted |")
    print("|---|---|---|---|---|---|---|")
    for contract, size, length in product(contracts or PATTERNS, sizes, lengths):
        width, height = (int(side) for side in size.split("x"))
        whole, _ = _cycles(whole_of(contract, width, height, length), target)
        halves, predicted = _cycles(halves_of(contract, width, height, length), target)
        row = (target, contract, f"{width} x {height}", length, whole, halves, predicted)
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def whole_of(contract: str, width: int, height: int, length: int) -> str:
    """The program with one collective."""
    pattern = PATTERNS[contract]
    total = _collective("total", contract, length, pattern.axes, pattern.order)
    return f"target wse2\ngrid pes = {width} x {height}\n{total}program {{ total }}\n"


def halves_of(contract: str, width: int, height: int, length: int) -> str:
    """The program with two collectives of half the elements, which begin on different axes."""
    pattern, half = PATTERNS[contract], length // 2
    other_axes = tuple(OTHER_AXIS[axis] for axis in pattern.axes)
    one = _collective("one", contract, length - half, pattern.axes, pattern.order)
    other = _collective("other", contract, half, other_axes, pattern.other_order)
    grid = f"target wse2\ngrid pes = {width} x {height}\n"
    return f"{grid}{one}{other}program {{ one and other }}\n"


def _collective(name: str, contract: str, length: int, axes: Sequence[str], order: str) -> str:
    algorithm = PATTERNS[contract].algorithm
    combined = ", add" if contract in {"allreduce", "reduce_scatter"} else ""
    steps = " then ".join(f"run {axis} by {algorithm}" for axis in axes)
    of = f"{contract}(of_{name}: f32[{length}]{combined})"
    return f"collective {name} = {of} on pes {{ order {order} {steps} }}\n"


def _cycles(text: str, target: str) -> tuple[int, int]:
    """Simulated and predicted cycles of a program whose results are right."""
    bundle = compile_text(text, "both_axes.coll", {}, target)
    report = bundle.run()
    if not report.verified:
        sys.exit(f"{text}\n{report.problem}")
    return report.cycles, bundle.prediction.cycles


if __name__ == "__main__":
    main()
