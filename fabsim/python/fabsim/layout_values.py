"""The values of which a layout in Python is made: places, directions, colors, routing positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

#: The largest color a user may give.
HIGHEST_COLOR = 23


class IntVector(NamedTuple):
    """A pair of integers: a place or a size, column first."""

    x: int
    y: int


@dataclass(frozen=True)
class IntRectangle:
    """The places from the first corner to the second one, which is not part of it."""

    first: IntVector
    last: IntVector

    def places(self) -> Iterator[IntVector]:
        """All places, row by row."""
        rows, columns = range(self.first.y, self.last.y), range(self.first.x, self.last.x)
        return (IntVector(x, y) for y in rows for x in columns)


class Route(Enum):
    """Where a router takes wavelets from, and where it sends them."""

    RAMP = 0
    EAST = 1
    WEST = 2
    NORTH = 3
    SOUTH = 4

    @property
    def step(self) -> tuple[int, int]:
        """Columns and rows to the neighbour in this direction; the ramp leads to no neighbour."""
        return _STEPS[self]

    @property
    def facing(self) -> Route:
        """The side on which the neighbour receives."""
        return _FACING[self]


_STEPS = {
    Route.RAMP: (0, 0),
    Route.EAST: (1, 0),
    Route.WEST: (-1, 0),
    Route.NORTH: (0, -1),
    Route.SOUTH: (0, 1),
}
_FACING = {
    Route.RAMP: Route.RAMP,
    Route.EAST: Route.WEST,
    Route.WEST: Route.EAST,
    Route.NORTH: Route.SOUTH,
    Route.SOUTH: Route.NORTH,
}


class Edge(Enum):
    """One of the four edges of a code region."""

    TOP = 0
    BOTTOM = 1
    LEFT = 2
    RIGHT = 3

    @property
    def outwards(self) -> Route:
        """The direction that leads out of the region."""
        return _OUTWARDS[self]

    def places(self, width: int, height: int) -> list[IntVector]:
        """The places of a region of this size that lie at the edge, from west or north on."""
        if self in (Edge.TOP, Edge.BOTTOM):
            y = 0 if self is Edge.TOP else height - 1
            return [IntVector(x, y) for x in range(width)]
        x = 0 if self is Edge.LEFT else width - 1
        return [IntVector(x, y) for y in range(height)]


_OUTWARDS = {
    Edge.TOP: Route.NORTH,
    Edge.BOTTOM: Route.SOUTH,
    Edge.LEFT: Route.WEST,
    Edge.RIGHT: Route.EAST,
}


@dataclass(frozen=True)
class Position:
    """One position of a switch, as it was when a color was painted with it."""

    inputs: tuple[Route, ...]
    outputs: tuple[Route, ...]


class RoutingPosition:
    """Where a color comes from and where it goes, at one position of the switch."""

    def __init__(self) -> None:
        self._inputs: list[Route] = []
        self._outputs: list[Route] = []

    def set_input(self, routes: Iterable[Route]) -> RoutingPosition:
        """Replace the inputs."""
        self._inputs = _routes(routes)
        return self

    def set_output(self, routes: Iterable[Route]) -> RoutingPosition:
        """Replace the outputs."""
        self._outputs = _routes(routes)
        return self

    def add_input(self, route: Route) -> RoutingPosition:
        """Add an input."""
        self._inputs += _routes([route])
        return self

    def add_output(self, route: Route) -> RoutingPosition:
        """Add an output."""
        self._outputs += _routes([route])
        return self

    def get_input(self) -> list[Route]:
        """The inputs."""
        return list(self._inputs)

    def get_output(self) -> list[Route]:
        """The outputs."""
        return list(self._outputs)


def _routes(routes: Iterable[Route]) -> list[Route]:
    found = list(routes)
    for route in found:
        if not isinstance(route, Route):
            raise TypeError(f"a list of Route is expected, found {route!r} in it")
    return found


#: A router has four positions.
MOST_POSITIONS = 4


def positions(routes: Sequence[RoutingPosition]) -> tuple[Position, ...]:
    """A list of routing positions as it is now."""
    found = list(routes)
    if not 1 <= len(found) <= MOST_POSITIONS:
        raise ValueError(f"a color has one to four routing positions, not {len(found)}")
    for position in found:
        if not isinstance(position, RoutingPosition):
            raise TypeError(f"a list of RoutingPosition is expected, found {position!r} in it")
    return tuple(Position(tuple(p.get_input()), tuple(p.get_output())) for p in found)


@dataclass(frozen=True)
class EdgeRouteInfo:
    """Routing positions for the places at one edge of a region."""

    edge: Edge
    positions: tuple[Position, ...]


def get_edge_routing(edge: Edge, routes: Sequence[RoutingPosition]) -> EdgeRouteInfo:
    """Routing positions for the places at one edge, for `paint_all`."""
    return EdgeRouteInfo(edge, positions(routes))


class Color:
    """A color by its name; its value is given, or chosen when the layout is compiled.

    Two colors of the same name are the same one, unless they belong to different code regions.
    """

    def __init__(self, name: str, value: int | None = None, *, region: str | None = None) -> None:
        if value is not None and not 0 <= value <= HIGHEST_COLOR:
            raise ValueError(f"color {name!r}: the value is 0 to {HIGHEST_COLOR}, not {value}")
        self._name = name
        self._region = region
        self._value = value

    def get_global_name(self) -> str:
        """The name with that of the color's region in front, if it has one."""
        return self._name if self._region is None else f"{self._region}_{self._name}"

    def get_local_param_name(self) -> str:
        """The name that the color was given."""
        return self._name

    def get_value(self) -> int | None:
        """The value that the color was given."""
        return self._value

    def __repr__(self) -> str:
        return f"Color({self.get_global_name()!r})"
