"""A path stays on the grid and comes to no PE twice; where it is not contiguous, detours lead on.

What goes along a path is planned and checked on a row. That is the same thing if, and only if, each
place has the ones before and behind it as neighbours, and routers send to no other side. A color
that goes to a place that is no neighbour has a detour there, from router to router, and none of
these routers has it for anything else.
"""

from collections.abc import Iterator

from collc.base.diagnostics import Diagnostic
from collc.base.grids import Grid
from collc.base.paths import Path, Pe
from collc.checks.by_phase import in_phase
from collc.plan import Direction, Phase, Plan, Role
from collc.plan.geometry import line_of
from collc.plan.placement import roles_of_places, roles_of_ranks, sent_colors
from collc.plan.unrolled import NOWHERE, connections

_ALONG = frozenset((Direction.RAMP, Direction.WEST, Direction.EAST))


def paths(plan: Plan) -> Iterator[Diagnostic]:
    """C330: a path that is none, or a phase that leaves it, or detours that lead elsewhere."""
    for phase in plan.phases:
        if phase.path is None:
            continue
        grid = plan.collective.grid
        problem = _path_problem(phase.path, grid) or _leaves(phase) or _ways_problem(phase)
        if problem:
            help = "what follows each other has to be connected; please report this"
            yield in_phase("C330", phase, problem, help)


def _path_problem(path: Path, grid: Grid) -> str:
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


def _ways_problem(phase: Phase) -> str:
    """What is wrong with the detours of a phase; nothing if they are its gaps, and meet nothing."""
    path = phase.path
    if path is None or (not path.gaps and not phase.detours):
        return ""
    due, used = _hops(phase, path), set[tuple[Pe, str]]()
    for detour in phase.detours:
        steps = zip(detour.pes, detour.pes[1:], strict=False)
        if any(abs(x - a) + abs(y - b) != 1 for (x, y), (a, b) in steps):
            return f"a detour of `{detour.color}` is not connected"
        ends = (detour.pes[0], detour.pes[-1], detour.color)
        if ends not in due:
            return (
                f"a detour of `{detour.color}` leads from PE {detour.pes[0]} to PE {detour.pes[-1]}"
            )
        due.remove(ends)
        for pe in detour.pes:
            if (pe, detour.color) in used:
                return f"two detours of `{detour.color}` meet at PE {pe}"
            used.add((pe, detour.color))
    return next((f"`{c}` has no detour from PE {a} to PE {b}" for a, b, c in sorted(due)), "")


def _hops(phase: Phase, path: Path) -> set[tuple[Pe, Pe, str]]:
    """What needs detours: from where, to where, on which color. A color that has one somewhere has
    one wherever it is sent, so routers that are set for neighbours never have it."""
    by_detours = {detour.color for detour in phase.detours}
    return {
        (path.places[place], path.places[other], color)
        for place, other, color in _sent(phase)
        if path.crosses(place, other) or color in by_detours
    }


def _sent(phase: Phase) -> Iterator[tuple[int, int, str]]:
    """From which place something goes to which, on what color."""
    if phase.order is not None:
        of_ranks, line = roles_of_ranks(phase), line_of(phase)
        for rank, sources in enumerate(line.children):
            for source in sources:
                sender = of_ranks[source]
                for color in sent_colors(sender) if sender else ():
                    yield line.coordinate(source), line.coordinate(rank), color
    else:
        target, _ = connections(phase)
        for place, role in enumerate(roles_of_places(phase)):
            lanes = role.lanes if role else ()
            for index, lane in enumerate(lanes):
                to = int(target[place * len(lanes) + index])
                if lane.sends_on is not None and to != NOWHERE:
                    yield place, to // len(lanes), lane.sends_on
