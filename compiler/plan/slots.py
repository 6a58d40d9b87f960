"""On which PEs something is that takes a number for itself, such as a register or a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from collc.base.values import dataclass
from collc.plan.plan import Phase, Role, Strided


@dataclass(frozen=True)
class Slot:
    """What needs a number: its phase, and the rectangles of the PEs that have it, each as the
    coordinates along both axes, as bits. `on_path` says that they are places of a path."""

    phase: int
    areas: tuple[tuple[int, int], ...]
    on_path: bool

    def meets(self, other: Slot) -> bool:
        """Whether some PE has both; of a path and the grid it is not known, and taken for true."""
        if self.on_path != other.on_path:
            return True
        return any(x & u and y & v for x, y in self.areas for u, v in other.areas)


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
