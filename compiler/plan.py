"""The Plan: what every PE class does and how its routers are set, ready to be printed.

Made by `collc.lowering`, judged by `collc.checks`, read by `collc.cost` and `collc.emit`. A plan
speaks of regions (strided rectangles of PEs), never of single PEs, so its size follows the
pattern and not the grid. Colors are symbolic (`columns_even`) until `Plan.colors` numbers them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from collc.spec import Collective, ContractKind, ElementType, Operation, Order
from collc.target import Target


class Direction(Enum):
    """A link of a router, spelled as in CSL."""

    NORTH = "NORTH"
    EAST = "EAST"
    SOUTH = "SOUTH"
    WEST = "WEST"
    RAMP = "RAMP"

    @property
    def opposite(self) -> Direction:
        """The direction a wavelet sent this way arrives from."""
        pairs = {"NORTH": "SOUTH", "SOUTH": "NORTH", "EAST": "WEST", "WEST": "EAST"}
        return Direction(pairs.get(self.value, self.value))


@dataclass(frozen=True, order=True)
class Strided:
    """The coordinates first, first + step, ..., last (inclusive), the run repeated `repeats` times
    at a distance of `period`.

    step >= 1. A plain stride has `repeats` 1 and `period` 0. Otherwise period > last - first, so
    that c is a member iff, with d = c - first, d >= 0, d / period < repeats (rounded down),
    d % period <= last - first and (d % period) % step == 0. Groups of a two-phase tree need this.
    """

    first: int
    last: int
    step: int = 1
    period: int = 0
    repeats: int = 1

    @property
    def end(self) -> int:
        """The largest member."""
        return self.last + (self.repeats - 1) * self.period

    def __iter__(self) -> Iterator[int]:
        for turn in range(self.repeats):
            shift = turn * self.period
            yield from range(self.first + shift, self.last + shift + 1, self.step)

    def __len__(self) -> int:
        return ((self.last - self.first) // self.step + 1) * self.repeats

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int) or not self.first <= value <= self.end:
            return False
        distance = value - self.first
        within = distance % self.period if self.repeats > 1 else distance
        return within <= self.last - self.first and within % self.step == 0

    def shifted(self, distance: int) -> Strided:
        """Every coordinate `distance` further on."""
        first, last = self.first + distance, self.last + distance
        return Strided(first, last, self.step, self.period, self.repeats)

    def mirrored(self, extent: int) -> Strided:
        """The same coordinates counted from the other end of 0..extent - 1."""
        start = extent - 1 - self.end
        return Strided(start, start + self.last - self.first, self.step, self.period, self.repeats)


@dataclass(frozen=True, order=True)
class Region:
    """A strided rectangle of PEs."""

    x: Strided
    y: Strided

    def __contains__(self, pe: object) -> bool:
        return isinstance(pe, tuple) and pe[0] in self.x and pe[1] in self.y


@dataclass(frozen=True)
class Route:
    """One router configuration of a color: from where, to where (sorted as in `Direction`)."""

    receive: Direction
    send: tuple[Direction, ...]


@dataclass(frozen=True)
class ColorUse:
    """A color at the routers of a role: its positions in the order they are taken.

    One position is a static route. Position k + 1 differs from position k in the receiving side
    or in the sending side, never in both.
    """

    color: str
    positions: tuple[Route, ...]


class Advance(Enum):
    """What moves routers on behind a vector."""

    NOTHING = "nothing"
    OWN_ROUTER = "own_router"  # `.advance_switch`: the sender's own router takes the next position
    CONTROL = "control"  # a control wavelet behind the vector: own router, path and parent
    RESET = "reset"  # a control wavelet behind the vector: all routers on the path, to the first


BY_WAVELET = frozenset((Advance.CONTROL, Advance.RESET))  # those that take a control wavelet


@dataclass(frozen=True)
class StoreVectors:
    """Receive `vectors` vectors, one after the other, and combine each with the own one in memory.

    `rounds` operations of `vectors // rounds` vectors each, so that one operation's extent fits
    the machine's limit.
    """

    color: str
    vectors: int
    rounds: int


@dataclass(frozen=True)
class SendVector:
    """Send the own vector on `color`; with `combines_from` each element received there is combined
    with it on the way, so that receiving the last vector and sending overlap.
    """

    color: str
    combines_from: str | None
    advance: Advance


@dataclass(frozen=True)
class CopyVector:
    """Receive one vector on `color` over the own one."""

    color: str


Step = StoreVectors | SendVector | CopyVector


@dataclass(frozen=True)
class Role:
    """What a set of PEs does in one phase: its operations in order and its color settings.

    `about` says it in words for the emitted code ("combines 3 vectors, ...").
    """

    name: str
    about: str
    steps: tuple[Step, ...]
    colors: tuple[ColorUse, ...]


@dataclass(frozen=True)
class Phase:
    """One pattern of a collective: roles, and the regions of PEs that play them.

    Regions are disjoint and sorted; PEs in no region take no part. `name` is a CSL identifier
    ("columns", "row", "broadcast"); `axis` is "x", "y" or "xy": the coordinates a role depends on.
    """

    name: str
    kind: ContractKind
    axis: str
    order: Order | None
    about: str
    roles: tuple[Role, ...]
    regions: tuple[tuple[Region, int], ...]


@dataclass(frozen=True)
class Plan:
    """A collective ready to be emitted.

    `colors` numbers the symbolic colors. Queue numbers are per phase in `phases` order:
    `input_queues[i]` and `output_queues[i]` serve phase i, in which a PE receives on one color and
    sends on one. `task_ids` and `dsr_ids` are dealt out as `collc.lowering.resources` says (DSR
    ids serve every file). `code_bytes` and `data_bytes` are estimates for the largest PE class.

    A plan may ask for more than the target has; `collc.checks` refuses it then.
    """

    target: Target
    collective: Collective
    phases: tuple[Phase, ...]
    colors: tuple[tuple[str, int], ...]
    input_queues: tuple[int, ...]
    output_queues: tuple[int, ...]
    task_ids: tuple[int, ...]
    dsr_ids: tuple[int, ...]
    code_bytes: int
    data_bytes: int

    @property
    def element(self) -> ElementType:
        """Element type of the buffer."""
        return self.collective.contract.element

    @property
    def operation(self) -> Operation | None:
        """The reduction, None for a broadcast."""
        return self.collective.contract.operation
