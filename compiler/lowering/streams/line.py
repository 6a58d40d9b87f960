"""What each place of a line does on the lanes of a stream, before places become roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from collc.base.values import dataclass
from collc.plan import Advance, Direction, Route
from collc.plan.plan import AHEAD
from collc.target import Target

Range = tuple[int, int]  # slices first to end - 1


@dataclass(frozen=True)
class Part:
    """A place on a lane: the positions of its router, what its PE sends and receives, and what a
    filter lets it have, as `collc.plan.streams` says, with slices of this place.

    A chain takes words on one color and sends them on another: `hops` are these, by the parity of
    the hop, each with its one route, in place of `positions`. The PE does it on the `lane`, which
    is that of the flow if it is not named."""

    positions: tuple[Route, ...] = ()
    ring: bool = False
    sends: Range | None = None
    receives: Range | None = None
    advance: Advance = Advance.NOTHING
    filter: tuple[Range, Range, Range] | None = None
    through: bool = False
    combines: bool = False
    staged: bool = False
    kept_first: bool = False
    after: str = ""
    lane: str = ""
    returns: bool = False
    hops: tuple[tuple[str, Route], ...] = ()


@dataclass(frozen=True)
class Flow:
    """A color that flows along the line from `comes` to `goes`, words `backward` or not, and the
    part of every place that has one."""

    name: str
    backward: bool
    comes: Direction
    goes: Direction
    parts: dict[int, Part] = field(default_factory=dict)

    @property
    def forward(self) -> bool:
        """Whether it flows to higher places."""
        return self.goes in {Direction.EAST, Direction.SOUTH}

    @property
    def out(self) -> Route:
        """The PE's own words."""
        return Route(Direction.RAMP, (self.goes,))

    @property
    def out_and_back(self) -> Route:
        """The PE's own words, also to the PE."""
        return Route(Direction.RAMP, (self.goes, Direction.RAMP))

    @property
    def past(self) -> Route:
        """Words from behind, not for this PE."""
        return Route(self.comes, (self.goes,))

    @property
    def past_and_in(self) -> Route:
        """Words from behind, for this PE as well."""
        return Route(self.comes, (self.goes, Direction.RAMP))

    @property
    def into(self) -> Route:
        """Words from behind that go no farther."""
        return Route(self.comes, (Direction.RAMP,))


@dataclass(frozen=True)
class Shape:
    """What forms are of: the lengths of a line's slices, the place of the root where there is one,
    the axis, and the target."""

    sizes: Sequence[int]
    root: int
    axis: str
    target: Target


def flows(axis: str, suffix: str = "") -> tuple[Flow, Flow]:
    """A color forward along the line and one back. Forward the slices of higher ranks come first,
    so that words go from the last element to the first; back it is the other way round."""
    ahead = AHEAD[axis]
    forward = Flow(f"forward{suffix}", True, ahead.opposite, ahead)
    return forward, Flow(f"backward{suffix}", False, ahead, ahead.opposite)


def span(one: int, other: int) -> Range:
    """The slices of two places and of all between, whichever is first."""
    return min(one, other), max(one, other) + 1
