"""The Plan: what every PE class does and how its routers are set, ready to be printed.

Made by `collc.lowering`, judged by `collc.checks`, read by `collc.cost` and `collc.emit`. A plan
speaks of regions (strided rectangles of PEs), never of single PEs, so its size follows the
pattern and not the grid. Colors are symbolic (`columns_even`) until `Plan.colors` numbers them.
"""

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from itertools import pairwise

from collc.base.diagnostics import Span
from collc.base.paths import Path
from collc.base.values import dataclass
from collc.plan.ops import WHOLE_LANES, Memory, Role
from collc.plan.regions import Region
from collc.plan.routers import Direction, Route
from collc.spec import Collective, ContractKind, ElementType, Operation, Order, OwnOperation
from collc.spec.exchange import Blocks, Slicing
from collc.target import Target


@dataclass(frozen=True)
class Detour:
    """How a color leads from a PE to another that is not next to it: the PEs whose routers it goes
    through, each next to the one before, with both ends."""

    color: str
    pes: tuple[tuple[int, int], ...]

    @property
    def routes(self) -> Iterator[tuple[tuple[int, int], Route]]:
        """What is set at each of the routers."""
        sides = [_side(*pair) for pair in pairwise(self.pes)]
        comes = [Direction.RAMP, *(side.opposite for side in sides)]
        for pe, receive, send in zip(self.pes, comes, [*sides, Direction.RAMP], strict=True):
            yield pe, Route(receive, (send,))


def _side(pe: tuple[int, int], other: tuple[int, int]) -> Direction:
    """On which side of a PE its neighbour is."""
    if pe[1] == other[1]:
        return Direction.EAST if other[0] > pe[0] else Direction.WEST
    return Direction.SOUTH if other[1] > pe[1] else Direction.NORTH


@dataclass(frozen=True)
class Phase:
    """One pattern of a collective: roles, and the regions of PEs that play them.

    Regions are disjoint and sorted; PEs in no region take no part. `name` is a CSL identifier
    ("columns", "row", "broadcast"); `axis` is "x", "y" or "xy": the coordinates a role depends on.
    `span` is the step of the program that it is for; phases whose PEs do the same are equal,
    whatever that is.
    Vectors are cut as `slicing` says, into one slice where they stay whole; with `blocks` those of
    a line's block are. `lanes` are the names of the lanes of all roles, in the order in which
    queues are dealt out. With a `path` all this is said of the row that the path is unfolded to: x
    is a place, WEST the way back to the place before, EAST the way on to the next (D29). Where an
    order is not contiguous, `detours` say where colors lead on the grid that go to a place that is
    no neighbour. If it is `paired`, 16-bit elements travel two to a wavelet (D75); if it is `wide`,
    an instruction takes two wavelets (D76).
    """

    name: str
    kind: ContractKind
    axis: str
    order: Order | None
    about: str
    roles: tuple[Role, ...]
    regions: tuple[tuple[Region, int], ...]
    slicing: Slicing
    span: Span = field(compare=False, repr=False)
    lanes: tuple[str, ...] = WHOLE_LANES
    blocks: Blocks | None = None
    path: Path | None = None
    detours: tuple[Detour, ...] = ()
    paired: bool = False
    wide: bool = False

    @cached_property
    def areas(self) -> int:
        """How many areas of a vector's length the stage has, as far as operations use it."""
        places = (
            place for role in self.roles for op in role.ops for place in (op.receive, op.send)
        )
        staged = (one.area for one in places if isinstance(one, Memory) and one.is_stage)
        return max(staged, default=-1) + 1

    @cached_property
    def backward(self) -> bool:
        """Whether some elements pass from the last to the first."""
        return any(op.slices.backward for role in self.roles for op in role.ops)

    def role_at(self, pe: tuple[int, int]) -> Role | None:
        """What a PE does; None where it has no part."""
        return next((self.roles[index] for region, index in self.regions if pe in region), None)

    @property
    def passes(self) -> bool:
        """Whether some PE combines several vectors in memory by one operation."""
        return any(op.stores and op.vectors > 1 for role in self.roles for op in role.ops)


@dataclass(frozen=True)
class Registers:
    """Which of a plan's DSR ids the registers have, where phases share them: positions in
    `Plan.dsr_ids`, in the order in which the emitted code has them. `pairs` are those of a dsr_dest
    and a dsr_src0, which have one number, `sources` those of dsr_src1."""

    pairs: tuple[int, ...]
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """A collective ready to be emitted.

    `colors` numbers the symbolic colors. Queue numbers stand in the order of the phases: one input
    and one output queue for a phase of whole vectors, in which a PE receives on one color and sends
    on one, one of each for every lane of an exchange. `task_ids` and `dsr_ids` are dealt out as
    `collc.lowering.resources` says (DSR ids serve every file). Where there are not enough, phases
    whose slots no PE has both of have one number (`collc.plan.slots`); of DSRs `registers` says
    which then. `code_bytes` and `data_bytes` are estimates for the largest PE class.

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
    registers: Registers | None = None

    @property
    def color_limit(self) -> int:
        """How many colors it may use: the collective's own limit, at most the target's."""
        own, available = self.collective.limits.colors, len(self.target.colors)
        return available if own is None else min(own, available)

    @property
    def element(self) -> ElementType:
        """Element type of the buffer."""
        return self.collective.contract.element

    @property
    def operation(self) -> Operation | OwnOperation | None:
        """The reduction, None for a broadcast."""
        return self.collective.contract.operation
