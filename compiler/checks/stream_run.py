"""The words of one color of a stream on one line, run without any buffer.

What a PE sends goes as a whole once every router on its way lets it in, which is less than any
fabric does: whatever comes to its end here does so with buffers, too. Every router lets a color in
from one side at a time and every PE sends in its own order, so the end does not depend on who goes
first. Followed are slices that have elements; filters count wavelets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collc.plan import Advance, ColorUse, Direction, Route, SliceRange

Taken = tuple[int, int, int]  # the slice it goes to, the place it is from, the slice there


@dataclass
class Place:
    """A router and what its PE does: slices still to send, what follows them, and slices still to
    receive; `passed` counts what its filter has seen."""

    use: ColorUse | None
    sends: list[int]
    receives: list[int]
    advance: Advance
    position: int = 0
    passed: int = 0
    was_reset: bool = False
    taken: list[Taken] = field(default_factory=list)

    @property
    def route(self) -> Route | None:
        """What is in force."""
        return self.use.positions[self.position] if self.use else None


@dataclass(frozen=True)
class Color:
    """A line of places; `sizes` are wavelets of the slices, `ahead` the direction of higher
    places."""

    places: Sequence[Place]
    sizes: Sequence[int]
    ahead: Direction


def run(color: Color) -> str:
    """Run all words; what no program may do, in words, else nothing."""
    waiting = [i for i, one in enumerate(color.places) if one.sends or one.advance is Advance.RESET]
    while waiting:
        left = [place for place in waiting if not _sent(color, place)]
        problem = next((p for p in map(_problem_of, color.places) if p), "")
        if problem:
            return problem
        if left and len(left) == len(waiting):
            return f"place {left[0]} waits for ever to send"
        waiting = left[::-1]  # what waits for another one is behind or in front of it
    return next(_left_over(color), "")


def _sent(color: Color, place: int) -> bool:
    """Whether a place could send all it has."""
    way = _way(color, place)
    if way is None:
        return False
    one = color.places[place]
    for slice_ in one.sends:
        for at in way:
            _pass(color, at, place, slice_)
    one.sends = []
    if one.advance is Advance.RESET:
        for at in way:
            color.places[at].position, color.places[at].was_reset = 0, True
    elif one.advance is Advance.OWN_ROUTER:
        one.position += 1
    return True


def _way(color: Color, place: int) -> list[int] | None:
    """The routers that words of a place come to; None if one does not let them in."""
    way, arrivals = [], [(place, Direction.RAMP)]
    for at, source in arrivals:
        if not 0 <= at < len(color.places) or at in way:
            return None
        one = color.places[at]
        late = one.was_reset  # words behind a reset are those of the next call
        if one.route is None or one.route.receive is not source or late:
            return None
        way.append(at)
        for side in one.route.send:
            if side is not Direction.RAMP:
                step = 1 if side is color.ahead else -1
                arrivals.append((at + step, side.opposite))
    return way


def _pass(color: Color, at: int, source: int, slice_: int) -> None:
    """A slice passes a router, which lets its PE have it or not."""
    one, size = color.places[at], color.sizes[slice_]
    use, route = one.use, one.route
    assert use is not None and route is not None, "a way leads over routers that are set"
    wanted = Direction.RAMP in route.send
    if use.filter is not None:
        period, before, passes = (
            _wavelets(color, part, at)
            for part in (use.filter.period, use.filter.before, use.filter.passes)
        )
        seen = (one.passed - before) % max(period, 1)
        wanted = wanted and seen < passes
        if wanted and seen + size > passes:
            one.taken.append((-1, source, slice_))  # a part of a slice
    one.passed += size
    if wanted:
        into = one.receives.pop(0) if one.receives else -1
        one.taken.append((into, source, slice_))


def _wavelets(color: Color, slices: SliceRange, place: int) -> int:
    return sum(color.sizes[slices.first.at(place) : slices.end.at(place)])


def _problem_of(one: Place) -> str:
    """What a place has come to that it must not."""
    if any(into < 0 for into, _, _ in one.taken):
        return "a PE gets words that it does not receive"
    if one.use and not one.position < len(one.use.positions):
        return "a PE advances its switch beyond the last position"
    return ""


def _left_over(color: Color) -> Iterator[str]:
    """What has not come to its end, or does not begin the next call as this one."""
    senders = [place for place, one in enumerate(color.places) if _sends_on(one)]
    for place, one in enumerate(color.places):
        if one.receives:
            yield f"place {place} waits for ever to receive"
        if one.position:
            yield f"nothing sets the router of place {place} back"
        if one.use and one.use.filter is not None:
            period = _wavelets(color, one.use.filter.period, place)
            if period < 1 or one.passed % period:
                yield f"the filter of place {place} begins the next call in another state"
    for place in senders:
        one = color.places[place]
        assert one.use is not None, "it sends"
        open_ = one.use.positions[-1].receive is Direction.RAMP
        if open_ and one.advance is not Advance.RESET and len(senders) > 1:
            yield f"words of the next call of place {place} may overtake those of others"


def _sends_on(one: Place) -> bool:
    uses = one.use.positions if one.use else ()
    return any(route.receive is Direction.RAMP for route in uses)
