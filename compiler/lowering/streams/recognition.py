"""Which phases made of steps can be streams: what a phase does to the vectors says so.

It has to leave exactly what the stream leaves, whatever its steps are, provided that every slice
goes straight from the PE that held it at first: a ring, in which slices are handed on, stays one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collc.base.memoize import remembered
from collc.lowering.streams.forms import Form, allgather, gather, scatter
from collc.spec.exchange import Moves, StepsPhase

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Recognised:
    """A form, and the places of the root for the lane forward and for the lane backward."""

    word: str
    form: Form
    roots: tuple[int, int]


@remembered
def recognised(phase: StepsPhase) -> Recognised | None:
    """The stream that does what a phase does; None if there is none."""
    ranks, slicing = phase.ranks, phase.slicing
    if slicing.count != ranks or not slicing.length or phase.wide:
        return None
    if phase.places != tuple(range(ranks)):
        return None
    held = _held_after(phase)
    if held is None:
        return None
    own = np.arange(ranks)
    there = np.diff(slicing.bounds) > 0  # slices with elements
    origin = own * ranks + own  # slice r of rank r
    changed = (held != _beginning(ranks))[:, there]
    if bool((held == origin)[:, there].all()):
        return Recognised("allgather", allgather, (ranks - 1, 0))
    rows = np.flatnonzero(changed.any(axis=1))
    if len(rows) == 1 and bool((held[rows[0]] == origin)[there].all()):
        return Recognised("gather", gather, (int(rows[0]), int(rows[0])))
    return _scatter(held, there)


def _scatter(held: Ints, there: npt.NDArray[np.bool_]) -> Recognised | None:
    """A scatter, if every rank has its own slice of one rank and nothing else has changed."""
    ranks = len(held)
    own = np.arange(ranks)
    others = held.copy()
    others[own, own] = _beginning(ranks)[own, own]
    roots = set((held[own, own] // ranks)[there].tolist())
    root = next(iter(roots), 0)
    alike = (others == _beginning(ranks))[:, there].all()
    slices = (held[own, own] == root * ranks + own)[there].all()
    if len(roots) == 1 and alike and slices:
        return Recognised("scatter", scatter, (root, root))
    return None


def _beginning(ranks: int) -> Ints:
    """What ranks hold at first: a number for each rank and slice."""
    return np.arange(ranks * ranks, dtype=np.int64).reshape(ranks, ranks)


def _held_after(phase: StepsPhase) -> Ints | None:
    """What ranks hold in the end; None if something is combined, or handed on."""
    held = _beginning(phase.ranks)
    start = held.copy()
    for moves in phase.steps:
        if moves.combines.any():
            return None
        source, slices, destination, into = _slice_by_slice(moves)
        values = held[source, slices]
        if (values != start[source, slices]).any():
            return None
        held[destination, into] = values
    return held


def _slice_by_slice(moves: Moves) -> tuple[Ints, Ints, Ints, Ints]:
    """Source, slice, destination, and the slice there, of every slice that is moved."""
    many = np.repeat(np.arange(len(moves)), moves.count)
    step = np.arange(len(many)) - np.repeat(np.cumsum(moves.count) - moves.count, moves.count)
    return (
        moves.source[many].astype(np.int64),
        moves.slice[many] + step,
        moves.destination[many].astype(np.int64),
        moves.into[many] + step,
    )
