"""What PEs do in a phase, as sections of chains: a PE goes through sections one after the other; in
one it goes along chains beside each other; and along a chain through operations.

    section   ends when all of its chains have ended
    chain     each operation begins as the one before it ends
    act       an operation of a lane at the PEs of a class; or the command to routers behind it

PEs of a role that do the same are a class. What operations have slices may depend on the place, and
then a role has several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from collc.base.values import dataclass
from collc.emit.cuts import Cut
from collc.emit.not_yet import UnprintedError
from collc.emit.step_tables import tables_of
from collc.lowering.memory import FEWEST_TURNS, MOST_ACTS, STEP_BYTES, sent_and_received
from collc.plan import (
    BY_WAVELET,
    ZERO,
    Action,
    Advance,
    Buffer,
    Filter,
    Lane,
    Loop,
    Memory,
    Once,
    Op,
    Phase,
    Role,
)

# Lines of the text that one has, about: of an act of a class, a slot, a class, a lane's table.
ACT_LINES, SLOT_LINES, CLASS_LINES, TABLE_LINES = 1.5, 11, 6, 40
MOST_LINES = 4_000  # of operations where step tables, which are slower, would do


@dataclass(frozen=True)
class Turns:
    """Turns in which an operation sends slices and one beside it receives others; all of them go on
    by `shift` slices from turn to turn."""

    receive: Op
    count: int
    shift: int


@dataclass(frozen=True)
class Act:
    """An operation of a lane, its slices `shift` further on, modulo `modulus` if that is not 0;
    with a `command` the control wavelet behind it."""

    lane: str
    op: Op
    shift: int = 0
    modulus: int = 0
    command: Advance = Advance.NOTHING
    last: Op | None = None  # with whose slices it ends, instead of its own
    turns: Turns | None = None
    repeats: int = 1  # how often, each time for another vector that comes
    table: Lane | None = None  # all of a lane, by a step table
    sieve: Filter | None = None  # of what is put aside, or taken from there

    @property
    def name(self) -> str:
        """What it is called in the text."""
        if self.table is not None:
            return "table"
        if self.turns is not None:
            return "turns"
        if self.command is not Advance.NOTHING:
            return "tell"
        if isinstance(self.op.send, str):
            return "relay" if self.op.action is Action.RELAY else "send"
        if isinstance(self.op.receive, str):
            return "store" if self.op.action is Action.COMBINE else "take"
        return "settle"

    @property
    def is_local(self) -> bool:
        """Whether no word comes or goes."""
        return self.name == "settle"

    @property
    def is_silent(self) -> bool:
        """Whether nothing follows its end: what it sends comes back, and is received."""
        return self.op.returns and self.command is Advance.NOTHING

    def first_at(self, place: int) -> int:
        """Its first slice."""
        first = self.op.slices.first.at(place) + self.shift
        return first % self.modulus if self.modulus else first


Chain = tuple[Act, ...]


@dataclass(frozen=True)
class Section:
    """Chains beside each other, by the lane and the number of each."""

    chains: tuple[tuple[tuple[str, int], Chain], ...]

    @property
    def ends(self) -> int:
        """How many ends are waited for."""
        return sum(not chain[-1].is_silent for _, chain in self.chains)

    @property
    def by_steps(self) -> bool:
        """Whether lanes wait for each other at the end of each step."""
        return any(act.table is not None for _, chain in self.chains for act in chain)


@dataclass(frozen=True)
class PeClass:
    """PEs of a role, by their places on the line, that do the same."""

    role: int
    places: tuple[int, ...]
    sections: tuple[Section, ...]


def classes_of(phase: Phase, cut: Cut, room: int) -> tuple[PeClass, ...]:
    """The classes of a phase, role by role: operation by operation, which is fastest, or by step
    tables where that is not possible, where the code of a PE would take more than `room` bytes, or
    where the text would be very long. Raises UnprintedError for what is not printed yet."""
    if not phase.has_loops:
        return _by_operations(phase, cut)
    try:
        found = _by_operations(phase, cut)
    except UnprintedError:
        return _by_tables(phase)
    fits = _code_bytes(found) <= room
    short = _lines(found) <= max(MOST_LINES, _lines_of_tables(phase))
    return found if fits and short else _by_tables(phase)


def _code_bytes(classes: Sequence[PeClass]) -> int:
    """What the operations of the largest class take of a PE's code, in bytes, about."""
    acts = (sum(len(chain) for part in one.sections for _, chain in part.chains) for one in classes)
    return STEP_BYTES * max(acts, default=0)


