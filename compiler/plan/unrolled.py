"""The rows of a phase made of steps, loops unrolled, for all places of a line at once.

Checks and prediction run them; only what moves at least one element is left in. In reading order:
the types, `unrolled`, `connections` (which lane's output leads to which lane's input).
"""

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.plan import AREA_BITS, Direction, Lane, Phase, Role, Route, RowKind
from collc.plan.entries import FIELDS, values_of
from collc.plan.geometry import line_of
from collc.plan.placement import roles_of_places
from collc.plan.plan import AHEAD
from collc.plan.step_tables import tables_by_role
from collc.spec.exchange import Slicing

SENDING = int(RowKind.SENDS)
RELAYING = int(RowKind.RELAYS)
TAKING = int(RowKind.RECEIVES | RowKind.APPLIES)

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Unrolled:
    """Rows of all lanes of all places, one after the other: lane l of place p has rows
    start[p * lanes + l] to start[p * lanes + l + 1] - 1.

    Elements `out_from` to `out_to` are sent, `into_from` to `into_to` received (or applied);
    `passed` elements are relayed. `kind` lacks the bits of what would move nothing, `written` is
    the kind as the plan has it.
    """

    lanes: int
    start: Ints
    kind: Ints
    written: Ints
    area: Ints
    out_from: Ints
    out_to: Ints
    into_from: Ints
    into_to: Ints
    passed: Ints

    @property
    def places(self) -> int:
        """How many places the line has."""
        return (len(self.start) - 1) // self.lanes


@memoized
def unrolled(phase: Phase) -> Unrolled:
    """The rows of the first line of a phase."""
    slicing, lanes = phase.slicing, len(phase.lanes)
    rows = [np.zeros((0, FIELDS), dtype=np.int64)] * (line_of(phase).ranks * lanes)
    roles = roles_of_places(phase)
    for role, found in zip(phase.roles, tables_by_role(phase), strict=True):
        here = np.array([roles[place] is role for place in found.places.tolist()], dtype=np.bool_)
        places = found.places[here]
        for index, (lane, table) in enumerate(zip(role.lanes, found.tables, strict=True)):
            if not lane.table or not len(places):
                continue
            rows_here = _rows_of(lane, places, table[:, :, here], slicing.count)
            for place, own in zip(places.tolist(), rows_here, strict=True):
                rows[place * lanes + index] = own
    start = np.concatenate(([0], np.cumsum([len(own) for own in rows]))).astype(np.int64)
    return _in_elements(np.concatenate(rows), start, lanes, slicing)


def _rows_of(lane: Lane, at: Ints, table: Ints, slices: int) -> list[Ints]:
    """The rows of a lane that has some, at each of several places."""
    loops = lane.table
    turns, shifts = (
        values_of(numbers, at).T.reshape(-1)
        for numbers in ([loop.turns for loop in loops], [loop.shift for loop in loops])
    )
    sizes = np.array([len(loop.entries) for loop in loops], dtype=np.int64)
    # all loops of the first place, then all of the second: where the rows of each begin, how many
    begin = (np.arange(len(at))[:, None] * len(table) + np.cumsum(sizes) - sizes).reshape(-1)
    size = np.tile(sizes, len(at))
    of = np.repeat(np.arange(len(turns)), turns * size)
    ends: Ints = np.cumsum(turns * size)
    number = np.arange(len(of)) - (ends - turns * size)[of]
    many = table.transpose(2, 0, 1).reshape(-1, FIELDS)[begin[of] + number % size[of]]
    gone = number // size[of] * shifts[of]
    many[:, 1] = (many[:, 1] + gone) % slices
    many[:, 3] = (many[:, 3] + gone) % slices
    return np.split(many, ends.reshape(len(at), -1)[:-1, -1])


