"""Which elements of a vector belong to which PE, where a contract is about slices.

On a line or a path, slice r of as many as there are ranks belongs to rank r. On a grid the vector
is cut into a block for each line along which ranks are counted, in the order of the lines, and
every block into a slice for each rank of its line. A block of one element less than the longest is
cut like those; its last slice is shorter.
"""

from collections.abc import Iterator

from collc.spec import Collective, RunStep
from collc.spec.exchange import Blocks, Slicing

Pe = tuple[int, int]


def places_along(collective: Collective, axis: str) -> tuple[int, ...]:
    """Where the ranks of a line along an axis stand, as the algorithms have it."""
    grid = collective.lined
    runs = (step for step in collective.steps if isinstance(step, RunStep) and step.axis == axis)
    extent = grid.extent(axis)
    return next((run.places for run in runs), tuple(range(extent)))


def lines_and_ranks(collective: Collective) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The coordinates of the lines along which ranks are counted, in their order, and those of the
    ranks of such a line."""
    across = "y" if collective.counts_along == "x" else "x"
    return places_along(collective, across), places_along(collective, collective.counts_along)


def owners(collective: Collective) -> Iterator[tuple[Pe, slice]]:
    """The PE of every rank, with the elements that belong to it."""
    lines, ranks = lines_and_ranks(collective)
    blocks = Blocks(collective.contract.length, lines)
    slices = Slicing(len(ranks), blocks.longest)
    for block, line in enumerate(lines):
        first, end = blocks.first(block), blocks.first(block + 1)
        for rank, place in enumerate(ranks):
            part = slice(first + slices.bound(rank), min(first + slices.bound(rank + 1), end))
            yield collective.pe_at(collective.counts_along, place, line), part