def _lines(classes: Sequence[PeClass]) -> float:
    """About how many lines the text has for classes: in the layout for each act, in the PE's for
    the acts of all classes, those that are named alike being one."""
    acts = [
        [
            (at, key, act.name)
            for at, s in enumerate(one.sections)
            for key, c in s.chains
            for act in c
        ]
        for one in classes
    ]
    most = Counter[object]()
    for of in acts:
        most |= Counter(of)
    return ACT_LINES * sum(map(len, acts)) + SLOT_LINES * most.total() + CLASS_LINES * len(classes)


def _lines_of_tables(phase: Phase) -> float:
    """The same of step tables."""
    lanes = range(len(phase.lanes))
    rows = sum(
        len(loop.entries) + 1 for at in lanes for of in tables_of(phase, at) for loop in of.loops
    )
    return rows + TABLE_LINES * len(lanes) + CLASS_LINES * len(phase.roles)


def _by_tables(phase: Phase) -> tuple[PeClass, ...]:
    """The classes of a phase by step tables: its roles."""
    found = []
    for index, role in enumerate(phase.roles):
        chains = tuple(
            ((lane.name, 0), (Act(lane.name, lane.ops[0], table=lane),))
            for lane in role.lanes
            if lane.table
        )
        closing = tuple(act for lane in role.lanes for act in _closing(lane))
        behind = (((role.lanes[0].name, 0), closing),) if closing else ()
        sections = tuple(Section(of) for of in (chains, behind) if of)
        found.append(PeClass(index, places_of(phase, index), sections))
    return tuple(found)


def _by_operations(phase: Phase, cut: Cut) -> tuple[PeClass, ...]:
    found = []
    for index, role in enumerate(phase.roles):
        alike: dict[object, tuple[list[int], list[Step]]] = {}
        for place in places_of(phase, index):
            steps = _steps_at(role, place, cut)
            alike.setdefault(_key(steps), ([], steps))[0].append(place)
        for places, steps in alike.values():
            sections = tuple(section for step in steps for section in _sections(step, places, cut))
            found.append(PeClass(index, tuple(places), sections))
    return tuple(found)


Step = list[tuple[Lane, list[list[Act]]]]  # what lanes do in a step, entry by entry


def _key(steps: list[Step]) -> object:
    """What tells PEs of a role apart that do not do the same."""
    return tuple(
        tuple(
            (lane.name, tuple(tuple(map(_key_of, entry)) for entry in entries))
            for lane, entries in step
        )
        for step in steps
    )


def _key_of(act: Act) -> tuple[object, ...]:
    return (
        id(act.op),
        act.shift,
        act.command,
        id(act.last),
        act.turns and id(act.turns.receive),
        act.repeats,
    )


def places_of(phase: Phase, role: int) -> tuple[int, ...]:
    """The places on a line of the PEs that play a role."""
    along = (region.sides(phase.axis[0])[0] for region, index in phase.regions if index == role)
    if phase.axis == "xy":
        return (0,)
    return tuple(sorted({place for run in along for place in run}))


def _steps_at(role: Role, place: int, cut: Cut) -> list[Step]:
    """What the PE at a place does on its lanes in each step, entry by entry, without those that
    move nothing."""
    steps: list[Step] = []
    alone = sum(bool(lane.table) for lane in role.lanes) == 1
    for lane in role.lanes:
        idle = _idle_beside(role, lane, place)
        for number, entries in enumerate(_entries_by_step(lane, place, cut, alone, idle)):
            while len(steps) <= number:
                steps.append([])
            if entries:
                steps[number].append((lane, entries))
    torn_down = [[act] for lane in role.lanes for act in _closing(lane)]
    if torn_down:
        steps.append([(role.lanes[0], torn_down)])
    return [_settled(step, role.lanes[0], place, cut) for step in steps if step]


def _closing(lane: Lane) -> Iterator[Act]:
    """What tears down a lane's routers behind all that it does."""
    return (Act(lane.name, op, command=op.advance) for op in lane.ops if op.closes)


def _settled(step: Step, lane: Lane, place: int, cut: Cut) -> Step:
    """The step, if it only takes words from the stage, as one of the first lane, whoever these came
    to; and as one operation where that has all slices in their order."""
    acts = [act for _, entries in step for entry in entries for act in entry]
    if not all(act.is_local for act in acts):
        return step
    if any(act.sieve for act in acts):
        return [(lane, [[act] for act in acts])]
    acts = [replace(act, lane=lane.name) for act in acts]
    if len({(act.op.receive, act.op.action) for act in acts}) > 1 or cut.stages_one_slice:
        return [(lane, [[act] for act in acts])]
    acts.sort(key=lambda act: act.first_at(place))
    ends = [act.first_at(place) + act.op.slices.count.at(place) for act in acts]
    apart = any(act.first_at(place) > end for act, end in zip(acts[1:], ends, strict=False))
    copies = acts[0].op.action is Action.COPY
    if len(acts) < 2 or apart or not copies or max(ends) != ends[-1]:
        return [(lane, [[act] for act in acts])]
    return [(lane, [[replace(acts[0], last=acts[-1].op)]])]