def _in_elements(rows: Ints, start: Ints, lanes: int, slicing: Slicing) -> Unrolled:
    """Slices as elements; what moves none is dropped."""
    written, area = rows[:, 0] & ((1 << AREA_BITS) - 1), rows[:, 0] >> AREA_BITS
    kind = written
    bounds = slicing.bounds

    def bound(slices: Ints) -> Ints:
        return bounds[np.minimum(slices, slicing.count)]

    out = (kind & SENDING) > 0
    passed = rows[:, 2]
    if slicing.dynamic:
        passed = bound(rows[:, 1] + rows[:, 2]) - bound(rows[:, 1])
    passed = np.where((kind & RELAYING) > 0, passed, 0)
    into = (kind & TAKING) > 0
    out_from, out_to = bound(rows[:, 1] * out), bound((rows[:, 1] + rows[:, 2]) * out)
    into_from, into_to = bound(rows[:, 3] * into), bound((rows[:, 3] + rows[:, 4]) * into)
    kind = np.where(out_to > out_from, kind, kind & ~SENDING)
    kind = np.where(passed > 0, kind, kind & ~RELAYING)
    kind = np.where(into_to > into_from, kind, kind & ~TAKING)
    return Unrolled(
        lanes, start, kind, written, area,
        out_from, out_to, into_from, into_to, passed,
    )  # fmt: skip


@memoized
def connections(phase: Phase) -> tuple[Ints, str]:
    """For each lane (place * lanes + lane), the lane that gets what it sends, NOWHERE if it sends
    nothing; and what is wrong with the routes, in words.

    Every color of a router is followed from a sender: it has to lead on, router by router, to one
    receiver, and no route may be left over.
    """
    roles = roles_of_places(phase)
    lanes = len(phase.lanes)
    settings = [
        {use.color: use.positions[0] for use in role.colors if len(use.positions) == 1}
        if role
        else {}
        for role in roles
    ]
    target = np.full(len(roles) * lanes, NOWHERE, dtype=np.int64)
    followed: set[tuple[int, str]] = set()
    for place, role in enumerate(roles):
        for index, lane in enumerate(role.lanes if role else ()):
            if lane.sends_on is None:
                continue
            end, problem = _follow(settings, place, lane.sends_on, phase.axis, followed)
            if problem:
                return target, problem
            there = roles[end]
            takers = [
                n
                for n, o in enumerate(there.lanes if there else ())
                if o.receives_on == lane.sends_on
            ]
            if len(takers) != 1:
                return target, f"{len(takers)} lanes of place {end} receive `{lane.sends_on}`"
            target[place * lanes + index] = end * lanes + takers[0]
    for place, colors in enumerate(settings):
        for color in colors:
            if (place, color) not in followed:
                return target, f"nothing uses `{color}` at the router of place {place}"
    return target, _deaf(roles, target, lanes)


def _follow(
    settings: list[dict[str, Route]],
    place: int,
    color: str,
    axis: str,
    followed: set[tuple[int, str]],
) -> tuple[int, str]:
    """Where the color leads from a sender; what is wrong on the way."""
    ahead = AHEAD[axis]
    source = Direction.RAMP
    at = place
    while True:
        if not 0 <= at < len(settings):
            return place, f"`{color}` of place {place} leaves the line"
        route = settings[at].get(color)
        if route is None or route.receive is not source or len(route.send) != 1:
            return place, f"the router of place {at} does not take `{color}` of place {place} on"
        if (at, color) in followed:
            return place, f"two ways of `{color}` meet at the router of place {at}"
        followed.add((at, color))
        onward = route.send[0]
        if onward is Direction.RAMP:
            return at, "" if at != place else f"`{color}` of place {place} comes back to it"
        if onward not in (ahead, ahead.opposite):
            return place, f"`{color}` of place {place} leaves the line"
        at += 1 if onward is ahead else -1
        source = onward.opposite


def _deaf(roles: tuple[Role | None, ...], target: Ints, lanes: int) -> str:
    """A lane that receives on a color that nobody sends to it."""
    reached = set(target.tolist())
    for place, role in enumerate(roles):
        for index, lane in enumerate(role.lanes if role else ()):
            if lane.receives_on is not None and place * lanes + index not in reached:
                return f"nobody sends to lane `{lane.name}` of place {place}"
    return ""
