"""The code of step tables, as `table.csl.j2` prints it: what it does for each row of a lane.

Rows are known here, and so are the tests on their bits. What a compiler knows to be in a register
is read once: until an operation is issued, or code meets behind an `if`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from collc.base.values import dataclass
from collc.emit.acts import (
    ADDRESS,
    AREA,
    BIT,
    BOUND,
    COUNTED,
    ENDS_AT,
    LATE,
    NUMBER,
    READ,
    ROW,
    STORE,
    STORE_CONSTANT,
    Acts,
    Takes,
    code,
    do,
    load,
    wait,
)
from collc.plan import Phase, RowKind
from collc.plan.unrolled import unrolled

SENDS, RELAYS, RECEIVES = int(RowKind.SENDS), int(RowKind.RELAYS), int(RowKind.RECEIVES)
COMBINES, STAGES, APPLIES = int(RowKind.COMBINES), int(RowKind.STAGES), int(RowKind.APPLIES)
ENDS, OVER = int(RowKind.ENDS), int(RowKind.OVER)
MOVES, INTO = SENDS | RELAYS, RECEIVES | APPLIES
FABRIC = MOVES | RECEIVES


@dataclass(frozen=True)
class Row:
    """What a row does, as bits, and the elements that it sends and receives. What is `written` is
    what it would do if none of its slices were empty, where calls give the length."""

    kind: int
    area: int
    out: int
    into: int
    written: int


BEHIND = Row(OVER, 0, 0, 0, OVER)


def rows_at(phase: Phase, lane: int, place: int, *, alone: bool) -> tuple[Row, ...]:
    """The rows of a lane at a place, without those that do nothing. The last one of a lane that is
    not `alone` ends a step."""
    rows = unrolled(phase)
    at = place * rows.lanes + lane
    here = slice(int(rows.start[at]), int(rows.start[at + 1]))
    out = rows.out_to[here] - rows.out_from[here] + rows.passed[here]
    into = rows.into_to[here] - rows.into_from[here]
    kind = rows.kind[here]
    written = rows.written[here] if phase.slicing.dynamic else kind
    columns = (column.tolist() for column in (kind, rows.area[here], out, into, written))
    found = [Row(*numbers) for numbers in zip(*columns, strict=True)]
    found = [row for row in found if row.written & (FABRIC | INTO | ENDS)]
    if found and not alone:
        last = found[-1]
        found[-1] = replace(last, kind=last.kind | ENDS, written=last.written | ENDS)
    return tuple(found)


class Facts:
    """What the rows of a lane have in common, by the names that the template has for it."""

    def __init__(self, rows: Sequence[Row], *, varies: bool) -> None:
        self.rows, self.varies = rows, varies
        self.some_move, self.all_move = self._some(MOVES), self._every(-1, MOVES)
        self.some_relay, self.all_relay = self._some(RELAYS), self._every(MOVES, RELAYS)
        self.some_receive, self.all_receive = self._some(RECEIVES), self._every(-1, RECEIVES)
        self.some_stage, self.all_stage = self._some(STAGES), self._every(RECEIVES, STAGES)
        self.some_combine, self.all_combine = self._some(COMBINES), self._every(INTO, COMBINES)
        self.some_apply, self.all_wait = self._some(APPLIES), self._every(-1, FABRIC)
        self.some_area = any(row.area for row in rows)
        self.some_both = any(row.written & MOVES and row.written & RECEIVES for row in rows)

    def _some(self, bits: int) -> bool:
        return any(row.written & bits for row in self.rows)

    def _every(self, of: int, bits: int) -> bool:
        return all(row.written & bits for row in self.rows if row.written & of)

    def _same(self, sizes: set[int]) -> int:
        alike = len(sizes) == 1 and not self.some_relay and not self.varies
        return sizes.pop() if alike else 0

    @property
    def always_waits(self) -> bool:
        """Whether code waits behind the start of each row, and knows it."""
        return self.all_wait and not self.varies

    @cached_property
    def out_extent(self) -> int:
        """How many elements each row sends; 0 if they differ."""
        return self._same({row.out for row in self.rows if row.kind & MOVES})

    @cached_property
    def in_extent(self) -> int:
        """The same of what comes."""
        return self._same({row.into for row in self.rows if row.kind & INTO})


class Applied(Protocol):
    """How many registers an operation in memory has, and its cycles."""

    def __call__(self, elements: int, *, combines: bool) -> tuple[int, int]:
        """Of an operation on so many elements that it combines or moves."""
        ...


@dataclass(frozen=True)
class Given:
    """A lane of a PE: what its rows have in common, its operations by what they do, its task;
    registers and cycles of so many elements in memory; whether slices go backward."""

    facts: Facts
    takes: Takes
    ops: dict[str, int]
    task: int
    applied: Applied
    backward: bool


class RowText:
    """Prints acts one behind the other, and knows which variables are in registers."""

    def __init__(self, given: Given) -> None:
        self.given, self.facts, self.takes = given, given.facts, given.takes
        self.acts: Acts = []
        self.known: set[str] = set()

    def add(self, *acts: Acts) -> None:
        """What comes next."""
        for of in acts:
            self.acts += of

    def read(self, name: str) -> None:
        """A variable comes to a register."""
        if name not in self.known:
            self.known.add(name)
            self.add(code(READ))

    def jump(self, *, holds: bool) -> bool:
        """An `if`, which is jumped over if its condition does not hold."""
        self.add(self.takes.passed if holds else self.takes.taken)
        return holds

    def bit(self, of: str, holds: object) -> bool:
        """A bit of a variable is asked for."""
        self.read(of)
        self.add(code(BIT))
        return self.jump(holds=bool(holds))

    def _issue(self, op: str, loads: int) -> None:
        number = self.given.ops[op]
        self.add(load(loads, number), [do("issue", number)])
        self.known.clear()

    # the start of a row

    def start(self, row: Row) -> None:
        """A prepared row is started."""
        self.read("does")
        self.add(code(STORE))
        self.known.add("now")
        self._receive(row)
        self._send(row)
        self._apply(row)

    def _receive(self, row: Row) -> None:
        facts = self.facts
        if not facts.some_receive:
            return
        known = facts.all_receive and not facts.varies
        if known or self.bit("now", row.kind & RECEIVES):
            if not facts.in_extent:
                self._sized("place_size", "in")
            stages = row.kind & STAGES
            asks = facts.some_stage and not facts.all_stage
            if facts.some_stage and (facts.all_stage or self.bit("now", stages)):
                self._issue("in", 1)
                if asks:
                    self.add(self.takes.taken)
            else:
                self._place(row)
        if not known:
            self.known.clear()

    def _place(self, row: Row) -> None:
        facts = self.facts
        asks = facts.some_combine and not facts.all_combine
        self.add(load(1, self.given.ops["in"]))
        if facts.some_combine and (facts.all_combine or self.bit("now", row.kind & COMBINES)):
            self._issue("in", 1)
            if asks:
                self.add(self.takes.taken)
        else:
            self._issue("in", 0)

    def _sized(self, size: str, op: str) -> None:
        self.read(size)
        self.add(code(1), load(1, self.given.ops[op]))

    def _send(self, row: Row) -> None:
        facts = self.facts
        if not facts.some_move:
            return
        known = facts.all_move and not facts.varies
        if known or self.bit("now", row.kind & MOVES):
            if facts.some_both:
                self._blocks(row)
            op = "relay" if row.kind & RELAYS else "out"
            if not facts.out_extent:
                self._sized("source_size", op)
            asks = facts.some_relay and not facts.all_relay
            if facts.some_relay and (facts.all_relay or self.bit("now", row.kind & RELAYS)):
                self._sized("source_size", "relay")
                self._issue("relay", 0)
                if asks:
                    self.add(self.takes.taken)
            else:
                self._issue("out", 1)
        if not known:
            self.known.clear()

    def _blocks(self, row: Row) -> None:
        self.add(code(1), [do("block", self.given.task)])
        if not self.facts.all_receive or self.facts.varies:
            if self.bit("now", not row.kind & RECEIVES):
                self.add(code(1), [do("activate", self.given.task)])
            self.known.clear()

    def _apply(self, row: Row) -> None:
        facts = self.facts
        if not facts.some_apply:
            return
        if self.bit("now", row.kind & APPLIES):
            asks = facts.some_combine and not facts.all_combine
            combines = facts.some_combine and (
                facts.all_combine or self.bit("now", row.kind & COMBINES)
            )
            number = self.given.ops["memory"]
            loads, cycles = self.given.applied(row.into, combines=combines)
            self.add(load(loads, number), [do("settle", number)], code(cycles))
            if asks and combines:
                self.add(self.takes.taken)
        self.known.clear()

    # the row behind it is prepared

    def prepare(self, row: Row, *, first: bool = False) -> None:
        """A row is prepared, which at the beginning of a call is the first one."""
        if first:
            self.add(code(READ + STORE))
        else:
            self.read("next")
            self.add(code(ROW), wait(ADDRESS), code(READ + STORE), wait(LATE))
        self.known.add("does")
        if self.facts.varies:
            self._cut(row, first=first)
        else:
            self._prepare_sent(first=first)
            self._prepare_received(first=first)
        self.add(code(STORE_CONSTANT if first else COUNTED))

    # of a length that calls give

    def _cut(self, row: Row, *, first: bool) -> None:
        """The slices of a row are looked up, if it has some."""
        facts = self.facts
        if facts.some_move:
            if self.bit("does", row.written & MOVES):
                self._looked_up(first=first)
                self.add(code(STORE))
                self._left_out(not row.kind & MOVES)
                if not facts.all_relay:
                    self.add(code(READ + self.given.backward * ENDS_AT + 1 + READ + 1 + STORE))
            self.known.clear()
        if facts.some_receive or facts.some_apply:
            if self.bit("does", row.written & INTO):
                self._looked_up(first=first)
                self.add(code(STORE))
                self.add(code(READ + self.given.backward * ENDS_AT + 2 + STORE))
                if facts.some_stage or facts.some_apply:
                    self.add(code(AREA + 2 + STORE))
                self._left_out(not row.kind & INTO)
            self.known.clear()
        if not first:
            self.read("next")

    def _left_out(self, empty: bool) -> None:
        """What has no element is left out."""
        self.add(code(1))
        if self.jump(holds=empty):
            self.add(code(1 + STORE))
        self.known.clear()

    def _looked_up(self, *, first: bool) -> None:
        """Where slices begin, and how many elements they have."""
        if not first and "next" not in self.known:
            self.read("next")
            self.add(code(1))
        self._number(first=first)
        self.add([] if first else wait(LATE), code(BOUND), wait(ADDRESS), code(READ))
        self._number(first=first)
        self.add([] if first else wait(LATE), code(1 + BOUND), code(READ), wait(LATE), code(1))

    def _number(self, *, first: bool) -> None:
        """A number of the row is read."""
        self.add(code(READ) if first else [*code(NUMBER), *wait(ADDRESS), *code(READ)])

    def _size(self, name: str, *, first: bool) -> None:
        self._number(first=first)
        self.add(code(STORE), [] if first else wait(LATE))

    def _operand(
        self, *, first: bool, sized: bool, vector: bool = True, number: bool = True
    ) -> None:
        """A descriptor at a number of the row, with a length of its own if `sized`."""
        self.add(code(READ * vector))
        if number:
            self._number(first=first)
        self.add(code(1), [] if first or not number else wait(LATE), code(sized))

    def _prepare_sent(self, *, first: bool) -> None:
        facts = self.facts
        if facts.some_move and not facts.all_relay:
            self._operand(first=first, sized=False)
            if not facts.out_extent:
                self._size("source_size", first=first)
            self.add(code(1 * (not facts.out_extent) + STORE))
        elif facts.some_relay:
            self._size("source_size", first=first)

    def _prepare_received(self, *, first: bool) -> None:
        facts, sized = self.facts, not self.facts.in_extent
        if not (facts.some_receive or facts.some_apply):
            return
        if sized:
            self._size("place_size", first=first)
        in_vector = not facts.all_stage or facts.some_apply
        if in_vector:
            self._operand(first=first, sized=sized)
            self.add(code(STORE))
        if facts.some_stage or facts.some_apply:
            behind = self.given.backward * (1 + sized)
            self.add(code(behind + AREA * facts.some_area))
            self._operand(first=first, sized=sized, vector=False, number=not in_vector)
            self.add(code(STORE))

    # loops

    def behind(self, rows: Sequence[Row], at: int) -> tuple[int, bool]:
        """Behind the start of row `at`, where lanes go together: the last row that is started, and
        whether it ends a step for which nothing is waited."""
        self.prepare(_row(rows, at + 1))
        if self.facts.always_waits:
            return at, False
        begun = False
        while True:
            waits = rows[at].kind & FABRIC
            self.read("now")
            self.add(code(BIT))
            self.add(self.takes.taken if bool(waits) is not begun else self.takes.passed)
            self.known.clear()
            if waits:
                return at, False
            if self.bit("now", rows[at].kind & ENDS):
                self.add(code(READ + COUNTED), self.takes.taken)
                self.known.clear()
                return at, True
            at, begun = at + 1, True
            self.start(_row(rows, at))
            self.prepare(_row(rows, at + 1))


def _row(rows: Sequence[Row], at: int) -> Row:
    return rows[at] if at < len(rows) else BEHIND
