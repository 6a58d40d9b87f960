"""A contract of the user's own as a table, from which the emitted run.py computes what is due.

A row is (rank, first slice, slices, first slice of the others, then the first of these ranks, one
behind the last, and the step from one to the next). Rows that differ by the same numbers again and
again, as those of neighbouring ranks mostly do, are one row with these differences and a count.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.spec import Collective
from collc.spec.custom_contract import Due, Holdings, dues

Row = tuple[int, ...]


@dataclass(frozen=True)
class OwnModel:
    """What run.py prints: the slices of a vector, what ranks have before (None: everything), what
    they are to have after."""

    slices: int
    given: tuple[str, ...] | None
    promised: tuple[str, ...]


def own_model(collective: Collective) -> OwnModel:
    """The tables of the contract of a collective."""
    own = collective.contract.own
    assert own is not None
    given = None if own.given is None else tuple(shown_rows(_given(own.given)))
    rows = [row for due in dues(own) for row in _rows(due)]
    return OwnModel(own.slices, given, tuple(shown_rows(rows)))


def _given(given: Holdings) -> list[Row]:
    """Rank, first slice, slices."""
    columns = zip(given.holder.tolist(), given.slice.tolist(), given.count.tolist(), strict=True)
    return sorted(set(columns))


def _rows(due: Due) -> Iterator[Row]:
    """The rows of what one rank is to have in some slices: one for each run of the other ranks."""
    for first, last, step in runs_of(due.whose):
        yield (due.holder, due.into, due.count, due.slice, first, last + 1, step)


def runs_of(numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Rising numbers as runs of equal steps: first, last, step."""
    at = 0
    while at < len(numbers):
        end = at
        step = numbers[at + 1] - numbers[at] if at + 1 < len(numbers) else 1
        while end + 1 < len(numbers) and numbers[end + 1] - numbers[end] == step:
            end += 1
        yield numbers[at], numbers[end], step if end > at else 1
        at = end + 1


def shown_rows(rows: Ints | Sequence[Row]) -> Iterator[str]:
    """Rows as they are printed: the first, the differences, how many."""
    if not len(rows):
        return
    table = np.asarray(rows, dtype=np.int64).reshape(len(rows), -1)
    steps = np.diff(table, axis=0)
    ends = np.flatnonzero((steps[1:] != steps[:-1]).any(axis=1)) + 1
    at = 0
    while at < len(table):
        beyond = np.searchsorted(ends, at + 1)
        end = int(ends[beyond]) if beyond < len(ends) else len(table) - 1
        differences = steps[at] if end > at else np.zeros_like(table[at])
        yield f"({tuple(table[at].tolist())}, {tuple(differences.tolist())}, {end + 1 - at})"
        at = end + 1
