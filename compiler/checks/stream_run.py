"""The words of a stream on one line, run without any buffer.

A slice moves only when every router on its way lets it in and every PE that it comes to takes it,
through the PEs that combine it on the way, which is less than any fabric does: whatever comes to
its end here does so with buffers, too. Every router lets a color in from one side at a time and
every PE has one order, so the end does not depend on who goes first. Followed are slices that have
elements; filters count wavelets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from itertools import accumulate

from collc.base.values import dataclass
from collc.plan import Advance, ColorUse, Direction, Filter, Route, Slices, Stream


@dataclass
class Router:
    """A router on a color; `passed` counts what its filter has seen. `route` is what is in force:
    nothing beyond the last position."""

    use: ColorUse
    filter: Filter | None = None
    position: int = 0
    passed: int = 0
    was_reset: bool = False
    route: Route | None = field(init=False)

    def __post_init__(self) -> None:
        self.take(self.position)

    def take(self, position: int) -> None:
        """Take a position."""
        positions = self.use.positions
        self.position = position % len(positions) if self.use.ring and positions else position
        self.route = positions[self.position] if self.position < len(positions) else None

    def advance(self) -> None:
        """Take the next position."""
        self.take(self.position + 1)


@dataclass
class Work:
    """What a PE does on a lane, and what is left of that: slices still to send, those that go
    through it, and those that it receives."""

    lane: str
    does: Stream
    sends: deque[int]
    through: deque[int]
    receives: deque[int]

    @property
    def passes_on(self) -> bool:
        """Whether the next slice that arrives goes through."""
        return bool(self.through) and not (self.does.kept_first and self.receives)

    def follows(self, other: Work) -> bool:
        """Whether it receives nothing before the other has received all."""
        return self.does.kept_first and self.does.after == other.lane


@dataclass
class Place:
    """The routers of a place by color, its PE's lanes, and what its slices hold, as numbers; what
    is `staged` for them, and whether to combine it; those that were `written` while others may have
    been sent, and the colors on which own words have `returned`."""

    routers: dict[str, Router]
    lanes: list[Work]
    held: list[int]
    staged: dict[int, tuple[int, bool]] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    combining: dict[int, Work] = field(default_factory=dict)  # by slice, which lane does so
    returned: set[str] = field(default_factory=set)

    @cached_property
    def receiving(self) -> dict[str, list[Work]]:
        """The lanes that receive, by color."""
        found: dict[str, list[Work]] = {}
        for work in self.lanes:
            found.setdefault(work.does.receives_on or "", []).append(work)
        return found

    def may_begin(self, work: Work, *, receives: bool) -> bool:
        """Whether what a lane begins after has ended: receiving on another one, or sending."""
        others = [other for other in self.lanes if other.lane == work.does.after]
        if not work.does.after or work.does.kept_first is not receives:
            return True
        if receives:
            return not any(other.through or other.receives for other in others)
        return not any(other.sends or other.through for other in others)


@dataclass(frozen=True)
class Line:
    """`sizes` are wavelets of the slices, `ahead` the direction of higher places."""

    places: Sequence[Place]
    sizes: Sequence[int]
    ahead: Direction
    counted: dict[tuple[int, int], tuple[int, int, int]] = field(default_factory=dict, repr=False)

    @cached_property
    def combines_on_the_way(self) -> bool:
        """Whether any PE combines what goes through it; asked before anything has moved."""
        return any(work.through for one in self.places for work in one.lanes)

    @cached_property
    def waits(self) -> bool:
        """Whether any PE begins something after something else."""
        return any(work.does.after for one in self.places for work in one.lanes)

    @cached_property
    def bounds(self) -> list[int]:
        """Wavelets before each slice, and of all."""
        return [0, *accumulate(self.sizes)]

    def wavelets(self, slices: Slices, place: int) -> int:
        """Of the slices of a place."""
        found = slices.at(place)
        return self.bounds[found.stop] - self.bounds[found.start]

    def counts(self, counter: Filter, place: int) -> tuple[int, int, int]:
        """Wavelets of a filter's period, before those that pass, and that pass, at its place."""
        key = (id(counter), place)  # the routers of the line hold the filter
        if key not in self.counted:
            parts = (counter.period, counter.before, counter.passes)
            period, before, passes = (self.wavelets(part, place) for part in parts)
            self.counted[key] = period, before, passes
        return self.counted[key]


