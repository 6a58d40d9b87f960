"""Step tables: the entries of a lane as numbers, which the emitted text reads and evaluation runs.

An entry is five numbers: bits that say what it does, the first slice that it puts out and how many
(of a relay the elements), the first slice that it takes and how many.
"""

from collections.abc import Sequence
from enum import IntFlag

import numpy as np

from collc.base.columns import Ints
from collc.plan.plan import Action, Buffer, Entry, Lane, Memory, Number, Op

FIELDS = 5  # numbers of an entry


class RowKind(IntFlag):
    """What an entry does, as bits. From bit `AREA_BITS` on stands the area of the stage it uses."""

    ENDS = 1  # the lane's last entry of a step
    SENDS = 2  # slices `out` of the vector
    RELAYS = 4  # lets `out_count` elements pass
    RECEIVES = 8  # into slices `into`
    COMBINES = 16  # with what is there, instead of overwriting it
    STAGES = 32  # receives into the stage
    APPLIES = 64  # takes slices `into` from the stage to the vector
    OVER = 128  # there are no more entries


AREA_BITS = 8


def bits_of(op: Op) -> int:
    """The bits of an operation; 0 for one that no step table has."""
    own = _bits_of_kind(op)
    if not own or op.vectors != 1 or op.filter or op.advance.value != "nothing":
        return 0
    return own


def _bits_of_kind(op: Op) -> int:
    combines = int(RowKind.COMBINES) if op.action is Action.COMBINE else 0
    if isinstance(op.send, str):
        if isinstance(op.receive, str):
            return int(RowKind.RELAYS) if op.action is Action.RELAY else 0
        sends = op.receive == Memory() and op.action is Action.COPY
        return int(RowKind.SENDS) if sends else 0
    if isinstance(op.receive, str):
        staged = op.send.buffer is Buffer.STAGE
        area = int(RowKind.STAGES) | op.send.area << AREA_BITS if staged else 0
        return 0 if op.action is Action.RELAY else int(RowKind.RECEIVES) | combines | area
    applies = op.receive.buffer is Buffer.STAGE and op.send == Memory()
    return int(RowKind.APPLIES) | combines | op.receive.area << AREA_BITS if applies else 0


def entries_of(lane: Lane) -> tuple[Entry, ...]:
    """The entries of all loops, each once."""
    return tuple(entry for loop in lane.table for entry in loop.entries)


def varies(entry: Entry) -> bool:
    """Whether what an entry does depends on the place."""
    return entry.ends_step.varies or any(op.where.varies for op in entry.ops)


def kind_of(entry: Entry) -> int:
    """The bits of an entry that does the same at all places."""
    bits = int(RowKind.ENDS) * entry.ends_step.offset
    for op in entry.ops:
        bits |= bits_of(op) * op.where.offset
    return bits


def values_at(number: Number, places: Ints) -> Ints:
    """The number at several places."""
    index = places // number.divisor
    value = number.slope * index + number.offset
    value = value % number.modulus if number.modulus else value
    if number.table:
        entry = places // number.every % len(number.table)
        value = value + np.array(number.table, dtype=np.int64)[entry]
    return value


def values_of(numbers: Sequence[Number], places: Ints) -> Ints:
    """Several numbers, most of which may be the same at all places, as [numbers, places]."""
    offsets = np.array([number.offset for number in numbers], dtype=np.int64)
    found = np.repeat(offsets[:, None], len(places), axis=1)
    known: dict[int, Ints] = {}
    for index, number in enumerate(numbers):
        if number.slope or number.table or number.modulus:
            if id(number) not in known:
                known[id(number)] = values_at(number, places)
            found[index] = known[id(number)]
    return found


def kinds_at(entries: Sequence[Entry], places: Ints) -> Ints:
    """The bits of entries at several places, as [entries, places]."""
    found = values_of([entry.ends_step for entry in entries], places) * int(RowKind.ENDS)
    ops = [(at, op) for at, entry in enumerate(entries) for op in entry.ops]
    there = values_of([op.where for _, op in ops], places)
    bits = np.array([bits_of(op) for _, op in ops], dtype=np.int64).reshape(-1, 1)
    np.bitwise_or.at(found, [at for at, _ in ops], bits * there)
    return found


def table_at(lane: Lane, places: Ints) -> Ints:
    """The entries of all loops of a lane at several places, as [entries, fields, places]; what an
    entry does not do has 0 slices."""
    entries = entries_of(lane)
    found = np.zeros((len(entries), FIELDS, len(places)), dtype=np.int64)
    found[:, 0] = kinds_at(entries, places)
    ops = [(at, op) for at, entry in enumerate(entries) for op in entry.ops]
    there = values_of([op.where for _, op in ops], places)
    firsts = values_of([op.slices.first for _, op in ops], places) * there
    counts = values_of([extent_of(op) for _, op in ops], places) * there
    for number, (at, op) in enumerate(ops):
        field = 1 if puts_out(op) else 3
        found[at, field] += firsts[number]
        found[at, field + 1] += counts[number]
    return found


def puts_out(op: Op) -> bool:
    """Whether it uses the output of its lane, and not only its input or memory."""
    return isinstance(op.send, str)


def extent_of(op: Op) -> Number:
    """How many slices it moves, or elements, as a table has it."""
    return op.slices.count if op.elements is None else op.elements


def numbers_of(op: Op) -> tuple[Number, Number]:
    """Its first slice, and how many it moves."""
    return op.slices.first, extent_of(op)
