"""The router settings of PEs on a path, whose plan is that of the row it is unfolded to.

There WEST is the way back to the place before and EAST the way on to the next; on the grid both are
the side of a neighbor, or, where the path is not contiguous, that of the first router on the way.
"""

from dataclasses import dataclass

from collc.base.paths import Path, Pe
from collc.plan import ColorUse, Direction, Phase, Region, Route, Strided

_SIDES = {
    (1, 0): Direction.EAST,
    (-1, 0): Direction.WEST,
    (0, 1): Direction.SOUTH,
    (0, -1): Direction.NORTH,
}


@dataclass(frozen=True)
class Placed:
    """PEs of one role whose routers are set alike: the role's index, the settings, the PEs."""

    role: int
    colors: tuple[ColorUse, ...]
    region: Region


def placed_on_path(phase: Phase, path: Path) -> list[Placed]:
    """Every PE of a path, place by place, with the settings that it has on the grid."""
    through = _through(phase)
    roles = [(place, role) for region, role in phase.regions for place in region.x if 0 in region.y]
    return [
        Placed(role, _colors(phase, role, path, place, through), _alone(path.places[place]))
        for place, role in sorted(roles)
    ]


def _alone(pe: Pe) -> Region:
    return Region(Strided(pe[0], pe[0]), Strided(pe[1], pe[1]))


def _through(phase: Phase) -> dict[Pe, dict[str, Route]]:
    """What is set for the detours of a path that is not contiguous, by PE and color."""
    found: dict[Pe, dict[str, Route]] = {}
    for detour in phase.detours:
        for pe, route in detour.routes:
            found.setdefault(pe, {})[detour.color] = route
    return found


def _colors(
    phase: Phase, role: int, path: Path, place: int, through: dict[Pe, dict[str, Route]]
) -> tuple[ColorUse, ...]:
    sides = {
        Direction.WEST: _side(path, place, place - 1),
        Direction.EAST: _side(path, place, place + 1),
    }
    # colors that gap are set by the routes between places alone
    noncontiguous = {detour.color for detour in phase.detours}
    uses = {
        use.color: ColorUse(use.color, tuple(_turned(one, sides) for one in use.positions))
        for use in phase.roles[role].colors
        if use.color not in noncontiguous
    }
    here = through.get(path.places[place], {})
    uses |= {color: ColorUse(color, (route,)) for color, route in here.items()}
    return tuple(uses[name] for name in sorted(uses))


def _turned(route: Route, sides: dict[Direction, Direction]) -> Route:
    receive = sides.get(route.receive, route.receive)
    return Route(receive, tuple(sides.get(side, side) for side in route.send))


def _side(path: Path, place: int, other: int) -> Direction:
    """The side on which the way from a place to another leaves it; beyond an end it does not."""
    if not 0 <= other < len(path):
        return Direction.WEST if other < place else Direction.EAST
    here, there = path.way(place, other)[:2]
    return _SIDES[there[0] - here[0], there[1] - here[1]]