@dataclass(frozen=True)
class Hop:
    """A slice on its way over some routers of a color to the PEs of some of them."""

    color: str
    way: list[int]
    slice: int
    value: int


class RefusedError(Exception):
    """What no program may do, in words."""


def combined(own: int, arriving: int) -> int:
    """A number that depends on two others and on their order."""
    return hash((own, arriving))


def run(line: Line) -> str:
    """Run all words; what no program may do, in words, else nothing."""
    waiting = [
        (place, work)
        for place, one in enumerate(line.places)
        for work in one.lanes
        if work.sends or work.does.advance is Advance.RESET
    ]
    try:
        while waiting:
            left = [pair for pair in waiting if not _sent(line, *pair)]
            if len(left) == len(waiting):
                return f"place {left[0][0]} waits for ever to send"
            waiting = left[::-1]  # what waits for another one is behind or in front of it
    except RefusedError as refused:
        return str(refused)
    for one in line.places:
        for into, (value, combines) in one.staged.items():
            one.held[into] = combined(one.held[into], value) if combines else value
    return ""


def _sent(line: Line, place: int, work: Work) -> bool:
    """Whether a PE could send all it has on a lane, and what follows."""
    color = work.does.sends_on
    assert color is not None, "it sends"
    way = _way(line, place, color)
    if way is None or not line.places[place].may_begin(work, receives=False):
        return False
    if line.combines_on_the_way and any(_goes_through(line, at, color) for at in way):
        return _sent_through(line, place, work, color)
    if line.waits and not all(_takes(line, at, color) for at in way):
        return False
    block = [(slice_, line.places[place].held[slice_]) for slice_ in work.sends]
    ends = list(accumulate(line.sizes[slice_] for slice_ in work.sends))
    work.sends.clear()
    for at in way:
        if _pass(line, at, color, block, ends) and at == place:
            line.places[at].returned.add(color)
    _advance(line, place, way, work)
    return True


def _advance(line: Line, place: int, way: Sequence[int], work: Work) -> None:
    """What the words of a PE, or the wavelet behind them, do to the routers on their way."""
    color = work.does.sends_on or ""
    if work.does.advance is Advance.RESET:
        for at in way:
            router = line.places[at].routers[color]
            if router.use.ring:
                raise RefusedError(f"the router of place {at} takes off the command for all")
            router.take(0)
            router.was_reset = True
    elif work.does.advance is Advance.OWN_ROUTER:
        router = line.places[place].routers[color]
        router.advance()
        if router.route is None:
            raise RefusedError(f"place {place} advances its switch beyond the last position")
    elif work.does.advance is Advance.HAND_OVER:
        _hand_over(line, way, color, place)


def _hand_over(line: Line, way: Sequence[int], color: str, place: int) -> None:
    """A control wavelet on its way: a command for the own router, if its positions are a ring, and
    one for the next such router. A router takes off the command that moves it."""
    commands = 1 + line.places[place].routers[color].use.ring
    for at in way:
        router = line.places[at].routers[color]
        if commands and router.use.ring:
            router.advance()
            commands -= 1
        elif commands and len(router.use.positions) > 1:
            raise RefusedError(f"the router of place {at} does not take its command off")


def _takes(line: Line, at: int, color: str) -> bool:
    """Whether a PE has begun to receive what comes to it on a color."""
    one = line.places[at]
    lanes = one.receiving.get(color, ())
    return all(one.may_begin(work, receives=True) for work in lanes if work.receives)


def _goes_through(line: Line, at: int, color: str) -> bool:
    """Whether a PE combines what comes on a color on its way."""
    return any(work.through for work in line.places[at].receiving.get(color, ()))


def _sent_through(line: Line, place: int, work: Work, color: str) -> bool:
    """The same where PEs combine what is sent, slice by slice; no switch moves there."""
    while work.sends:
        slice_ = work.sends[0]
        hops = _hops(line, place, color, slice_)
        if hops is None:
            return False
        for hop in hops:
            for at in hop.way:
                _pass(line, at, hop.color, [(hop.slice, hop.value)], [line.sizes[hop.slice]])
        work.sends.popleft()
    if work.does.advance is not Advance.NOTHING:
        raise RefusedError(f"place {place} moves switches of a chain, which has none")
    return True


