"""Step tables as they are printed: which lanes share one, and its entries as five numbers each."""

from collections.abc import Hashable, Sequence

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.emit.place_numbers import Speller
from collc.lowering.memory import lane_numbers
from collc.lowering.steps.numbers import number_of
from collc.plan import AREA_BITS, Entry, Lane, Number, Phase, RowKind
from collc.plan.entries import extent_of, kind_of, kinds_at, puts_out, values_of, varies
from collc.plan.step_tables import places_of

# what a row does: the name of the bit in the text
BITS = {
    int(RowKind.ENDS): "entry_ends",
    int(RowKind.SENDS): "entry_sends",
    int(RowKind.RELAYS): "entry_relays",
    int(RowKind.RECEIVES): "entry_receives",
    int(RowKind.COMBINES): "entry_combines",
    int(RowKind.STAGES): "entry_stages",
    int(RowKind.APPLIES): "entry_applies",
    int(RowKind.OVER): "entry_over",
}


@dataclass(frozen=True)
class ProgramModel:
    """The rows of a lane for the roles that have this number: a function of the place `p`."""

    name: str
    number: int
    size: int
    lines: tuple[str, ...]


_ALTERNATIVES = 64  # of one `if`


def in_groups(programs: Sequence[ProgramModel]) -> tuple[tuple[ProgramModel, ...], ...]:
    """The programs in groups, since no compiler follows an `else` behind an `else` for ever."""
    return tuple(
        tuple(programs[first : first + _ALTERNATIVES])
        for first in range(0, len(programs), _ALTERNATIVES)
    )


@dataclass(frozen=True)
class PrintedLoop:
    """Turns, shift and how many entries, then each entry's numbers: bits, first slice and slices to
    send (or elements to relay), first slice and slices to receive."""

    head: tuple[Number, Number, Number]
    entries: tuple[tuple[Number, ...], ...]


@dataclass(frozen=True)
class StepTable:
    """A table of some roles' lanes: its number, from 1 on, one of these lanes, and its loops."""

    number: int
    lane: Lane
    loops: tuple[PrintedLoop, ...]


@memoized
def table_numbers(phase: Phase, index: int) -> tuple[int, ...]:
    """For each role the number of the table that its lane has, 0 for none. Lanes that do the same,
    whatever their colors, have one."""
    numbers: dict[Hashable, int] = {}
    lanes = (role.lanes[index] for role in phase.roles)
    return tuple(
        numbers.setdefault(_meaning(lane), len(numbers) + 1) if lane.table else 0 for lane in lanes
    )


@memoized
def tables_of(phase: Phase, index: int) -> tuple[StepTable, ...]:
    """The tables of a lane, in the order of the roles."""
    roles: dict[int, list[int]] = {}
    for role, number in enumerate(table_numbers(phase, index)):
        if number:
            roles.setdefault(number, []).append(role)
    found = []
    for number, having in roles.items():
        lane = phase.roles[having[0]].lanes[index]
        places = np.unique(np.concatenate([places_of(phase, role) for role in having]))
        found.append(StepTable(number, lane, _loops(phase, lane, places)))
    return tuple(found)


def _meaning(lane: Lane) -> Hashable:
    """What a lane does, but for its colors."""
    return tuple(
        (
            loop.turns,
            loop.shift,
            tuple(
                (
                    entry.ends_step,
                    tuple(
                        (
                            isinstance(op.receive, str) or op.receive,
                            op.action,
                            isinstance(op.send, str) or op.send,
                            op.slices,
                            op.elements,
                            op.where,
                        )
                        for op in entry.ops
                    ),
                )
                for entry in loop.entries
            ),
        )
        for loop in lane.table
    )


def _loops(phase: Phase, lane: Lane, places: Ints) -> tuple[PrintedLoop, ...]:
    slices = phase.slicing.count
    return tuple(
        PrintedLoop(
            (loop.turns, loop.shift, Number(len(loop.entries))),
            tuple(_numbers(entry, places, slices) for entry in loop.entries),
        )
        for loop in lane.table
    )


def _numbers(entry: Entry, places: Ints, slices: int) -> tuple[Number, ...]:
    """The five numbers of an entry."""
    kind = Number(kind_of(entry))
    if varies(entry):
        kind = number_of(places, kinds_at((entry,), places)[0], slices)
    found = [kind]
    for out in (True, False):
        ops = [op for op in entry.ops if puts_out(op) is out]
        sliced = [op for op in ops if op.elements is None]
        found.append(_one_of([(op.where, op.slices.first) for op in sliced], places, slices))
        found.append(_one_of([(op.where, extent_of(op)) for op in ops], places, slices))
    return tuple(found)


def _one_of(given: Sequence[tuple[Number, Number]], places: Ints, slices: int) -> Number:
    """Of numbers of operations that are at different places, that of the one that is there."""
    numbers = {number for _, number in given}
    if len(numbers) <= 1:
        return numbers.pop() if numbers else Number(0)
    there = values_of([where for where, _ in given], places)
    values = values_of([number for _, number in given], places)
    used = np.asarray(there.any(axis=0))
    return number_of(places, (there * values).sum(axis=0), slices, used)


def kinds_of(phase: Phase) -> set[int]:
    """The bits of all entries, at any place."""
    found: set[int] = set()
    for index, role in enumerate(phase.roles):
        places = places_of(phase, index)
        entries = {e for lane in role.lanes for loop in lane.table for e in loop.entries}
        found |= {kind_of(entry) for entry in entries if not varies(entry)}
        varying = [entry for entry in entries if varies(entry)]
        if varying:
            found |= set(np.unique(kinds_at(varying, places)).tolist())
    return found


def program_of(phase: Phase, name: str, table: StepTable, speller: Speller) -> ProgramModel:
    """A table as a function of a lane."""
    lines = []
    for loop in table.loops:
        lines.append(", ".join(speller.spelled(n) for n in loop.head) + ",")
        for kind, *slices in loop.entries:
            words = (speller.spelled(n) for n in slices)
            lines.append(", ".join((_spelled_kind(kind, speller), *words)) + ",")
    lines.append("0,")  # no more turns
    size = lane_numbers(table.lane) + 1
    called = f"{phase.name}_{name}_loops_{table.number}"
    return ProgramModel(called, table.number, size, tuple(lines))


def _spelled_kind(kind: Number, speller: Speller) -> str:
    """The bits of a row by their names, if they are the same at all places."""
    if kind.varies or kind.modulus or not kind.offset:
        return speller.spelled(kind)
    area = kind.offset >> AREA_BITS
    names = [f"ops.{name}" for bit, name in BITS.items() if kind.offset & bit]
    return " | ".join([*names, f"({area} << {AREA_BITS})"] if area else names)
