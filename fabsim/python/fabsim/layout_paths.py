"""Ways through the fabric for the connections of a layout.

A way is found by A*: short, straight, around code regions rather than through them, and leaving and
entering at the edges that the ports name. It never touches a PE that the same color already uses.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import count

from fabsim.layout_values import IntVector, Route

_SIDES = (Route.EAST, Route.WEST, Route.NORTH, Route.SOUTH)

# Every side with its number and the step to it: numbers are quick to look up.
_STEPS = tuple((side, side.value, *side.step) for side in _SIDES)

#: A place, and the number of the side that the step to it left by; that of the ramp at the start.
_State = tuple[IntVector, int]
_NOWHERE = Route.RAMP.value

# A step through a code region costs as much as a way of so many steps around it.
_STEP, _THROUGH_A_REGION, _TURN, _WRONG_EDGE = 10, 40, 1, 5


@dataclass(frozen=True)
class End:
    """A PE where a way begins or ends: the sides it must not use, and the one it had better use."""

    place: IntVector
    forbidden: frozenset[Route]
    preferred: Route | None


@dataclass(frozen=True)
class Field:
    """The PEs of a layout: those in code regions, and those that a way must not touch."""

    width: int
    height: int
    regions: Collection[IntVector]
    closed: Collection[IntVector]

    def has(self, x: int, y: int) -> bool:
        """Whether there is such a PE."""
        return 0 <= x < self.width and 0 <= y < self.height


def between(field: Field, start: End, goal: End) -> list[IntVector] | None:
    """The places of a way from one end to the other, both included, if there is a way."""

    def estimate(place: IntVector) -> int:
        dx, dy = abs(place.x - goal.place.x), abs(place.y - goal.place.y)
        return _STEP * (dx + dy) + (_TURN if dx and dy else 0)

    def last_step(place: IntVector, side: Route) -> int | None:
        if place != goal.place:
            return None
        arrival = side.facing
        if arrival in goal.forbidden:
            return -1
        return 0 if goal.preferred in (None, arrival) else _WRONG_EDGE

    return _search(field, start, estimate, last_step)


def to_the_rim(field: Field, start: End, taken: Collection[IntVector]) -> list[IntVector] | None:
    """The places of a way to a PE of the first or last column that is not taken."""
    columns = (0, field.width - 1)

    def free(place: IntVector) -> bool:
        return place.x in columns and place not in taken

    if free(start.place):
        return [start.place]

    def estimate(place: IntVector) -> int:
        return _STEP * min(place.x, field.width - 1 - place.x)

    def last_step(place: IntVector, side: Route) -> int | None:
        del side
        return 0 if free(place) else None

    return _search(field, start, estimate, last_step)


def _search(
    field: Field,
    start: End,
    estimate: Callable[[IntVector], int],
    last_step: Callable[[IntVector, Route], int | None],
) -> list[IntVector] | None:
    """A*. `estimate` is at most what is left to pay, `last_step` what it costs to end with a step.

    There, None is no end and -1 a forbidden one.
    """
    number = count()
    first: _State = (start.place, _NOWHERE)
    before: dict[_State, _State] = {}
    best: dict[_State, int] = {first: 0}
    done: set[_State] = set()
    # Of two that promise the same, the one that has less to go.
    waiting = [(0, 0, next(number), first, False)]
    while waiting:
        *_, state, ends = heapq.heappop(waiting)
        if ends:
            return _back(before, state)
        if state in done:
            continue
        done.add(state)
        place, came = state
        for side, code, dx, dy in _STEPS:
            x, y = place.x + dx, place.y + dy
            if not field.has(x, y) or (came == _NOWHERE and side in start.forbidden):
                continue
            following = IntVector(x, y)
            end = last_step(following, side)
            if end == -1 or (end is None and following in field.closed):
                continue
            cost = best[state] + _cost(field, start, came, (following, side)) + (end or 0)
            reached = (following, code)
            known = best.get(reached)
            if known is None or cost < known:
                best[reached], before[reached] = cost, state
                rest = estimate(following)
                entry = (cost + rest, rest, next(number), reached, end is not None)
                heapq.heappush(waiting, entry)
    return None


def _cost(field: Field, start: End, came: int, following: tuple[IntVector, Route]) -> int:
    place, side = following
    cost = _STEP
    if place in field.regions:
        cost += _THROUGH_A_REGION
    if came == _NOWHERE:
        return cost + (_WRONG_EDGE if start.preferred not in (None, side) else 0)
    return cost + (_TURN if came != side.value else 0)


def _back(before: dict[_State, _State], state: _State) -> list[IntVector]:
    places = [state[0]]
    while state in before:
        state = before[state]
        places.append(state[0])
    return places[::-1]


def side_towards(here: IntVector, there: IntVector) -> Route:
    """The side of a PE on which its neighbour lies."""
    step = (there.x - here.x, there.y - here.y)
    return next(side for side in _SIDES if side.step == step)
