"""What needs a queue for itself, and on which PEs: numbers that phases share.

A *slot* is what the emitted code gives a queue to: what a phase receives from, what it sends to. A
queue is bound to its color before the program begins, and each PE does so for its own slots only.
So two slots can have one number if no PE has both, whatever the phases do and in whatever order.
The two sides of a reduction to a root inside a line meet only at the root, where neither sends.
Where the machine binds output queues to no color, those of two exchanges can have one number on any
PE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import lru_cache

from collc.base.values import dataclass
from collc.plan.form import Form, form_of
from collc.plan.operands import Having, receives, sends
from collc.plan.plan import Lane, Phase, Plan, Role, Strided
from collc.plan.stream_ends import sides_of


@dataclass(frozen=True)
class Slot:
    """What needs a number: its phase, and the rectangles of the PEs that have it, each as the
    coordinates along both axes, as bits. `on_path` says that they are places of a path, `in_phase`
    that it is nobody's beyond its phase, so that other phases may have it, too. Operations of an
    output queue that `follows` another run on that one's microthread."""

    phase: int
    areas: tuple[tuple[int, int], ...]
    on_path: bool
    in_phase: bool = False
    follows: bool = False

    def meets(self, other: Slot) -> bool:
        """Whether some PE has both, and one of them is kept over phases; of a path and the grid it
        is not known, and taken for true."""
        if self.in_phase and other.in_phase and self.phase != other.phase:
            return False
        if self.on_path != other.on_path:
            return True
        return any(x & u and y & v for x, y in self.areas for u, v in other.areas)


@dataclass(frozen=True)
class Slots:
    """The slots of a plan in the order in which the emitted code numbers them: input and output
    queues."""

    inputs: tuple[Slot, ...] = ()
    outputs: tuple[Slot, ...] = ()


def slots_of(plan: Plan, *, kept: bool = False) -> Slots:
    """All slots of the phases of a plan; if output queues are `kept`, they are nobody else's beyond
    their phases even where they are bound to no color."""
    bound = plan.target.binds_output_queues
    how = _How(bound, kept or bound)
    each = [_slots_of_phase(i, phase, how) for i, phase in enumerate(plan.phases)]
    kinds = (field.name for field in fields(Slots))
    return Slots(**{kind: tuple(s for one in each for s in getattr(one, kind)) for kind in kinds})


def clashes(slots: Sequence[Slot], numbers: Sequence[int]) -> Iterator[tuple[int, Slot, Slot]]:
    """Numbers that two slots of one PE have, with these slots."""
    for at, (slot, number) in enumerate(zip(slots, numbers, strict=True)):
        for other, same in zip(slots[:at], numbers[:at], strict=True):
            if number == same and slot.meets(other):
                yield number, other, slot


@dataclass(frozen=True)
class _How:
    """Whether output queues of exchanges are `bound` to colors, and `kept` beyond their phase."""

    bound: bool
    kept: bool


def _slots_of_phase(at: int, phase: Phase, how: _How) -> Slots:
    if form_of(phase).is_cut:
        return _slots_of_exchange(at, phase, how)

    def slots(*having: Having) -> tuple[Slot, ...]:
        """A slot for each condition that some role meets."""
        return tuple(slot_of(at, phase, one) for one in having if any(map(one, phase.roles)))

    return Slots(inputs=slots(receives), outputs=slots(sends))


def _slots_of_exchange(at: int, phase: Phase, how: _How) -> Slots:
    """A lane's queues are of the PEs that receive, or send; lanes that run in turn have them in
    common."""
    by_table = form_of(phase) is not Form.STREAM  # whose rows may do anything
    kinds: dict[str, list[Slot]] = {"inputs": [], "outputs": []}
    for number, side in enumerate(sides_of(phase)):
        if side.receives:
            receives = _slot_of_lane(
                at, phase, number, lambda lane: by_table or bool(lane.receives)
            )
            kinds["inputs"].append(receives)
        if side.outputs(bound=how.bound):
            sends = _slot_of_lane(at, phase, number, lambda lane: by_table or bool(lane.sends))
            kinds["outputs"].append(replace(sends, in_phase=not how.kept, follows=side.follows))
    return Slots(**{k: tuple(of) for k, of in kinds.items()})


def _slot_of_lane(at: int, phase: Phase, number: int, does: Callable[[Lane], bool]) -> Slot:
    """The PEs on which a lane has entries and does something."""

    def has(role: Role) -> bool:
        return any(lane.loops and does(lane) for lane in role.lanes[number : number + 1])

    return slot_of(at, phase, has)


def slot_of(at: int, phase: Phase, has: Callable[[Role], bool]) -> Slot:
    """The PEs of the roles that have something."""
    having = {index for index, role in enumerate(phase.roles) if has(role)}
    areas = ((_bits(area.x), _bits(area.y)) for area, role in phase.regions if role in having)
    return Slot(at, _joined(areas), phase.path is not None)


def _joined(areas: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same PEs in fewer rectangles: those of the same rows as one, then those of the same
    columns."""
    columns_of: dict[int, int] = {}
    for x, y in areas:
        columns_of[y] = columns_of.get(y, 0) | x
    rows_of: dict[int, int] = {}
    for y, x in columns_of.items():
        rows_of[x] = rows_of.get(x, 0) | y
    return tuple(rows_of.items())


@lru_cache(maxsize=4096)
def _bits(coordinates: Strided) -> int:
    """The coordinates as bits; where a plan is wrong some may be off the grid, where no PE is."""
    if coordinates.last < coordinates.first:
        return 0
    run = _repeated(1, coordinates.step, (coordinates.last - coordinates.first) // coordinates.step)
    bits = _repeated(run, coordinates.period, coordinates.repeats - 1)
    first = coordinates.first
    return bits << first if first >= 0 else bits >> -first


def _repeated(bits: int, distance: int, times: int) -> int:
    """The bits, and `times` more of them, each `distance` further on."""
    made = 0  # of those that are to be added to the first
    while made < times:
        added = min(made + 1, times - made)
        bits |= bits << added * distance
        made += added
    return bits
