"""Multicast of one PE's vector over the grid: one color, static routes, at most nine roles.

The root feeds its row both ways; every PE of that row also feeds its column both ways:

    ^ ^ ^ ^ ^
    < < R > >      each router copies to its ramp and onward
    v v v v v
"""

from collections.abc import Iterator

from collc.plan import (
    VECTOR,
    Action,
    ColorUse,
    Direction,
    Op,
    Phase,
    Region,
    Role,
    Route,
    Strided,
    lanes_of,
    once,
)
from collc.schedule import BroadcastPhase
from collc.spec import ContractKind
from collc.spec.exchange import Slicing

Stretch = tuple[str, Strided, Direction, bool]  # name, coordinates, from where, goes on


def broadcast_phase(phase: BroadcastPhase, slicing: Slicing) -> Phase:
    """The plan's phase of a multicast."""
    placed = [*_root(phase), *_row(phase), *_columns(phase)]
    regions = sorted((region, index) for index, (_, region) in enumerate(placed))
    line = 1 in (phase.width, phase.height)
    return Phase(
        name=phase.name,
        kind=ContractKind.BROADCAST,
        axis=("x" if phase.height == 1 else "y") if line else "xy",
        order=None,
        about=f"multicast from PE ({phase.x}, {phase.y})",
        roles=tuple(role for role, _ in placed),
        regions=tuple(regions),
        span=phase.span,
        slicing=slicing,
    )


def _root(phase: BroadcastPhase) -> Iterator[tuple[Role, Region]]:
    ways = set(_column_ways(phase))
    ways |= {Direction.WEST} if phase.x > 0 else set()
    ways |= {Direction.EAST} if phase.x < phase.width - 1 else set()
    loops = (once(Op(VECTOR, Action.COPY, phase.name)),)
    use = ColorUse(phase.name, (Route(Direction.RAMP, in_order(ways)),))
    region = Region(Strided(phase.x, phase.x), Strided(phase.y, phase.y))
    yield Role("root", "sends its vector to all", lanes_of(loops), (use,)), region


def _row(phase: BroadcastPhase) -> Iterator[tuple[Role, Region]]:
    """The PEs east and west of the root; each also starts its column."""
    row = Strided(phase.y, phase.y)
    sides = (
        ("west", Direction.EAST, phase.x - 1, 0),
        ("east", Direction.WEST, phase.x + 1, phase.width - 1),
    )
    for name, source, *ends in sides:
        for stretch in _stretches(name, source, *ends):
            yield _receiver(phase, stretch, _column_ways(phase)), Region(stretch[1], row)


def _columns(phase: BroadcastPhase) -> Iterator[tuple[Role, Region]]:
    """The PEs north and south of the root's row."""
    columns = Strided(0, phase.width - 1)
    sides = (
        ("north", Direction.SOUTH, phase.y - 1, 0),
        ("south", Direction.NORTH, phase.y + 1, phase.height - 1),
    )
    for name, source, *ends in sides:
        for stretch in _stretches(name, source, *ends):
            yield _receiver(phase, stretch, ()), Region(columns, stretch[1])


def _column_ways(phase: BroadcastPhase) -> tuple[Direction, ...]:
    """Where the PEs of the root's row start their column."""
    north = (Direction.NORTH,) if phase.y > 0 else ()
    south = (Direction.SOUTH,) if phase.y < phase.height - 1 else ()
    return north + south


def _stretches(name: str, source: Direction, first: int, last: int) -> Iterator[Stretch]:
    """The PEs from `first`, next to the root, to `last`, at the edge: those that pass on, the end.

    Nothing if `first` is beyond the edge `last` already.
    """
    outward = 1 if source in (Direction.WEST, Direction.NORTH) else -1
    count = (last - first) * outward + 1
    if count > 1:
        low, high = sorted((first, last - outward))
        yield f"{name}_inner", Strided(low, high), source, True
    if count > 0:
        yield f"{name}_end", Strided(last, last), source, False


def _receiver(phase: BroadcastPhase, stretch: Stretch, branches: tuple[Direction, ...]) -> Role:
    """A PE that keeps a copy and passes the vector on where there are more PEs."""
    name, _, source, goes_on = stretch
    ways = {Direction.RAMP, *branches} | ({source.opposite} if goes_on else set())
    use = ColorUse(phase.name, (Route(source, in_order(ways)),))
    about = f"copies the vector from the {source.value.lower()}"
    about += " and passes it on" if len(ways) > 1 else ""
    loops = (once(Op(phase.name, Action.COPY, VECTOR)),)
    return Role(name, about, lanes_of(loops), (use,))


def in_order(ways: set[Direction]) -> tuple[Direction, ...]:
    """Directions sorted as in `Direction`."""
    return tuple(way for way in Direction if way in ways)
