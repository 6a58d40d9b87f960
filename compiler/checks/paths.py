"""A path goes from neighbour to neighbour, on the grid, and comes to no PE twice.

What goes along a path is planned and checked on a row. That is the same thing if, and only if, each
place has the ones before and behind it as neighbours, and routers send to no other side.
"""

from __future__ import annotations

from collections.abc import Iterator

from collc.diagnostics import Diagnostic
from collc.grids import Grid
from collc.paths import Path, leaps
from collc.plan import Direction, Phase, Plan, Role
from collc.schedule import Schedule

_ALONG = frozenset((Direction.RAMP, Direction.WEST, Direction.EAST))


def paths(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C330: a path that is none, or a phase that leaves it."""
    for phase, pattern in zip(plan.phases, schedule.phases, strict=True):
        if phase.path is None:
            continue
        problem = _path_problem(phase.path, schedule.collective.grid) or _leaves(phase)
        if problem:
            yield Diagnostic(
                "C330",
                f"in `{phase.name}` {problem}",
                pattern.span,
                help="an order has to go from neighbour to neighbour; please report this",
            )


def _path_problem(path: Path, grid: Grid) -> str:
    leap = next(leaps(path.places), None)
    if leap is not None:
        return f"PE {path.places[leap]} is not next to PE {path.places[leap - 1]}"
    if len(set(path.places)) != len(path):
        return "the path comes to a PE twice"
    outside = (
        pe for pe in path.places if not (0 <= pe[0] < grid.width and 0 <= pe[1] < grid.height)
    )
    pe = next(outside, None)
    return "" if pe is None else f"the path leaves the grid at PE {pe}"


def _leaves(phase: Phase) -> str:
    """A role whose routers do not keep to the path."""
    for role in phase.roles:
        if not _sides(role) <= _ALONG:
            return f"role `{role.name}` leaves the path"
    return ""


def _sides(role: Role) -> set[Direction]:
    routes = [route for use in role.colors for route in use.positions]
    return {side for route in routes for side in (route.receive, *route.send)}