def _hops(line: Line, place: int, color: str, slice_: int) -> list[Hop] | None:
    """Where a slice goes that a PE sends, through PEs that combine it; None if it has to wait."""
    hops: list[Hop] = []
    ahead = [(place, color, slice_, line.places[place].held[slice_])]
    for at, on, number, carried in ahead:
        way = _way(line, at, on)
        if way is None or len(hops) > len(line.places):
            return None
        if not all(_takes(line, there, on) for there in way):
            return None
        hops.append(Hop(on, way, number, carried))
        for there in way:
            work = next(iter(line.places[there].receiving.get(on, ())), None)
            if work is None or not work.passes_on:
                continue
            own = work.through[0]
            if line.sizes[own] != line.sizes[number] or work.does.sends_on is None:
                raise RefusedError(f"place {there} combines slices of other lengths")
            ahead.append(
                (there, work.does.sends_on, own, combined(line.places[there].held[own], carried))
            )
    return hops


def _way(line: Line, place: int, color: str) -> list[int] | None:
    """The routers that words of a place come to; None if one does not let them in."""
    way: dict[int, None] = {}
    arrivals = [(place, Direction.RAMP)]
    for at, source in arrivals:
        there = line.places[at].routers.get(color) if 0 <= at < len(line.places) else None
        route = there.route if there is not None else None
        if there is None or route is None or at in way:
            return None
        if route.receive is not source or there.was_reset:
            return None  # words behind a reset are those of the next call
        way[at] = None
        for side in route.send:
            if side is not Direction.RAMP:
                step = 1 if side is line.ahead else -1
                arrivals.append((at + step, side.opposite))
    return list(way)


def _pass(
    line: Line, at: int, color: str, block: Sequence[tuple[int, int]], ends: Sequence[int]
) -> bool:
    """Slices, each with its value, and with the wavelets up to its end, pass a router; its PE takes
    what it is let have, if anything."""
    one = line.places[at]
    router = one.routers[color]
    assert router.route is not None, "a way leads over routers that are set"
    seen = router.passed
    router.passed += ends[-1] if ends else 0
    if Direction.RAMP not in router.route.send:
        return False
    got = block if router.filter is None else _filtered(line, at, router.filter, block, ends, seen)
    lanes = one.receiving.get(color, [])
    if got and len(lanes) != 1:
        raise RefusedError(f"place {at} gets words that it does not receive")
    for slice_, value in got:
        _take(line, at, lanes[0], slice_, value)
    return bool(got)


def _filtered(  # noqa: PLR0913, PLR0917 - a filter, what comes to it, what it has seen
    line: Line,
    at: int,
    counter: Filter,
    block: Sequence[tuple[int, int]],
    ends: Sequence[int],
    seen: int,
) -> list[tuple[int, int]]:
    """What a filter lets a PE have of slices; it has `seen` so many wavelets."""
    period, before, passes = line.counts(counter, at)
    if period < 1 or not ends:
        return []
    found: list[tuple[int, int]] = []
    first = (before - seen) % period - period  # where a window begins
    for window in range(first, ends[-1], period):
        low, high = max(window, 0), min(window + passes, ends[-1])
        if low >= high:
            continue
        begin, end = bisect_right(ends, low), bisect_left(ends, high) + 1
        whole = ends[end - 1] == high and (ends[begin - 1] if begin else 0) == low
        if not whole:
            raise RefusedError(f"the filter of place {at} cuts a slice")
        found += block[begin:end]
    return found


def _take(line: Line, at: int, work: Work, slice_: int, value: int) -> None:
    """A PE takes a slice, or lets it through."""
    one = line.places[at]
    if work.passes_on:
        work.through.popleft()
        return
    if not work.receives:
        raise RefusedError(f"place {at} gets words that it does not receive")
    into = work.receives.popleft()
    if line.sizes[into] != line.sizes[slice_]:
        raise RefusedError(f"place {at} receives slices of other lengths")
    if work.does.staged:
        if one.staged.setdefault(into, (value, work.does.combines)) != (value, work.does.combines):
            raise RefusedError(f"place {at} stages two slices where there is room for one")
    else:
        changed = combined(one.held[into], value) if work.does.combines else value
        other = one.combining.setdefault(into, work) if work.does.combines else work
        if other is not work and not (work.follows(other) or other.follows(work)):
            raise RefusedError(
                f"place {at} combines from two sides as words come, in no fixed order"
            )
        one.written |= {into} if changed != one.held[into] else set()
        one.held[into] = changed
