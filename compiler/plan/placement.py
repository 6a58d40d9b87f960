"""From regions back to ranks: which role each rank of a line plays, and routes seen from the line;
and the colors of phases.

Checks and prediction work on one line of a phase; all lines of a phase are alike.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from collc.plan import Direction, Phase, Role, Route
from collc.plan.geometry import Line, line_of
from collc.plan.root_bypass import by_rank
from collc.spec import Order

# the side of rank 0, the other side
SIDES = {
    Order.WEST_TO_EAST: (Direction.WEST, Direction.EAST),
    Order.EAST_TO_WEST: (Direction.EAST, Direction.WEST),
    Order.NORTH_TO_SOUTH: (Direction.NORTH, Direction.SOUTH),
    Order.SOUTH_TO_NORTH: (Direction.SOUTH, Direction.NORTH),
}


def roles_of_ranks(phase: Phase) -> tuple[Role | None, ...]:
    """The role of each rank on the first line of a phase; None where no region has the rank. Those
    of a root bypass are as if its end were next to its root."""
    found, line = roles_of_places(phase), line_of(phase)
    return tuple(by_rank(found, phase, line.bypass, sides_of_order(line))) if line.bypass else found


def roles_of_places(phase: Phase) -> tuple[Role | None, ...]:
    """The role at each place of the first line of a phase; None where no region has the place."""
    found: dict[int, Role] = {}
    line = line_of(phase)
    for region, index in phase.regions:
        along, across = region.sides(line.axis)
        if line.lines[0] in across:
            found |= dict.fromkeys(along, phase.roles[index])
    return tuple(map(found.get, line.coordinates))


def sides_of_order(line: Line) -> tuple[Direction, Direction]:
    """The side of rank 0 and the other side, of a tree."""
    assert line.order is not None, "slices have no order"
    return SIDES[line.order]


def passes_on(route: Route, order: Order | None) -> bool:
    """Whether a route takes vectors from the far side to the near side and nowhere else."""
    assert order is not None, "slices have no order"
    near, far = SIDES[order]
    return route == Route(far, (near,))


def received_colors(role: Role) -> Iterator[str]:
    """The colors on which a PE of a role receives."""
    return (color for lane in role.lanes for color in lane.receives)


def sent_colors(role: Role) -> Iterator[str]:
    """The colors on which a PE of a role sends."""
    return (color for lane in role.lanes for color in lane.sends)


def runs_beside(phase: Phase) -> bool:
    """Whether operations of a PE run beside each other: on several lanes, or those that begin
    together."""
    lanes = (lane for role in phase.roles for lane in role.lanes)
    entries = (entry for lane in lanes for loop in lane.loops for entry in loop.entries)
    return len(phase.lanes) > 1 or any(len(entry.ops) > 1 for entry in entries)


def beside(phase: Phase) -> Iterator[tuple[str, str]]:
    """Pairs of colors of which a PE may receive on the one while it sends on the other."""
    for role in phase.roles if runs_beside(phase) else ():
        yield from product(received_colors(role), sent_colors(role))


def colors_of(phases: Iterable[Phase]) -> tuple[str, ...]:
    """The colors that some router has a route for, phase by phase, sorted within a phase."""
    found: dict[str, None] = {}
    for phase in phases:
        found |= dict.fromkeys(sorted({use.color for role in phase.roles for use in role.colors}))
    return tuple(found)


def parity_of(color: str) -> str:
    """`even` or `odd`, of a phase that has two colors; nothing of another one's."""
    last = color.rpartition("_")[2]
    return last if last in ("even", "odd") else ""


def switched_colors(phases: Sequence[Phase]) -> frozenset[str]:
    """The colors that have more than one position, or a ring, at some router."""
    uses = (use for phase in phases for role in phase.roles for use in role.colors)
    return frozenset(use.color for use in uses if use.ring or len(use.positions) > 1)
