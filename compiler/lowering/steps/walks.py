"""Which loops of a lane walk: every turn's slices lie right behind those of the turn before.

The registers of such a loop are loaded for its first turn, and again where slices begin anew; in
between each operation leaves them where the next one goes on. All rows of an exchange pass their
elements the same way, from the first to the last or from the last to the first, since both ends of
a transfer have to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from collc.lowering.steps.rows import FIELDS
from collc.lowering.steps.traffic import Bools, Ints
from collc.plan import RowKind
from collc.steps import Slicing

LaneForm = tuple[tuple[int, int], ...]  # of each loop: rows, and 1 if it is run more than once

SENDS, RECEIVES = int(RowKind.SENDS), int(RowKind.RECEIVES)
LOADED = int(RowKind.RELAYS | RowKind.STAGES | RowKind.APPLIES)  # rows with operands of other kinds


@dataclass(frozen=True, eq=False)
class LaneProgram:
    """The loops of a lane at several places, as [places, numbers]; `form` says how to read it.
    Rows of the kinds `reads` say which slices they put out."""

    form: LaneForm
    places: Ints
    numbers: Ints
    reads: int = SENDS


def way_to_walk(programs: Sequence[LaneProgram], slicing: Slicing) -> int:
    """1 or -1, whichever saves more loads; 0 if none does or slices differ in length."""
    if slicing.count == 1 or not slicing.even:
        return 0
    saved = {way: _saved(programs, slicing.count, way) for way in (1, -1)}
    best = max(saved, key=lambda way: saved[way])
    return best if saved[best] else 0


def _saved(programs: Sequence[LaneProgram], slices: int, way: int) -> int:
    """The turns that need no loads."""
    return sum(
        int((program.numbers[walks, at] - 1).sum())
        for program in programs
        for at, walks in _walks(program, slices, way)
    )


def walking(program: LaneProgram, slices: int, way: int) -> LaneProgram:
    """The program with a third number in the head of each loop, if registers walk."""
    if not way:
        return program
    places = len(program.numbers)
    parts, begin = [np.zeros((places, 0), dtype=np.int64)], 0
    for at, walks in _walks(program, slices, way):
        parts += [program.numbers[:, begin : at + 2], walks[:, None].astype(np.int64)]
        begin = at + 2
    parts.append(program.numbers[:, begin:])
    numbers = np.concatenate(parts, axis=1)
    return LaneProgram(program.form, program.places, numbers, program.reads)


def _walks(program: LaneProgram, slices: int, way: int) -> Iterator[tuple[int, Bools]]:
    """Where each loop begins, and at which places it walks."""
    at = 0
    for size, _ in program.form:
        turns, shift, kind, _, sent, _, taken = program.numbers[:, at : at + 7].T
        yield (
            at,
            (turns > 1)
            & (turns <= slices)
            & (size == 1)
            & (shift == way % slices)
            & ((kind & LOADED) == 0)
            & ((kind & (SENDS | RECEIVES)) > 0)
            & (((kind & SENDS) == 0) | (sent == 1))
            & (((kind & RECEIVES) == 0) | (taken == 1)),
        )
        at += 2 + size * FIELDS
