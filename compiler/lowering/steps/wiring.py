"""How the lanes of a phase made of steps reach their receivers: circuits, or relays.

- **Circuits**: every pair of places that ever exchange something has its own static route along the
  line. Circuits of one color never share a router. A PE has at most `MOST_LANES` receivers and
  as many senders, since each takes a queue.
- **Relays**: a lane forward and a lane backward connect neighbours. What goes farther is passed on
  by the PEs between, fabric to fabric. A PE sends on the color of the parity of its place and
  receives on the other, so a lane takes two colors.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from collc.base.columns import Bools, Ints
from collc.base.values import dataclass
from collc.lowering.steps.traffic import Traffic
from collc.plan import ColorUse, Direction, Route
from collc.plan.plan import AHEAD

MOST_LANES = 2

RELAY_LANES = ("forward", "backward")
Pair = tuple[int, int]  # a source and a target
CIRCUIT_LANES = (("stream",), ("first", "second"))


@dataclass(frozen=True, eq=False)
class Wiring:
    """The routers of a line and the lanes of its PEs.

    `colors[p]` are the color settings of place p; `receives[p][lane]` and `sends[p][lane]` the
    colors of its lanes, None where it has none. `circuits` gives the lane a source sends to a
    target on and that on which the target receives it; it is empty where PEs relay.
    """

    lanes: tuple[str, ...]
    colors: tuple[tuple[ColorUse, ...], ...]
    receives: tuple[tuple[str | None, ...], ...]
    sends: tuple[tuple[str | None, ...], ...]
    circuits: dict[tuple[int, int], tuple[int, int]]

    def at(self, place: int) -> tuple[object, ...]:
        """All that a place has of it; places with the same may have one role."""
        return self.colors[place], self.receives[place], self.sends[place]

    @property
    def has_lane(self) -> Bools:
        """Which places send or receive on which lane, [places, lanes]."""
        both = zip(self.receives, self.sends, strict=True)
        return np.array([[bool(a or b) for a, b in zip(*pair, strict=True)] for pair in both])

    @property
    def color_count(self) -> int:
        """How many colors the line takes."""
        return len({use.color for uses in self.colors for use in uses})


def colored(pairs: list[Pair]) -> dict[Pair, int]:
    """The fewest colors such that circuits of one color share no router: taken from the low end,
    each circuit gets the lowest color that is free at its first router."""
    numbers: dict[Pair, int] = {}
    ends: list[int] = []
    for pair in sorted(pairs, key=lambda pair: (min(pair), max(pair), pair)):
        free = (number for number, end in enumerate(ends) if end < min(pair))
        number = next(free, len(ends))
        ends[number : number + 1] = [max(pair)]
        numbers[pair] = number
    return numbers


def circuits(
    traffic: Traffic,
    ranks: int,
    axis: str,
    name: str,
    numbered: Callable[[list[Pair]], dict[Pair, int]] = colored,
) -> Wiring | None:
    """A circuit for every pair, on the colors that they are `numbered` by; None if some PE would
    need too many lanes."""
    if not len(traffic):
        return None
    both = np.unique(traffic.source * ranks + traffic.target)
    sources, targets = both // ranks, both % ranks
    lanes = int(max(np.bincount(sources).max(), np.bincount(targets).max()))
    if lanes > MOST_LANES:
        return None
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    outs = _by_place(ranks, ((source, target) for source, target in pairs))
    ins = _by_place(ranks, ((target, source) for source, target in pairs))
    routes: list[dict[str, Route]] = [{} for _ in range(ranks)]
    receives: list[list[str | None]] = [[None] * lanes for _ in range(ranks)]
    sends: list[list[str | None]] = [[None] * lanes for _ in range(ranks)]
    lane_of = {}
    for (source, target), number in numbered(pairs).items():
        color = f"{name}_{number}"
        # the lanes of a PE that sends both ways go each one way
        out = sorted(outs[source], reverse=True).index(target)
        into = sorted(ins[target]).index(source)
        lane_of[source, target] = out, into
        sends[source][out], receives[target][into] = color, color
        for place, route in _circuit(source, target, AHEAD[axis]):
            routes[place][color] = route
    return Wiring(
        lanes=CIRCUIT_LANES[lanes - 1],
        colors=tuple(_uses(found) for found in routes),
        receives=tuple(map(tuple, receives)),
        sends=tuple(map(tuple, sends)),
        circuits=lane_of,
    )


def _by_place(ranks: int, pairs: Iterator[tuple[int, int]]) -> list[list[int]]:
    others: list[list[int]] = [[] for _ in range(ranks)]
    for place, other in pairs:
        others[place].append(other)
    return others


def _circuit(source: int, target: int, forward: Direction) -> Iterator[tuple[int, Route]]:
    """The routes from `source` to `target`."""
    onward = forward if target > source else forward.opposite
    step = 1 if target > source else -1
    yield source, Route(Direction.RAMP, (onward,))
    for place in range(source + step, target, step):
        yield place, Route(onward.opposite, (onward,))
    yield target, Route(onward.opposite, (Direction.RAMP,))


def _uses(routes: dict[str, Route]) -> tuple[ColorUse, ...]:
    return tuple(ColorUse(color, (routes[color],)) for color in sorted(routes))


def relays(
    traffic: Traffic,
    ranks: int,
    axis: str,
    name: str,
    own: Mapping[Pair, str] = MappingProxyType({}),
) -> Wiring:
    """Lanes between neighbours, as far as something passes there. Hops may have their `own` colors,
    by the places that they connect."""
    ways = [sign for sign in (1, -1) if ((traffic.target - traffic.source) * sign > 0).any()]
    lanes = tuple(RELAY_LANES[0 if sign > 0 else 1] for sign in ways)
    routes: list[dict[str, Route]] = [{} for _ in range(ranks)]
    receives: list[list[str | None]] = [[None] * len(ways) for _ in range(ranks)]
    sends: list[list[str | None]] = [[None] * len(ways) for _ in range(ranks)]
    for lane, sign in enumerate(ways):
        for place in hops_of(traffic, ranks, sign):
            by_parity = f"{name}_{lanes[lane]}_{'odd' if place % 2 else 'even'}"
            color = own.get((place, place + sign), by_parity)
            sends[place][lane] = receives[place + sign][lane] = color
            for at, route in _circuit(place, place + sign, AHEAD[axis]):
                routes[at][color] = route
    return Wiring(
        lanes=lanes,
        colors=tuple(_uses(found) for found in routes),
        receives=tuple(map(tuple, receives)),
        sends=tuple(map(tuple, sends)),
        circuits={},
    )


def hops_of(traffic: Traffic, ranks: int, sign: int) -> list[int]:
    """The places from which something goes to the next place that way."""
    chosen = (traffic.target - traffic.source) * sign > 0
    change: Ints = np.zeros(ranks + 1, dtype=np.int64)
    if sign > 0:
        np.add.at(change, traffic.source[chosen], 1)
        np.add.at(change, traffic.target[chosen], -1)
    else:
        np.add.at(change, traffic.target[chosen] + 1, 1)
        np.add.at(change, traffic.source[chosen] + 1, -1)
    found: list[int] = np.flatnonzero(np.cumsum(change)[:ranks] > 0).tolist()
    return found
