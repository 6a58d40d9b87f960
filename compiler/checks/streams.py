"""Streams come to their end, leave what the schedule says, and leave routers as they found them.

Each color of a line is run by itself (`collc.checks.stream_run`): operations of a PE run beside
each other and wait for nothing but their color. What a PE sends is what it had at first, provided
that nothing else is received over it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from collc.base.diagnostics import Diagnostic
from collc.base.memoize import remembered
from collc.checks.step_table_entries import shape_problem
from collc.checks.step_table_run import beginning, due
from collc.checks.stream_run import Color, Place, run
from collc.plan import Advance, Direction, Lane, Phase, Plan, Role, SliceRange
from collc.plan.unrolled import roles_of_places
from collc.schedule import Schedule
from collc.spec.exchange import StepsPhase
from collc.spec.simd import PAIR

Roles = tuple[Role | None, ...]
REPORT = "the stream does not follow the schedule; please report this"


def streams(schedule: Schedule, plan: Plan) -> Iterator[Diagnostic]:
    """C319: a lane that no text runs. C321: words that wait for ever, or that a PE gets without
    receiving them. C322: other slices than the schedule says. C323: slices that are received over
    what is sent. C339: a filter that the machine does not have."""
    for phase, pattern in zip(plan.phases, schedule.phases, strict=True):
        if not isinstance(pattern, StepsPhase) or phase.exchange is None:
            continue
        if not phase.streams or shape_problem(plan, phase, pattern):
            continue
        for code, problem in _problems(phase, pattern):
            yield Diagnostic(code, f"in `{phase.name}` {problem}", pattern.span, help=REPORT)
        if _filters(phase) and not plan.target.counter_filters:
            what = f"`{phase.name}` filters by counters, which nobody attests for"
            message = f"{what} {plan.target.name}"
            yield Diagnostic("C339", message, pattern.span, help="compile for the other machine")


def _filters(phase: Phase) -> bool:
    return any(use.filter for role in phase.roles for use in role.colors)


@remembered
def _problems(phase: Phase, pattern: StepsPhase) -> tuple[tuple[str, str], ...]:
    """Codes and what is wrong."""
    roles = roles_of_places(phase, pattern)
    wrong = next(_shapes(roles, pattern), "")
    if wrong:
        return (("C319", wrong),)
    assert phase.exchange is not None, "a stream is an exchange"
    held = beginning(pattern.ranks, pattern.slicing.count)
    after = held.copy()
    for index in range(len(phase.exchange.lanes)):
        color = _color(phase, pattern, roles, index)
        wrong = run(color)
        if wrong:
            return (("C321", f"{wrong} on lane `{phase.exchange.lanes[index]}`"),)
        for place, one in enumerate(color.places):
            for into, source, slice_ in one.taken:
                if color.sizes[into] != color.sizes[slice_]:
                    return (("C322", f"place {place} receives slices of other lengths"),)
                after[place, into] = held[source, slice_]
    return tuple(_differing(pattern, roles, held, after))


def _differing(
    pattern: StepsPhase, roles: Roles, held: np.ndarray, after: np.ndarray
) -> Iterator[tuple[str, str]]:
    """C322 and C323, each for the first place and slice."""
    there = np.diff(pattern.slicing.bounds) > 0
    known = _due(pattern, held)
    wrong = np.argwhere((after != known) & there)
    if len(wrong):
        place, slice_ = wrong[0].tolist()
        yield "C322", f"place {place} ends with another slice {slice_} than the schedule says"
    for place, role in enumerate(roles):
        for lane in role.lanes if role else ():
            sends = lane.stream.sends if lane.stream else None
            for slice_ in _of(sends, place) if sends else ():
                if there[slice_] and after[place, slice_] != held[place, slice_]:
                    yield "C323", f"place {place} receives over slice {slice_}, which it sends"
                    return


def _due(pattern: StepsPhase, held: np.ndarray) -> np.ndarray:
    """What places hold in the end by the schedule; of slices without elements anything."""
    there = np.diff(pattern.slicing.bounds) > 0
    found = held.copy()
    numbers = beginning(pattern.ranks, int(there.sum()))
    ids = dict(zip(numbers.ravel().tolist(), held[:, there].ravel().tolist(), strict=True))
    due_there = [ids.get(number, 0) for number in due(pattern).ravel().tolist()]
    found[:, there] = np.array(due_there, dtype=held.dtype).reshape(numbers.shape)
    return found


def _color(phase: Phase, pattern: StepsPhase, roles: Roles, index: int) -> Color:
    """A color of the line, by what is planned for it."""
    sizes = np.diff(pattern.slicing.bounds)
    sizes = sizes // (PAIR if phase.paired else 1)
    assert phase.exchange is not None, "a stream is an exchange"
    name = f"{phase.name}_{phase.exchange.lanes[index]}"
    places = []
    for place, role in enumerate(roles):
        use = next((u for u in role.colors if u.color == name), None) if role else None
        stream = role.lanes[index].stream if role else None
        behind = stream.advance if stream else Advance.NOTHING
        order = -1 if stream and stream.backward else 1
        sends, receives = (
            [s for s in list(_of(part, place))[::order] if sizes[s]] if part else []
            for part in ((stream.sends, stream.receives) if stream else (None, None))
        )
        places.append(Place(use, sends, receives, behind))
    ahead = Direction.EAST if pattern.axis == "x" else Direction.SOUTH
    return Color(places, sizes.tolist(), ahead)


def _of(slices: SliceRange, place: int) -> range:
    return range(slices.first.at(place), slices.end.at(place))


def _shapes(roles: Roles, pattern: StepsPhase) -> Iterator[str]:
    """Lanes that the text cannot run."""
    ways: dict[str, bool] = {}
    for place, role in enumerate(roles):
        if role is None:
            continue
        ends = sum(lane.stream.ends for lane in role.lanes if lane.stream)
        if ends > MOST_ENDS:
            yield f"place {place} waits for {ends} operations, the text for {MOST_ENDS}"
        resets = [
            lane for lane in role.lanes if lane.stream and lane.stream.advance is Advance.RESET
        ]
        if len(resets) > 1:
            yield f"place {place} sends control wavelets on two lanes, the text on one"
        for lane in role.lanes:
            stream = lane.stream
            if stream and ways.setdefault(lane.name, stream.backward) is not stream.backward:
                yield f"lane `{lane.name}` goes the other way at place {place}"
            problem = _lane_problem(lane, role, place, pattern.slicing.count)
            if problem:
                yield f"lane `{lane.name}` of place {place} {problem}"


MOST_ENDS = 2  # one activates the task, the other unblocks it


def _lane_problem(lane: Lane, role: Role, place: int, slices: int) -> str:
    stream = lane.stream
    if lane.loops or lane.tears_down:
        return "has rows, or a teardown, of a step table"
    if stream is None:
        return "has a color and no stream" if lane.sends_on or lane.receives_on else ""
    ends = ((stream.sends, lane.sends_on), (stream.receives, lane.receives_on))
    rules = (
        (
            all((part is None) is (color is None) for part, color in ends),
            "sends or receives without a color",
        ),
        (
            all(_are_there(part, place, slices) for part, _ in ends if part),
            "has slices that are not there",
        ),
        (
            {color for _, color in ends if color} <= {use.color for use in role.colors},
            "uses a color that its router does not have",
        ),
        (
            not stream.returns or _comes_back(lane, role),
            "takes its own words for returned, which its router does not hand back",
        ),
        (
            stream.advance is Advance.NOTHING or stream.sends is not None,
            "moves switches without sending",
        ),
    )
    return next((problem for holds, problem in rules if not holds), "")


def _are_there(part: SliceRange, place: int, slices: int) -> bool:
    return 0 <= part.first.at(place) < part.end.at(place) <= slices


def _comes_back(lane: Lane, role: Role) -> bool:
    """Whether the own words come down the ramp again, and are among those received."""
    uses = [use for use in role.colors if use.color == lane.sends_on]
    first = uses[0].positions[0] if uses else None
    return (
        first is not None
        and uses[0].filter is None
        and lane.receives_on == lane.sends_on
        and Direction.RAMP in first.send
    )
