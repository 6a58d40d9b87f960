"""What PEs do in the phases of plans, each different part once: by its class and its place which
acts, on how many words. In reading order: words, what PEs have in common, parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.emit.acts import Takes
from collc.emit.classes import Act
from collc.emit.model import (
    ClassModel,
    CollectiveModel,
    LibraryModel,
    PhaseModel,
    PlacedAct,
    TornDownModel,
)
from collc.emit.numbers import Key
from collc.emit.rates import Rates
from collc.emit.row_text import Row, rows_at
from collc.machine.given import Given as GivenCalls
from collc.machine.given import PhaseGiven
from collc.plan import Advance, Phase, Plan
from collc.plan.dynamic_lengths import phase_of_length
from collc.plan.plan import ProgramPlan
from collc.spec.simd import PAIR


def words_at(
    plan: Plan, phase: Phase, placed: PlacedAct, place: int, given: int | None
) -> tuple[int, ...]:
    """The wavelets of an operation at a place, where calls have `given` a vector of so many words,
    or none; of turns those that are sent, turn by turn."""
    act = placed.act
    if act.command is not Advance.NOTHING:
        return (1,)
    if act.turns is not None:
        return _turns_at(plan, phase, act.op.slices.first.at(place), act)
    parts, words = PAIR if phase.paired else 1, plan.collective.contract.element.words
    if act.op.elements is not None:
        return (act.op.elements.at(place) * words // parts,)
    slicing = phase.slicing
    if slicing.count == 1:
        length = slicing.size(0) * words if given is None else given
        return (length // parts * placed.rounds,)
    first, count = act.first_at(place), act.op.slices.count.at(place)
    if act.last is not None:
        last = act.last.slices
        count = last.first.at(place) + last.count.at(place) - first
    if act.sieve is not None and not act.is_local:
        return (count * act.sieve.period.number_at(place) * slicing.size(0) * words // parts,)
    return (slicing.size(first, count) * act.op.slices.blocks * words // parts,)


def _turns_at(plan: Plan, phase: Phase, first: int, act: Act) -> tuple[int, ...]:
    assert act.turns is not None
    parts, words = PAIR if phase.paired else 1, plan.collective.contract.element.words
    sizes = np.diff(phase.slicing.bounds) * words // parts
    turns = np.arange(act.turns.count)
    found = sizes[(first + turns * act.turns.shift) % phase.slicing.count]
    return tuple(found[:1].tolist() if phase.slicing.even else found.tolist())


Numbered = tuple[int, ...]  # a slot, or what is received in its turns
Words = Mapping[Numbered, tuple[int, ...]]


def received_in(key: Key) -> Numbered:
    """What is received in the turns of a slot."""
    return (*key, -1)


@dataclass(frozen=True)
class Common:
    """What PEs have in common of a library: the program that it is of, or the call stream; for each
    of its collectives the index that the machine has for each color, and the rates of its
    operations in memory."""

    program: ProgramPlan
    library: LibraryModel
    colors: tuple[Mapping[str, int], ...]
    rates: tuple[Rates, ...]
    takes: Takes
    index: Mapping[int, int]  # by the numbers of colors what the machine calls them

    @property
    def shared(self) -> Mapping[str, str]:
        """Collectives that have the code of others, by name."""
        return {one.name: name for one, name in self.library.equal}

    @property
    def torn_down(self) -> Iterator[tuple[int, TornDownModel]]:
        """Colors that are torn down between phases, with what the machine calls them."""
        for color in self.library.torn_down:
            number = self.library.colors[color.position]
            if number in self.index:
                yield self.index[number], color

    @property
    def torn_down_mask(self) -> int:
        """These colors as bits."""
        return sum(1 << index for index, _ in self.torn_down)

    def model(self, of: int) -> CollectiveModel:
        """The model of a plan with a number, of those that have code of their own."""
        name = self.program.plans[of].collective.name
        return next(one for one in self.library.collectives if one.name == name)

    def cuts_tables(self, of: int, length: int | None) -> bool:
        """Whether calls of a plan with vectors of a length cut slices into tables, if they are not
        cut yet: for turns where slices differ."""
        phases = [one for one in self.model(of).phases if one.cut.dynamic_length]
        words = self.program.plans[of].collective.contract.element.words
        elements = [one.cut.slicing.length // words if length is None else length for one in phases]
        return any(
            one.cuts_table or (one.rows and of_call % one.cut.slicing.count)
            for one, of_call in zip(phases, elements, strict=True)
        )

    def task(self, position: int) -> int:
        """The id of a task."""
        return self.library.task_ids[position]


Span = tuple[int, int]
LAST_BOUND = 2  # where the last slice ends
Sets = tuple[tuple[int, int, int], ...]  # colors of routers, by how many sides, other positions


@dataclass(frozen=True)
class Part:
    """A PE's part in a phase, which has a number: what it does in which slot, the wavelets and the
    first slice of each, the spans of slices that calls cut, how many ends sections have, whether
    signs are turned back, which routers it sets, and rows of step tables; empty if it has none."""

    number: int
    phase: PhaseModel
    plan_phase: Phase
    acts: Mapping[Key, PlacedAct]
    words: Words
    firsts: Mapping[Numbered, int]
    spans: Mapping[Key, Span]
    ends: tuple[int, ...]
    restores: bool
    sets: Sets
    rows: Mapping[Key, tuple[Row, ...]]


@dataclass(frozen=True, eq=False)
class Parts:
    """What PEs do in a phase: parts, the first of which is none, and which of them each PE has, as
    well as which class of the phase it is of, 0 being none; int64 [PEs]."""

    parts: Sequence[Part]
    part_at: Ints
    class_at: Ints


def parts_of(  # noqa: PLR0913, PLR0917 - a phase, and what is known of it
    plan: Plan,
    phase: Phase,
    model: PhaseModel,
    placed: tuple[Ints, Ints],
    sets: tuple[list[Sets], Ints],
    number: int,
    length: int | None,
) -> Parts:
    """The parts of PEs in a phase, of vectors that have so many elements if calls give that. By PE,
    `placed` has its role, or NOBODY, and its place, `sets` which of the routers it sets."""
    phase = phase if length is None else phase_of_length(phase, length)
    given_words = None if length is None else length * plan.collective.contract.element.words
    parts = [Part(number, model, phase, {}, {}, {}, {}, (), restores=False, sets=(), rows={})]
    known: dict[object, int] = {}
    classes: dict[int, list[ClassModel]] = {}
    for one in model.classes:
        classes.setdefault(one.role, []).append(one)
    columns = (*placed, sets[1])
    first_pes, which = distinct(columns, len(placed[0]))
    found = []
    for role, place, set_at in np.stack(columns, axis=1)[first_pes].tolist():
        if role < 0:
            found.append((0, 0))
            continue
        of = classes[role]
        one = next(one for one in of if len(of) == 1 or place in one.places)
        words, firsts = _numbers(plan, phase, one, place, given_words)
        rows = _rows(phase, one, place)
        spans = _spans(phase, one, place)
        key = (
            one.index, tuple(words.items()), _alike(firsts), set_at, tuple(rows.items()),
            tuple(spans.items()),
        )  # fmt: skip
        if key not in known:
            known[key] = len(parts)
            acts = {placed.key: placed for placed in one.acts}
            of_set = sets[0][set_at]
            ends, restores = one.ends, one.restores
            parts.append(
                Part(number, model, phase, acts, words, firsts, spans, ends, restores, of_set, rows)
            )
        found.append((known[key], one.index + 1))
    part_at, class_at = np.array(found, dtype=np.int64).reshape(-1, 2)[which].T
    return Parts(parts, part_at, class_at)


def sets_of(
    given: GivenCalls, phase: PhaseGiven, model: PhaseModel, colors: Mapping[str, int]
) -> tuple[list[Sets], Ints]:
    """What PEs set at their routers as a phase begins, and which of these each PE does."""
    order = [colors[one.name] for one in model.multiplexed if one.name in colors]
    at: dict[int, dict[int, tuple[int, int, int]]] = {}
    for pe, color, setting, _ in phase.sets.reshape(-1, 4).tolist() if order else ():
        if color in order:
            positions, _ring = given.settings[setting]
            sides = positions[0][1].bit_count()
            at.setdefault(pe, {})[color] = color, sides, len(positions) - 1
    known: dict[Sets, int] = {(): 0}
    which = np.zeros(given.width * given.height, dtype=np.int64)
    for pe, found in at.items():
        sets = tuple(found[color] for color in order if color in found)
        which[pe] = known.setdefault(sets, len(known))
    return list(known), which


def _spans(phase: Phase, of: ClassModel, place: int) -> dict[Key, Span]:
    """Where the slices of the operations of a class at a place begin and end, if calls cut them:
    0 is where the vector begins, 1 one slice further, LAST_BOUND its end; other numbers are those
    of other bounds, in the order in which they are met."""
    found: dict[Key, Span] = {}
    if not phase.slicing.dynamic:
        return found
    known = {0: 0, 1: 1, phase.slicing.count: LAST_BOUND}
    for placed in of.acts:
        act = placed.act
        if act.table is None and act.turns is None and act.op.elements is None:
            first = act.first_at(place)
            last = act.op if act.last is None else act.last
            begins = first if act.last is None else last.slices.first.at(place)
            ends = begins + last.slices.count.at(place)
            a, b = (known.setdefault(at, len(known)) for at in (first, ends))
            found[placed.key] = a, b
    return found


def _rows(phase: Phase, of: ClassModel, place: int) -> dict[Key, tuple[Row, ...]]:
    """The rows of lanes of a class at a place that go by step tables."""
    tables = [placed for placed in of.acts if placed.act.table is not None]
    return {
        one.key: rows_at(phase, phase.lanes.index(one.act.lane), place, alone=len(tables) == 1)
        for one in tables
    }


def _numbers(
    plan: Plan, phase: Phase, of: ClassModel, place: int, length: int | None
) -> tuple[dict[Numbered, tuple[int, ...]], dict[Numbered, int]]:
    """The wavelets of each act of a class at a place, and its first slice."""
    words: dict[Numbered, tuple[int, ...]] = {}
    firsts: dict[Numbered, int] = {}
    for placed in of.acts:
        key, act = placed.key, placed.act
        if act.table is not None:
            continue
        words[key] = words_at(plan, phase, placed, place, length)
        firsts[key] = act.first_at(place)
        if act.turns is not None:
            first = act.turns.receive.slices.first.at(place)
            firsts[received_in(key)] = first
            words[received_in(key)] = _turns_at(plan, phase, first, act)
    return words, firsts


def distinct(columns: Sequence[Ints], pes: int) -> tuple[list[int], Ints]:
    """The first PE of each different row of numbers, and which of the rows each PE has."""
    code, radix = np.zeros(pes, dtype=np.int64), 1
    for column in columns:  # as one number, which is far quicker than to compare rows
        least = int(column.min(initial=0))
        extent = int(column.max(initial=0)) - least + 1
        if radix * extent >= 1 << 62:
            code = np.unique(code, return_inverse=True)[1].reshape(-1).astype(np.int64)
            radix = int(code.max(initial=0)) + 1
        code = code + radix * (column.astype(np.int64) - least)
        radix *= extent
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    return first.tolist(), which.reshape(-1)


def _alike(numbers: Mapping[Numbered, int]) -> tuple[int, ...]:
    """Which of some numbers are equal, whatever they are."""
    return tuple(list(numbers.values()).index(number) for number in numbers.values())