def _idle_beside(role: Role, lane: Lane, place: int) -> Callable[[int, int], bool]:
    """Whether all other lanes do nothing in so many steps from one on."""

    def idle(first: int, count: int) -> bool:
        steps = range(first, first + count)
        others = (other for other in role.lanes if other is not lane and other.table)
        return not any(step in steps for other in others for step in _busy(other, place))

    return idle


def _busy(lane: Lane, place: int) -> Iterator[int]:
    """The steps in which a lane may do something."""
    step = 0
    for loop in lane.table:
        for _ in range(loop.turns.at(place)):
            for entry in loop.entries:
                if any(op.where.at(place) for op in entry.ops):
                    yield step
                step += bool(entry.ends_step.at(place))


def _steps_ended(loop: Loop | Once, place: int) -> int:
    """How many steps end in a loop."""
    return sum(bool(one.ends_step.at(place)) for one in loop.entries) * loop.turns.at(place)


def _entries_by_step(
    lane: Lane, place: int, cut: Cut, alone: bool, idle: Callable[[int, int], bool]
) -> Iterator[list[list[Act]]]:
    """The entries of a lane; turns that are alike are an operation where it is alone, or all others
    are idle as long."""
    found: list[list[Act]] = []
    unrolled = step = 0
    for loop in lane.table:
        whole, turns = _as_one(lane, loop, place, cut, alone), loop.turns.at(place)
        ending = _steps_ended(loop, place)
        if whole is not None and idle(step, ending):
            found.append([whole])
            if ending and not alone:
                yield from (found, *[[]] * (ending - 1))
                found, step = [], step + ending
            continue
        for turn in range(turns):
            shift = turn * loop.shift.at(place)
            modulus = cut.slicing.count if loop.shift.at(place) or loop.shift.varies else 0
            for entry in loop.entries:
                acts = [
                    act
                    for op in entry.ops
                    for act in _acts(_begun(lane, op, shift, modulus), place, cut)
                ]
                unrolled += len(acts)
                if unrolled > MOST_ACTS:
                    raise UnprintedError(f"lanes of more than {MOST_ACTS} operations")
                if acts:
                    found.append(acts)
                if entry.ends_step.at(place):
                    yield found
                    found, step = [], step + 1
    if found:
        yield found


def _begun(lane: Lane, op: Op, shift: int, modulus: int) -> Act:
    """An operation; of one that stages, or takes from the stage, with the filter in memory."""
    staged = in_stage(op.send) or in_stage(op.receive)
    filters = (one.filter for one in lane.ops if staged and one.filter and one.filter.in_memory)
    return Act(lane.name, op, shift, modulus, sieve=next(filters, None))


def _as_one(lane: Lane, loop: Loop | Once, place: int, cut: Cut, alone: bool) -> Act | None:
    """A loop as one operation, where its turns are alike."""
    turns = _turns_of(lane, loop, place, cut) if alone else None
    return turns or _repeated(lane, loop, place, cut)


def _turns_of(lane: Lane, loop: Loop | Once, place: int, cut: Cut) -> Act | None:
    """A loop as one operation, if each turn sends slices and receives others into the vector."""
    count, found = loop.turns.at(place), sent_and_received(loop, cut.slicing)
    if count < FEWEST_TURNS or found is None or not all(op.where.at(place) for op in found):
        return None
    sent, received = found
    shift = loop.shift.at(place)
    return Act(lane.name, sent, turns=Turns(received, count, shift))


def _repeated(lane: Lane, loop: Loop | Once, place: int, cut: Cut) -> Act | None:
    """A loop as one operation that is repeated, if each turn combines another vector in memory."""
    count, ops = loop.turns.at(place), [op for entry in loop.entries for op in entry.ops]
    if (
        count < 2
        or len(ops) != 1
        or not ops[0].stores
        or loop.shift != ZERO
        or cut.slicing.count > 1
    ):
        return None
    return Act(lane.name, ops[0], repeats=count)


def _acts(act: Act, place: int, cut: Cut) -> Iterator[Act]:
    """An operation, if it moves anything at a place, and the command behind it."""
    op = act.op
    if not op.where.at(place) or not _extent(act, place, cut):
        return
    yield act
    if op.advance in BY_WAVELET:
        yield Act(act.lane, op, act.shift, act.modulus, op.advance)


def _extent(act: Act, place: int, cut: Cut) -> int:
    if act.op.elements is not None:
        return act.op.elements.at(place)
    if cut.dynamic_length:
        return act.op.slices.count.at(place)
    return cut.slicing.size(act.first_at(place), act.op.slices.count.at(place))


