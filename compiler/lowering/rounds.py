"""How many operations it takes to add several vectors into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from collc.plan import VECTOR, Action, Entry, Loop, Number, Op, Phase, Role


def rounds_for(vectors: int, length: int, max_extent: int) -> int:
    """The smallest divisor k of `vectors` with `vectors / k * length <= max_extent` elements.

    If not even one vector fits, `vectors`; the check of extents refuses that plan.
    """
    fitting = (
        rounds
        for rounds in range(1, vectors + 1)
        if vectors % rounds == 0 and vectors // rounds * length <= max_extent
    )
    return next(fitting, vectors)


def stored(color: str, vectors: int, rounds: int) -> Loop:
    """So many vectors, one after the other, combined with the own one in memory, by `rounds`
    operations of equal length."""
    op = Op(color, Action.COMBINE, VECTOR, vectors=vectors // rounds)
    return Loop(Number(rounds), Number(0), (Entry((op,)),))


def one_by_one(phase: Phase) -> Phase:
    """The phase with an operation for each vector that is stored: a DSD that passes over the vector
    several times has its extents when compiled, not those of a call."""
    return replace(phase, roles=tuple(map(_one_by_one, phase.roles)))


def _one_by_one(role: Role) -> Role:
    lanes = (
        replace(lane, loops=tuple(found for loop in lane.loops for found in _singly(loop)))
        for lane in role.lanes
    )
    return replace(role, lanes=tuple(lanes))


def _singly(loop: Loop) -> Iterator[Loop]:
    for entry in loop.entries:
        for op in entry.ops:
            turns = loop.turns.offset * op.vectors
            yield Loop(Number(turns), loop.shift, (Entry((replace(op, vectors=1),)),))
