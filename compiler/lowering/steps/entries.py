"""Entries of a lane from the bits and numbers of rows: operations, and which places have them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.values import dataclass
from collc.lowering.steps.formulas import Formulas
from collc.lowering.steps.numbers import number_of
from collc.plan import (
    AREA_BITS,
    ONE,
    VECTOR,
    ZERO,
    Action,
    Buffer,
    Entry,
    Lane,
    Loop,
    Memory,
    Number,
    Op,
    RowKind,
    Slices,
)
from collc.plan.plan import Once

INPUT, OUTPUT = "input", "output"  # of a lane, whose colors depend on the role
OUT = int(RowKind.SENDS | RowKind.RELAYS)
INTO = ~(OUT | int(RowKind.ENDS))


@dataclass(frozen=True, eq=False)
class Entries:
    """What makes entries of a program: its places, the slices, the bits of rows that say which
    slices they put out, the formulas known so far, and whether elements pass `backward`."""

    places: Ints
    slices: int
    reads: int
    formulas: Formulas
    backward: bool

    def entry(self, kinds: Ints, numbers: Sequence[Number]) -> Entry:
        """An entry of rows with these kinds, by place, and these numbers."""
        ends = self._where((kinds & int(RowKind.ENDS)) > 0)
        ops = []
        for part, slices in ((OUT, numbers[1:3]), (INTO, numbers[3:5])):
            for bits in sorted(set((kinds & part).tolist())):
                if bits:
                    where = self._where((kinds & part) == bits)
                    ops.append(self._op(bits, Slices(slices[0], slices[1], self.backward), where))
        return Entry(tuple(ops), ends)

    def _where(self, there: Bools) -> Number:
        """1 at some places, 0 at the others."""
        if there.all() or not there.any():
            return ONE if there.all() else ZERO
        key = self.places.tobytes() + there.tobytes()
        if key not in self.formulas:
            self.formulas[key] = number_of(self.places, there.astype(np.int64), self.slices)
        return self.formulas[key]

    def _op(self, bits: int, slices: Slices, where: Number) -> Op:
        if bits & RowKind.SENDS:
            return Op(VECTOR, Action.COPY, OUTPUT, slices, where=where)
        if bits & RowKind.RELAYS and bits & self.reads:
            return Op(INPUT, Action.RELAY, OUTPUT, slices, where=where)
        if bits & RowKind.RELAYS:
            return Op(INPUT, Action.RELAY, OUTPUT, elements=slices.count, where=where)
        action = Action.COMBINE if bits & RowKind.COMBINES else Action.COPY
        stage = Memory(Buffer.STAGE, bits >> AREA_BITS)
        if bits & RowKind.APPLIES:
            return Op(stage, action, VECTOR, slices, where=where)
        into = stage if bits & RowKind.STAGES else VECTOR
        return Op(INPUT, action, into, slices, where=where)


def with_colors(lane: Lane, receives_on: str | None, sends_on: str | None) -> Lane:
    """A lane of a role, whose input and output have these colors."""
    names = {INPUT: receives_on or "", OUTPUT: sends_on or ""}
    return replace(lane, loops=tuple(_loops(lane.loops, names)))


def _loops(loops: Sequence[Loop | Once], names: dict[str, str]) -> Iterator[Loop | Once]:
    for loop in loops:
        entries = (
            replace(entry, ops=tuple(_colored(op, names) for op in entry.ops))
            for entry in loop.entries
        )
        yield replace(loop, entries=tuple(entries))


def _colored(op: Op, names: dict[str, str]) -> Op:
    receive = names[op.receive] if isinstance(op.receive, str) else op.receive
    send = names[op.send] if isinstance(op.send, str) else op.send
    return replace(op, receive=receive, send=send)
