"""Where the lines of a phase are, who is which rank of one, and who receives from whom.

All of it follows from roles, regions and routers: a tree goes along the stretch that its regions
cover, and its root stands where its order begins; a multicast comes from the PE whose router takes
it from the ramp.
"""

from __future__ import annotations

from functools import cached_property

from collc.base.memoize import by_identity
from collc.base.values import dataclass
from collc.plan.plan import Direction, Phase, Plan
from collc.schedule.model import RanksOnLine
from collc.spec import Order
from collc.spec.steps import ascending

_HELD = 128  # phases, such as those of the candidates among which one is chosen


@dataclass(frozen=True, eq=False)
class Line(RanksOnLine):
    """The lines of a phase that goes along an axis, which are all alike.

    `lines` are the coordinates, on the other axis, of the first and the last of them. Of a tree
    `home` is where rank 0, its root, stands on the axis, and the ranks follow from there in its
    `order`; of slices the ranks are places, from 0 on.

    A tree with a `bypass` is a root bypass: rank 0 stands so far from the nearer end of a line.
    From that end on the others follow, rank 1 at the end itself, who sends past the PEs between to
    rank 0. At the root's own place the count goes on with a rank that has no vector.
    """

    phase: Phase
    axis: str
    order: Order | None
    home: int
    ranks: int
    lines: tuple[int, int]
    bypass: int = 0

    @property
    def forward(self) -> bool:
        """Whether ranks follow to higher coordinates."""
        return self.order is None or ascending(self.order)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each rank of a tree, the ranks it receives from, in order of receipt, as far as
        vectors come in what is planned."""
        from collc.plan.line_tokens import run_tokens  # noqa: PLC0415 - which asks for the line

        return tuple(map(tuple, run_tokens(self.phase).received))


@by_identity(_HELD)
def line_of(phase: Phase) -> Line:
    """The lines of a phase that goes along an axis."""
    sides = [region.sides(phase.axis) for region, _ in phase.regions]
    low, high = min(along.first for along, _ in sides), max(along.end for along, _ in sides)
    lines = (min(across.first for _, across in sides), max(across.end for _, across in sides))
    if phase.order is None:
        return Line(phase, phase.axis, None, 0, high + 1, lines)
    end = low if ascending(phase.order) else high
    root = next((at for at in _receiving(phase, bypass_color(phase.name))), end)
    bypass = abs(root - end)
    ranks = high - low + 1 + bool(bypass)
    return Line(phase, phase.axis, phase.order, root, ranks, lines, bypass)


def bypass_color(name: str) -> str:
    """The color of the sum of a root bypass on its way to the root, by the name of the phase."""
    return f"{name}_bypass"


def _receiving(phase: Phase, color: str) -> list[int]:
    """Where PEs stand on the axis that receive on a color."""
    having = {
        n
        for n, role in enumerate(phase.roles)
        if any(color in lane.receives for lane in role.lanes)
    }
    return [at for region, n in phase.regions if n in having for at in region.sides(phase.axis)[0]]


@dataclass(frozen=True)
class Multicast:
    """The PE (x, y) that a vector comes from, and the extents of the grid that it goes to."""

    x: int
    y: int
    width: int
    height: int

    @property
    def at(self) -> tuple[int, int]:
        """The PE."""
        return self.x, self.y

    @property
    def extents(self) -> tuple[int, int]:
        """Those of the grid."""
        return self.width, self.height


@by_identity(_HELD)
def multicast_of(phase: Phase) -> Multicast | None:
    """From where a multicast comes, and how far it goes; of the PEs that may be its root, where
    that is the call's, from the last one. None of a phase that is not just that: one operation at
    each PE, with the whole vector, that combines nothing."""
    if phase.combines or phase.slicing.count > 1 or any(len(one.ops) > 1 for one in phase.roles):
        return None
    regions = [region for region, _ in phase.regions]
    width, height = max(one.x.end for one in regions) + 1, max(one.y.end for one in regions) + 1
    root = [region for region, n in phase.regions if _from_ramp(phase, n)] or regions
    return Multicast(root[-1].x.end, root[-1].y.end, width, height)


def _from_ramp(phase: Phase, role: int) -> bool:
    """Whether routers of a role take vectors from the PE."""
    routes = (route for use in phase.roles[role].colors for route in use.positions)
    return any(route.receive is Direction.RAMP for route in routes)


def home_of(plan: Plan) -> tuple[int, int]:
    """(x, y) of the PE that a rooted contract ends at or starts from: it is said where algorithms
    run; else it is where the reductions end or, without any, where the multicast starts."""
    collective = plan.collective
    if collective.root is not None:
        return collective.root
    place = {"x": 0, "y": 0}
    trees = [line_of(phase) for phase in plan.phases if phase.order is not None]
    for line in trees:
        place[line.axis] = line.coordinate(0)
    if trees:
        path = collective.path
        return path.places[place["x"]] if path else (place["x"], place["y"])
    multicasts = (multicast_of(phase) for phase in plan.phases)
    return next((one.at for one in multicasts if one is not None), (0, 0))