def _sections(step: Step, places: Sequence[int], cut: Cut) -> Iterator[Section]:
    """A step as sections: one, but where a lane that is alone has operations beside each other and
    others behind these."""
    if len(step) == 1 and any(map(_beside, step[0][1])) and len(step[0][1]) > 1:
        lane, entries = step[0]
        for entry in entries:
            yield _section([(lane, [entry])], places, cut)
        return
    yield _section(step, places, cut)


def _beside(entry: list[Act]) -> bool:
    """Whether an entry has operations that begin together."""
    return sum(act.command is Advance.NOTHING for act in entry) > 1


def _section(step: Step, places: Sequence[int], cut: Cut) -> Section:
    chains: dict[tuple[str, int], list[Act]] = {}
    for lane, entries in step:
        if any(map(_beside, entries)):
            parts = _ways(entries, places, cut) if len(entries) > 1 else _split(entries[0])
            for number, chain in enumerate(parts):
                chains[lane.name, number] = chain
        else:
            chains[lane.name, 0] = [act for entry in entries for act in entry]
    return Section(tuple((key, tuple(chain)) for key, chain in _attached(chains)))


def _ways(entries: list[list[Act]], places: Sequence[int], cut: Cut) -> list[list[Act]]:
    """What a lane sends in a step, and what it receives, as chains beside each other, if no words
    pass from one to the other, and none come over elements that an earlier entry still sends."""
    acts = [act for entry in entries for act in entry]
    sent = [act for act in acts if isinstance(act.op.send, str)]
    received = [act for act in acts if not isinstance(act.op.send, str)]
    tied = any(isinstance(act.op.receive, str) for act in sent) or any(act.op.after for act in acts)
    if tied or any(
        one.op.receive == other.op.send
        and _elements(one, place, cut) & _elements(other, place, cut)
        for one in sent
        for other in received
        for place in places
    ):
        raise UnprintedError("lanes beside each other of which one begins operations together")
    return [sent, received]


def _elements(act: Act, place: int, cut: Cut) -> set[int]:
    """The slices that an act is about."""
    first = act.first_at(place)
    return {(first + i) % cut.slicing.count for i in range(act.op.slices.count.at(place))}


def _split(entry: list[Act]) -> list[list[Act]]:
    """The operations of an entry with their commands; what goes to a color comes first."""
    groups = [list(of) for _, of in groupby(entry, key=lambda act: id(act.op))]
    return sorted(groups, key=lambda acts: not isinstance(acts[0].op.send, str))


def _attached(
    chains: dict[tuple[str, int], list[Act]],
) -> Iterable[tuple[tuple[str, int], list[Act]]]:
    """The chains, those that begin behind an operation of another lane at the end of that."""
    left = dict(chains)
    for key, chain in chains.items():
        if not chain[0].op.after:
            continue
        before = _chain_before(chain[0], left, key)
        if before is None or not _ends_alike(left[before][-1], chain[0]):
            raise UnprintedError("an operation that two others begin behind")
        left[before] = [*left[before][:-1], _followed(left[before][-1]), *left.pop(key)]
    return left.items()


def _followed(act: Act) -> Act:
    """The act, whose end is told, since another one begins behind it."""
    return replace(act, op=replace(act.op, returns=False)) if act.is_silent else act


def _chain_before(
    act: Act, chains: dict[tuple[str, int], list[Act]], own: tuple[str, int]
) -> tuple[str, int] | None:
    for key, chain in chains.items():
        same = (other.lane == act.op.after and _ends_alike(other, act) for other in chain)
        if key != own and any(same):
            return key
    return None


def _ends_alike(one: Act, other: Act) -> bool:
    """Whether two move their slices the same way: from the fabric, or to it."""
    return isinstance(one.op.send, str) == isinstance(other.op.send, str)


def merged(sequences: Iterable[Sequence[str]]) -> list[str]:
    """The shortest list, found greedily, that has each sequence in its order; names that come again
    have a number."""
    found: list[str] = []
    for names in sequences:
        at = 0
        for name in names:
            if name in found[at:]:
                at = found.index(name, at) + 1
            else:
                found.insert(at, name)
                at += 1
    return found


def places_in(sequence: Sequence[str], names: Sequence[str]) -> list[int]:
    """Where the names of a sequence are in a merged list."""
    at, found = 0, []
    for name in names:
        at = sequence.index(name, at)
        found.append(at)
        at += 1
    return found


def in_stage(place: object) -> bool:
    """Whether an operation takes words from the stage, or puts them there."""
    return isinstance(place, Memory) and place.buffer is Buffer.STAGE
