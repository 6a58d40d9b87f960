"""Routers: directions, routes, the positions of a color's switch, and what moves it on."""

from __future__ import annotations

from enum import Enum

from collc.base.values import dataclass


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
        return _OPPOSITE[self]

    @property
    def step(self) -> tuple[int, int]:
        """By how much x and y of a PE change that way."""
        return _STEP[self]


AHEAD = {"x": Direction.EAST, "y": Direction.SOUTH}  # to higher places of a line
_STEP = {
    Direction.NORTH: (0, -1),
    Direction.EAST: (1, 0),
    Direction.SOUTH: (0, 1),
    Direction.WEST: (-1, 0),
    Direction.RAMP: (0, 0),
}
_OPPOSITE = {
    Direction.NORTH: Direction.SOUTH,
    Direction.EAST: Direction.WEST,
    Direction.SOUTH: Direction.NORTH,
    Direction.WEST: Direction.EAST,
    Direction.RAMP: Direction.RAMP,
}


@dataclass(frozen=True)
class Route:
    """One router configuration of a color: from where, to where (sorted as in `Direction`)."""

    receive: Direction
    send: tuple[Direction, ...]


@dataclass(frozen=True)
class ColorUse:
    """A color at the routers of a role: its positions in the order they are taken.

    One position is a static route. Position k + 1 differs from position k in the receiving side
    or in the sending side, never in both. In a `ring` the first position follows the last one, and
    a router takes the command that has moved it off the control wavelet (`pop_on_advance`).
    """

    color: str
    positions: tuple[Route, ...]
    ring: bool = False

    @property
    def turns_input(self) -> bool:
        """Whether the last position receives from another side than the first."""
        return self.positions[0].receive is not self.positions[-1].receive

    @property
    def turns_output(self) -> bool:
        """Whether the last position sends to other sides than the first."""
        return self.positions[0].send != self.positions[-1].send


class Advance(Enum):
    """What moves routers on behind a vector."""

    NOTHING = "nothing"
    OWN_ROUTER = "own_router"  # `.advance_switch`: the sender's own router takes the next position
    CONTROL = "control"  # a control wavelet behind the vector: own router, path and parent
    HAND_OVER = "hand_over"  # a control wavelet behind the vector: own router, then the next one
    RESET = "reset"  # a control wavelet behind the vector: all routers on the path, to the first
    TEARDOWN = "teardown"  # the same, but the routers are torn down for the next use of the color


# those that take a control wavelet
BY_WAVELET = frozenset((Advance.CONTROL, Advance.HAND_OVER, Advance.RESET, Advance.TEARDOWN))
