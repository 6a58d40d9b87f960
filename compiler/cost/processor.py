"""What joined calls take from each other: a PE has one processor for the code of all of them.

A task is never interrupted, and one that is due while another runs waits for its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

import numpy as np

from collc.base.columns import Array, Bools
from collc.base.values import dataclass
from collc.cost.predict import Times
from collc.cost.stretches import BEGIN, DUE, END, Stretches

# by PE: when code was due, from which cycle on it runs, and before which one
Stretch = tuple[Times, Times, Times]

# by PE: from when to when others work, cycles of what they receive, and of all that they do
Work = tuple[Times, Times, Times, Times]

BEFORE_ALL = -1  # when code of the system of others is due: it goes before all that waits
ALSO_FIRST = 1  # cycles that the system's code may be due behind a task and still goes before it


@dataclass(frozen=True)
class Piece:
    """Code of the PEs in `on`: the cycle in which it is due, and how many it takes. The `system`'s
    goes before all that waits; it handles the teardown of the `color` of a number."""

    due: Times
    cycles: Times
    on: Bools
    system: bool = False
    color: int = -1

    @property
    def length(self) -> Times:
        """What it takes; 0 where there is none."""
        return np.where(self.on, self.cycles, 0)


def restricted(pieces: Sequence[Piece], masks: Iterable[Bools]) -> list[Piece]:
    """Pieces of code on the PEs of a mask alone, without those that none is left with."""
    masked = (replace(piece, on=piece.on & mask) for piece, mask in zip(pieces, masks, strict=True))
    return [piece for piece in masked if piece.on.any()]


@dataclass(frozen=True)
class Stall:
    """By PE: an operation that sends stops behind so many elements, for so many cycles."""

    behind: Times
    cycles: Times


@dataclass
class Processor:
    """As one call sees it: when the code of the `others` runs, and when its own does."""

    others: list[Stretch]
    gap: int = 0  # cycles from the end of a task to the beginning of the next, at least
    given: list[Stretch] = field(default_factory=list)
    others_work: list[Work] = field(default_factory=list)
    handled: list[int] = field(default_factory=list)  # which of `given` are the system's
    coming: Stretches | None = None  # elements, which go first, in order
    work: list[Work] = field(default_factory=list)
    stacked: Times | None = None  # see `_taken`
    stacked_of_given: int = 0

    def put_off(self, begin: Times, end: Times, sends: Bools) -> Times:
        """By how much work that would be done from `begin` to `end` ends later for what others do
        meanwhile; for what `sends` and receives nothing that is all that they do."""
        late = np.zeros_like(begin)
        for start, over, received, done in self.others_work:
            cycles = np.where(sends, done, received)
            meanwhile = np.maximum(np.minimum(end, over) - np.maximum(begin, start), 0)
            late += cycles * meanwhile // np.maximum(over - start, 1)
        return late

    def hold(self, due: Times, begin: Times, end: Times) -> None:
        """Code that was due in a cycle runs from here to there, whatever else is due."""
        self.given.append((due, begin, end))

    def handle(self, begin: Times, end: Times) -> None:
        """A handler of the system's runs from here to there."""
        self.handled.append(len(self.given))
        self.hold(np.full_like(begin, BEFORE_ALL), begin, end)

    def run(self, code: Stretches, last: Times, end: Times) -> None:
        """Tasks have run; the one that begins in the cycle `last` is over in another one."""
        for one in range(code.shape[-1]):
            due, begin, over = (code[..., time, one] for time in (DUE, BEGIN, END))
            self.hold(due, begin, np.where(begin == last, end, over))

    def beside(self, begun: Times, pieces: Sequence[Piece]) -> Stretches:
        """What runs beside an exchange that is called in a cycle: code of others, and these."""
        taken = list(self.others)
        for piece, begin in zip(pieces, self.would_take(pieces) if pieces else [], strict=True):
            taken.append((np.full_like(begin, BEFORE_ALL), begin, begin + piece.length))
        code = np.moveaxis(
            np.array(taken, dtype=np.int64).reshape(-1, 3, *begun.shape), (0, 1), (3, 2)
        )
        code = np.where((code[..., BEGIN, :] > begun[..., None])[..., None, :], code, 0)
        some: Stretches = code[..., code.any(axis=(0, 1, 2))]
        return some

    def first_free(self, due: Times) -> Times:
        """When code begins that is due in a cycle; it waits for what was due before."""
        if not self.others and not self.given:
            return due
        earlier, start, end = self._taken()
        held, begin = (earlier <= due) & (start < end), due
        while True:
            waits = held & (start <= begin) & (begin < end + self.gap)
            later: Times = np.where(waits, end + self.gap, begin).max(axis=0)
            if (later == begin).all():
                return begin
            begin = later

    def _taken(self) -> Times:
        """What a stretch says, of others' and those given: stacked as they come, since every piece
        asks."""
        new = self.given[self.stacked_of_given :]
        if self.stacked is None:
            self.stacked = np.stack([*self.others, *new], axis=1)
        elif new:
            self.stacked = np.concatenate((self.stacked, np.stack(new, axis=1)), axis=1)
        self.stacked_of_given = len(self.given)
        return self.stacked

    def take(self, pieces: Sequence[Piece]) -> list[Times]:
        """When pieces of code begin: on each PE in the order in which they are due, but the
        system's before a task that has to wait."""
        begun = np.stack([piece.due for piece in pieces])
        tasks = [number for number, piece in enumerate(pieces) if not piece.system]
        system = [number for number, piece in enumerate(pieces) if piece.system]
        handlers = [pieces[number] for number in system]
        left = [piece.on for piece in handlers]
        for one in np.argsort(begun[tasks], axis=0, kind="stable")[:, None] if tasks else ():
            due, length = (
                np.take_along_axis(np.stack(of), one, axis=0)[0]
                for of in zip(*((pieces[n].due, pieces[n].length) for n in tasks), strict=True)
            )
            early = self._early(handlers, left, due)
            at_first = self._in_order(handlers, early, first=True)
            for number, on, at in zip(system, early, at_first, strict=True):
                begun[number] = np.where(on, at, begun[number])
            left = [on & ~first for on, first in zip(left, early, strict=True)]
            begin = self.first_free(due)
            self.hold(due, begin, self._ended(begin, length))
            of_tasks = begun[tasks]
            np.put_along_axis(of_tasks, one, begin[None], axis=0)
            begun[tasks] = of_tasks
        for number, on, at in zip(system, left, self._in_order(handlers, left), strict=True):
            begun[number] = np.where(on, at, begun[number])
        return list(begun)

    def _early(self, handlers: Sequence[Piece], left: Sequence[Bools], due: Times) -> list[Bools]:
        """Where handlers that are left go before a task that is due in a cycle: each that is due
        when the task could begin puts it off."""
        if not handlers:
            return []
        waits = self.first_free(due)
        dues = np.stack([np.broadcast_to(piece.due, due.shape) for piece in handlers])
        lengths = np.stack([piece.length for piece in handlers])
        order = np.argsort(dues, axis=0, kind="stable")
        early = []
        for when, length, on in _sorted(order, dues, lengths, np.stack(left)):
            early.append(on & (when <= waits + ALSO_FIRST))
            waits = np.where(early[-1], self._ended(waits, length) + self.gap, waits)
        return _unsorted(order, early)

    def _ended(self, begin: Times, length: Times) -> Times:
        """When code ends that begins in a cycle: elements that come meanwhile go before it."""
        end = begin + length
        stretches = () if self.coming is None else np.moveaxis(self.coming, (-1, -2), (0, 1))
        for _, first, beyond in stretches:
            meets = (length > 0) & (first < end) & (beyond > begin)
            end = np.where(meets, end + beyond - np.maximum(first, begin), end)
        return end

    def _in_order(
        self, pieces: Sequence[Piece], masks: Sequence[Bools], *, first: bool = False
    ) -> list[Times]:
        """When pieces of the system begin on the PEs of their masks, as they are due; `first` if a
        task that was due before waits for them."""
        if not pieces:
            return []
        due, on = np.stack([piece.due for piece in pieces]), np.stack(masks)
        length = np.stack([piece.length for piece in pieces])
        order = np.argsort(due, axis=0, kind="stable")
        begun = []
        for when, cycles, here in _sorted(order, due, length, on):
            begin = self.first_free(when)
            self.handled.append(len(self.given))
            waited = np.where(here & (not first), when, 0)
            self.hold(waited, begin, self._ended(begin, np.where(here, cycles, 0)))
            begun.append(begin)
        return _unsorted(order, begun)

    def sends(self, time: Times, length: Times, pieces: Sequence[Piece]) -> tuple[Times, Stall]:
        """When an operation that only sends, so many cycles long, would have to begin in an idle PE
        to be over when it is: it waits for code, that of these pieces among it. And where it stops
        when it has begun."""
        taken = [*self.others, *self.given]
        for piece, begin in zip(pieces, self.would_take(pieces) if pieces else [], strict=True):
            taken.append((begin, begin, begin + piece.length))
        behind, late = length, np.zeros_like(time)
        if not taken:
            return time, Stall(behind, late)
        starts, ends = (
            np.stack([np.broadcast_to(one[n], time.shape) for one in taken]) for n in (1, 2)
        )
        begins, shifted = time, time
        for one in np.argsort(starts, axis=0, kind="stable")[:, None]:
            start, end = (np.take_along_axis(of, one, axis=0)[0] for of in (starts, ends))
            holds = (start < np.maximum(shifted + length, begins + 1)) & (end > begins)
            first = holds & (start <= begins)
            put_off = np.where(first, end - begins, np.where(holds, end - start, 0))
            behind = np.where(holds & ~first & (late == 0), start - begins, behind)
            late = late + np.where(first, 0, put_off)
            begins, shifted = np.where(first, end, begins), shifted + put_off
        return shifted, Stall(behind, late)

    def would_take(self, pieces: Sequence[Piece]) -> list[Times]:
        """The same, without taking it."""
        return self.tried().take(pieces)

    def tried(self) -> Processor:
        """A copy, which may take what is not taken yet."""
        return replace(self, given=list(self.given), handled=list(self.handled))

    def as_others(self) -> list[Stretch]:
        """When its code runs, as other calls see it."""
        handled = set(self.handled)
        return [
            (np.full_like(due, BEFORE_ALL) if number in handled else due, begin, end)
            for number, (due, begin, end) in enumerate(self.given)
        ]


def _sorted(order: Times, *rows: Array) -> Iterator[tuple[Array, ...]]:
    """Rows by the order on each PE."""
    return zip(*(np.take_along_axis(of, order, axis=0) for of in rows), strict=True)


def _unsorted(order: Times, rows: Sequence[Array]) -> list[Array]:
    """What was made in an order, as it was before."""
    made = np.stack(rows)
    np.put_along_axis(made, order, made.copy(), axis=0)
    return list(made)
