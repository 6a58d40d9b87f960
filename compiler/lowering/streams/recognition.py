"""Which phases made of steps can be streams: what a phase does to the vectors says so.

It has to leave exactly what the stream leaves, whatever its steps are, provided that every slice
goes straight from the PE that held it at first: a ring, in which slices are handed over, stays one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.lowering.streams.forms import (
    FAR_FIFTHS,
    FIFTHS,
    HALVES,
    SEVENTHS,
    THIRDS,
    Form,
    all_to_all,
    allgather,
    chained_allgather,
    chained_reduce_scatter,
    gather,
    grouped_all_to_all,
    reduce_scatter,
    scatter,
)
from collc.schedule.own_slices import own_slices
from collc.spec.exchange import StepsPhase

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Recognised:
    """A collective, the forms that it has, and its root, where it has one; of a gather which ranks'
    slices move."""

    word: str
    forms: tuple[Form, ...]
    root: int = 0
    combines: bool = False
    side: tuple[bool, ...] = ()


@memoized
def recognised(phase: StepsPhase, *, own_only: bool = False) -> Recognised | None:
    """The stream that does what a phase does; None if there is none. With `own_only` nothing but
    the own slice of each rank counts."""
    ranks, slicing = phase.ranks, phase.slicing
    cut = slicing.count in {1, ranks} or (slicing.count % ranks == 0 and slicing.even)
    if not cut or not slicing.length or phase.wide or phase.places != tuple(range(ranks)):
        return None
    if slicing.count == 1:
        return _of_whole_vectors(phase, own_only=own_only)
    if phase.combines:
        return _reduce_scatter(phase) if own_only and slicing.count == ranks else None
    held, there = held_after(phase), _there(phase)
    if held is None:
        return None
    return _moved(held, there) if slicing.count == ranks else _in_blocks(held, there)


def blocks_of(phase: StepsPhase) -> int:
    """In how many blocks each rank of a phase that is recognised has a slice."""
    return max(1, phase.slicing.count // phase.ranks)


def _there(phase: StepsPhase) -> npt.NDArray[np.bool_]:
    """The slices that have elements, at some length, [slices]."""
    slicing = phase.slicing
    return (np.diff(slicing.bounds) > 0) | slicing.dynamic


def _in_blocks(held: Ints, there: npt.NDArray[np.bool_]) -> Recognised | None:
    """The stream that leaves what is held, [ranks, slices], if in every block of as many slices as
    there are ranks the slices of that block are moved alike."""
    ranks, slices = held.shape
    source, of = np.divmod(held, slices)
    block = np.arange(slices) // ranks
    own = (source * ranks + of % ranks).reshape(ranks, -1, ranks)
    if (of // ranks != block).any() or (own != own[:, :1]).any():
        return None
    return _moved(np.ascontiguousarray(own[:, 0]), there[:ranks])


def _of_whole_vectors(phase: StepsPhase, *, own_only: bool) -> Recognised | None:
    """A sum that comes to one rank from both ends, or the vector of one rank, which goes to all: a
    reduce_scatter, or an allgather, in which one rank has all there is to have."""
    if phase.combines:
        own = own_slices(phase) if own_only else None
        return None if own is None else _reduce(phase, int(np.flatnonzero(own)[0]))
    held = held_after(phase)
    if held is None:
        return None
    moved = held[:, 0] != np.arange(phase.ranks)
    roots = set(held[moved, 0].tolist())
    if len(roots) != 1:
        return None
    root = roots.pop()
    for side in _sides(root, phase.ranks):
        if (moved == side).all():
            return Recognised("broadcast", (allgather,), root, side=tuple(side.tolist()))
    return None


def _sides(root: int, ranks: int) -> Iterator[npt.NDArray[np.bool_]]:
    """All ranks but the root, and those on one side of it, [ranks]."""
    own = np.arange(ranks)
    yield from (own != root, own > root, own < root)


def _reduce(phase: StepsPhase, root: int) -> Recognised | None:
    held = _folded(phase)
    if held is None or phase.ranks < MANY:
        return None
    first = _beginning(phase.ranks, 1).astype(np.uint64)
    wanted = first[root]
    for side in (first[:root], first[:root:-1]):
        arriving = side[:1]
        for own in side[1:]:
            arriving = combined(own, arriving)
        wanted = combined(wanted, arriving[0]) if len(side) else wanted
    if (held[root] != wanted).any():
        return None
    return Recognised("reduce", (reduce_scatter,), root, combines=True)


def _moved(held: Ints, there: npt.NDArray[np.bool_]) -> Recognised | None:
    """The stream that leaves what is held, of the slices that are `there`."""
    ranks, own = len(held), np.arange(len(held))
    origin = own * ranks + own  # slice r of rank r
    if bool((held == origin)[:, there].all()):
        return Recognised("allgather", (allgather, chained_allgather))
    if there.all() and bool((held == own * ranks + own[:, None]).all()):
        grouped = (
            partial(grouped_all_to_all, ends=ends, far_early=far_early)
            for ends, far_early, tried in _GROUPS
            if ranks in tried
        )
        return Recognised("all_to_all", (all_to_all, *grouped))
    moved = held != _beginning(ranks)
    rows = np.flatnonzero(moved[:, there].any(axis=1))
    if len(rows) == 1 and bool((held[rows[0]] == origin)[there & moved[rows[0]]].all()):
        return _gather(int(rows[0]), moved[rows[0]], there)
    return _scatter(held, there)


def _gather(
    root: int, moved: npt.NDArray[np.bool_], there: npt.NDArray[np.bool_]
) -> Recognised | None:
    """A gather, of all other ranks or of those on one side of the root."""
    for side in _sides(root, len(moved)):
        if (moved == side)[there].all():
            return Recognised("gather", (gather,), root, side=tuple(side.tolist()))
    return None


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
        return Recognised("scatter", (scatter,), root)
    return None


def _reduce_scatter(phase: StepsPhase) -> Recognised | None:
    """A reduce_scatter that combines what the chains combine, in their order."""
    ranks = phase.ranks
    if ranks < MANY:
        return None
    there = _there(phase)
    held = _folded(phase)
    if held is None:
        return None
    first = _beginning(ranks).astype(np.uint64)
    forward, backward = first[0].copy(), first[-1].copy()
    lower, upper = np.zeros_like(forward), np.zeros_like(forward)
    for rank in range(1, ranks):
        lower[rank] = forward[rank]
        forward = combined(first[rank], forward)
    for rank in range(ranks - 2, -1, -1):
        upper[rank] = backward[rank]
        backward = combined(first[rank], backward)
    own = np.diagonal(first)
    wanted = combined(combined(own, lower), upper)
    wanted[0], wanted[-1] = combined(own[:1], upper[:1])[0], combined(own[-1:], lower[-1:])[0]
    if not (np.diagonal(held) == wanted)[there].all():
        return None
    forms = (reduce_scatter, chained_reduce_scatter)
    return Recognised("reduce_scatter", forms, combines=True)


# Groups of ranks that all_to_alls have colors for, whether those at the ends send far words early,
# and the numbers of ranks for which such a form is tried: beyond, prediction and check of all take
# many seconds; and in short lines the order in which groups are sent to makes no difference.
_GROUPS = (
    (HALVES, False, range(1 << 16)),
    (THIRDS, False, range(401)),
    (FIFTHS, False, range(201)),
    (FAR_FIFTHS, True, range(40, 201)),
    (SEVENTHS, False, range(201)),
)
MANY = 3  # ranks from which on there is something to combine on the way


def combined(own: Words, arriving: Words) -> Words:
    """A number that depends on two others and on their order."""
    return own * np.uint64(0x9E3779B97F4A7C15) ^ (arriving + np.uint64(0x632BE59BD9B4E019)) * (
        np.uint64(0xD6E8FEB86659FD93)
    )


def _folded(phase: StepsPhase) -> Words | None:
    """What ranks hold in the end, with numbers for what is combined; None if a step combines
    several into one, or copies."""
    held = _beginning(phase.ranks, phase.slicing.count).astype(np.uint64)
    for moves in phase.steps:
        if not moves.combines.all():
            return None
        one = moves.by_slice()
        source, slices, destination, into = one.source, one.slice, one.destination, one.into
        if len(np.unique(destination.astype(np.int64) * held.shape[1] + into)) < len(into):
            return None
        held[destination, into] = combined(held[destination, into], held[source, slices])
    return held


def _beginning(ranks: int, slices: int = 0) -> Ints:
    """What ranks hold at first: a number for each rank and slice, of which there are as many as
    ranks, if nothing else is said."""
    slices = slices or ranks
    return np.arange(ranks * slices, dtype=np.int64).reshape(ranks, slices)


def held_after(phase: StepsPhase) -> Ints | None:
    """What ranks hold in the end; None if something is handed over."""
    held = _beginning(phase.ranks, phase.slicing.count)
    start = held.copy()
    for moves in phase.steps:
        one = moves.by_slice()
        values = held[one.source, one.slice]
        if (values != start[one.source, one.slice]).any():
            return None
        held[one.destination, one.into] = values
    return held
