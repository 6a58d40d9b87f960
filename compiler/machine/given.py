"""What `collc_evaluator.run_machine` is given: lanes, positions of routers, and calls, by numbers.

PEs are those of the whole grid, row by row. Colors are numbered from 0; in operations -1 is the
vector, -2 and below are the areas of the stage. Sides are NORTH, EAST, SOUTH, WEST and RAMP, 0 to
4.
"""

from collc.base.columns import Array
from collc.base.values import dataclass
from collc.plan.plan import Number

VECTOR = -1
NOBODY = -1  # of rows and roles


@dataclass(frozen=True)
class SlicesGiven:
    """As `collc.plan.Slices`."""

    first: Number
    count: Number
    backward: bool
    blocks: int
    period: int


@dataclass(frozen=True)
class FilterGiven:
    """As `collc.plan.Filter`."""

    period: SlicesGiven
    before: SlicesGiven
    passes: SlicesGiven


@dataclass(frozen=True)
class OpGiven:
    """As `collc.plan.Op`; `number` is its place among the operations of its lane, `after` that of
    another lane among those of the role."""

    number: int
    receive: int
    action: str
    send: int
    slices: SlicesGiven
    advance: str
    returns: bool
    after: int | None
    vectors: int
    elements: Number | None
    where: Number


@dataclass(frozen=True)
class EntryGiven:
    """As `collc.plan.Entry`."""

    ops: tuple[OpGiven, ...]
    ends_step: Number


@dataclass(frozen=True)
class LoopGiven:
    """As `collc.plan.Loop`."""

    turns: Number
    shift: Number
    entries: tuple[EntryGiven, ...]


@dataclass(frozen=True)
class LaneGiven:
    """As `collc.plan.Lane`."""

    loops: tuple[LoopGiven, ...]


@dataclass(frozen=True)
class RoleGiven:
    """As `collc.plan.Role`."""

    lanes: tuple[LaneGiven, ...]


SettingGiven = tuple[tuple[tuple[int, int], ...], bool]  # (side in, sides out as bits) each, a ring


@dataclass(frozen=True, eq=False)
class PhaseGiven:
    """A phase: by PE its role, or NOBODY, its place, and which of `cuts` is its own, int32 [PEs].

    `sizes` are the wavelets of the slices, each of `cuts` the first atom of each slice and the end
    of the last. `sets` has PE, color, setting and filter (NOBODY for none) of each router that the
    phase sets, PE by PE, int32 [4 * sets]. So many elements have so many `wavelets`: the second is
    how many, the first their wavelets.
    """

    roles: tuple[RoleGiven, ...]
    role_at: Array
    place_at: Array
    cut_at: Array
    sizes: list[int]
    cuts: list[list[int]]
    wavelets: tuple[int, int]
    sets: Array
    filters: tuple[FilterGiven, ...]


@dataclass(frozen=True, eq=False)
class Given:
    """Phases, and the stages of PEs: each a call, a phase, and which one of its collective it is.

    `colors` are their names for messages, `numbers` those that the target has for them. `rows` say
    for each call which row of what it holds is that of a PE, int32 [PEs]; `atoms` are those of a
    row. A burst of up to `queue` wavelets has room at its receiver.
    """

    width: int
    height: int
    colors: tuple[str, ...]
    numbers: tuple[int, ...]
    torn_down: tuple[bool, ...]
    settings: tuple[SettingGiven, ...]
    phases: tuple[PhaseGiven, ...]
    stages: tuple[tuple[int, int, int], ...]
    rows: tuple[Array, ...]
    atoms: tuple[int, ...]
    queue: int
