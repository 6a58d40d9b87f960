"""What each phase of a collective waited for, from its first cause to the PE that ends last.

The machine with a clock tells of each vector when its first word was there, when it was taken, and
which router held it up (`collc.machine.timed.PIECE`). From the vector that ends last the way leads
back: to who sent it, to the vector that a router let pass before, or to the one that the PE itself
took before. It is the same way for trees, streams and step tables.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.cost.clocked import told
from collc.machine.prediction import CriticalPath, Wait
from collc.machine.timed import NOT_SO, PIECE, StuckError, TimedOp, TooLongError
from collc.plan import Phase, Plan
from collc.plan.geometry import line_of, multicast_of
from collc.plan.plan import ProgramPlan

MOST = 5_000_000  # words that are followed, in about a second


@dataclass(frozen=True)
class _Piece:
    """A vector that an operation has moved, as `PIECE` says; the colors it came and went by, and
    the phase."""

    pe: int
    op: int
    sender: int
    held_by: int
    held: int
    issued: int
    came: int
    taken: int
    ended: int
    receive: int
    send: int
    phase: int

    @property
    def received(self) -> bool:
        """Whether it has come from another PE."""
        return self.came != NOT_SO


def critical_path(program: ProgramPlan) -> tuple[CriticalPath, ...]:
    """The way of each phase of a collective that is alone, where any PE receives anything; empty if
    too many words would have to be followed."""
    try:
        found = told(program, MOST)
    except (TooLongError, StuckError):
        return ()
    (plan,) = program.plans
    pieces = [piece for lines in found for piece in _pieces(*lines)]
    return tuple(
        CriticalPath(phase.name, waits, phase.span)
        for number, phase in enumerate(plan.phases)
        for waits in [_of_phase(plan, phase, [one for one in pieces if one.phase == number])]
        if waits
    )


def _pieces(rows: Ints, ops: Sequence[TimedOp]) -> Iterator[_Piece]:
    for row, op in zip(rows.tolist(), ops, strict=True):
        named = dict(zip(PIECE, row, strict=True))
        yield _Piece(**named, receive=op.receive, send=op.send, phase=op.phase)


def _of_phase(plan: Plan, phase: Phase, pieces: list[_Piece]) -> tuple[Wait, ...]:
    ends = [one for one in pieces if one.received and one.ended != NOT_SO]
    if not ends:
        return ()
    last, way = max(ends, key=lambda one: one.ended), _Way(plan, phase, pieces)
    if multicast_of(phase) is not None:
        return (Wait(way.hops(last), "distance"),)
    return tuple(reversed([*way.back_from(last)]))


class _Way:
    """The way back within a phase."""

    def __init__(self, plan: Plan, phase: Phase, pieces: list[_Piece]) -> None:
        self.plan, self.phase = plan, phase
        self.by_pe: dict[int, list[_Piece]] = {}
        for one in pieces:
            self.by_pe.setdefault(one.pe, []).append(one)

    def back_from(self, piece: _Piece) -> Iterator[Wait]:
        """What was waited for, the last first."""
        at: _Piece | None = piece
        while at is not None:
            before = self._before(at)
            if not at.received:
                at = before
                continue
            source = None if at.sender == NOT_SO else self.rank(at.sender)
            waited = at.taken - at.came + at.held
            idle = at.taken - before.ended - 1 if before is not None else waited
            if 2 * idle < waited:  # most of it the PE was busy
                yield Wait(self.rank(at.pe), "previous", waited, source)
                at = before
            elif at.taken > at.came:
                yield Wait(self.rank(at.pe), "start", waited, source)
                at = before
            elif at.held and at.held_by != NOT_SO:
                yield Wait(self.rank(at.held_by), "router", waited, source)
                at = self._ended(at.held_by, at.taken)
            else:
                if source is not None:
                    yield Wait(source, "slices" if self.phase.slicing.count > 1 else "vector")
                at = self._sent(at)

    def _before(self, piece: _Piece) -> _Piece | None:
        """What the PE took before, or else moved before."""
        return self._latest(piece.pe, piece.taken, lambda one: one.received)

    def _ended(self, pe: int, cycle: int) -> _Piece | None:
        """The last that a PE had taken whole before a cycle."""
        return self._latest(pe, cycle, lambda one: one.received and one.ended < cycle)

    def _sent(self, piece: _Piece) -> _Piece | None:
        """What the sender of a piece did to send it."""
        return self._latest(piece.sender, piece.came, lambda one: one.send == piece.receive)

    def _latest(self, pe: int, cycle: int, wanted: Callable[[_Piece], bool]) -> _Piece | None:
        """The latest of a PE that is wanted and began before a cycle."""
        of = self.by_pe.get(pe, [])
        first = bisect_left(of, cycle, key=lambda one: one.taken)
        return next(filter(wanted, reversed(of[:first])), None)

    def rank(self, pe: int) -> int:
        """The rank of a PE on its line."""
        return self._rank_at[self._along(pe)]

    def hops(self, piece: _Piece) -> int:
        """How far a multicast has come to a PE."""
        (x, y), (to_x, to_y) = (self._lined(pe) for pe in (piece.sender, piece.pe))
        return abs(x - to_x) + abs(y - to_y)

    @cached_property
    def _rank_at(self) -> dict[int, int]:
        line = line_of(self.phase)
        found = {line.coordinate(rank): rank for rank in reversed(range(line.ranks))}
        return found | {line.coordinate(0): 0}

    def _along(self, pe: int) -> int:
        x, y = self._lined(pe)
        return y if self.phase.axis == "y" else x

    def _lined(self, pe: int) -> tuple[int, int]:
        """Where a PE is on the grid, or on the row that a path is unfolded to."""
        collective = self.plan.collective
        width = collective.grid.width
        x, y = pe % width, pe // width
        return (collective.path.place_of((x, y)), 0) if collective.path else (x, y)
