"""A root bypass on its line: the ranks of a reduction whose root stands among the others.

The ranks of a root bypass are those of a line on which rank 1, the end, is next to rank 0, the
root. In truth the root stands among the others, `bypass` places from the end, and what rank 1 sends
it goes back past them on a color of its own: no other vector goes that way, so its routes are
static. The root's router lets the others' vectors pass for all the time, as that of a rank without
a vector.

    places         0     1     2     3     4     5          gap 2
    tree         1 <-- 2 <------- 4 <-- 5 <-- 6             chain of the ranks but 0 and 3
    sum            ----------> 0                            color `jump`
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from collc.plan import ColorUse, Direction, Role, Route
from collc.plan.geometry import bypass_color
from collc.plan.plan import Phase

Sides = tuple[Direction, Direction]


def turned(use: ColorUse, color: str, sides: Sides) -> ColorUse:
    """A setting with the two sides of the line exchanged, if it is one of this color."""
    if use.color != color:
        return use
    near, far = sides
    other = {near: far, far: near}
    routes = (
        Route(other.get(route.receive, route.receive), tuple(other.get(s, s) for s in route.send))
        for route in use.positions
    )
    return ColorUse(use.color, tuple(routes))


def by_rank(
    roles: Sequence[Role | None], phase: Phase, bypass: int, sides: Sides
) -> Iterator[Role | None]:
    """The roles of places as those of ranks, as if the end were next to the root: the sum's way
    between them is left out."""
    color = bypass_color(phase.name)
    root = roles[bypass]
    yield root and _with_colors(
        root, [turned(u, color, sides) for u in root.colors if u.color == color]
    )
    for place, role in enumerate(roles):
        if role is None or place == 0:
            yield role and _with_colors(role, [turned(use, color, sides) for use in role.colors])
            continue
        others = _with_colors(role, [use for use in role.colors if use.color != color])
        yield replace(others, lanes=()) if place == bypass else others


def _with_colors(role: Role, colors: Sequence[ColorUse]) -> Role:
    return replace(role, colors=tuple(colors))
