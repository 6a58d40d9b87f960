"""A multicast of a program by itself: from when each PE begins it to when each PE's part is over,
and when its routers are torn down behind it."""

import numpy as np

from collc.cost.ends import Ends, Part, control_leaves, ended_by_control, idle
from collc.cost.operations import Costs, Place
from collc.cost.predict import Times
from collc.cost.processor import Stall
from collc.cost.stretches import Stretches, coming
from collc.plan import BY_WAVELET
from collc.plan.geometry import Multicast


def multicast(part: Part, source: Multicast) -> Ends:
    """The vector goes along the root's row and then the columns, through routers that are open."""
    costs, begun = part.costs, part.begun
    x, y = np.indices(begun.shape)
    distances = np.abs(x - source.x) + np.abs(y - source.y)
    at = (source.x, source.y)
    root = Place(int(begun[at]), int(part.depth[at]))
    first = costs.returned(root, costs.issued(root, "send"))
    # what a router hands on goes to all sides at once, when all of them take it
    way = np.maximum(begun, _beyond(begun, at, 0) - 1) if part.torn_down else np.zeros_like(begun)
    way[at] = max(first + costs.send_start + costs.ramp_up, int(way[at]))
    row = way[:, source.y : source.y + 1]
    row[:] = _onward(row, source.x, costs.hop)
    way = _onward(way.T, source.y, costs.hop).T
    issued = begun + costs.issued(Place(0, 0), "copy")
    copies = issued + costs.receives
    start = np.maximum(way + costs.ramp_down, copies)
    start[at] = first
    sides = np.sign(x - source.x) + 3 * np.sign(y - source.y)
    end = np.maximum(start, _held_up(costs, copies, distances, sides)) + costs.length - 1
    ends = idle(part)
    free = issued + part.depth
    at_once = np.where(
        start == copies, end + part.depth, np.maximum(free, end + 1 + costs.code.frame)
    )
    free = np.where(start < free, at_once, free)  # as `Costs.held`
    free[at] = first
    ends.over = np.maximum(end + 1 + costs.task - costs.dispatch, free + costs.between)
    control = costs.after(int(end[at]), int(first))
    sent = costs.issued(control, "control") + int(part.late[1][at])
    ops = (op for role in part.phase.roles for op in role.ops)
    if any(op.advance in BY_WAVELET for op in ops):
        ends.over[at], ends.by_task[at] = ended_by_control(part, sent)
        ends.due[1][at] = control.time - costs.task
    # right behind the last element, where that has been held up on its way
    left = control_leaves(part, sent)
    torn = np.maximum(left + costs.hop * distances, end + 1 - costs.ramp_down)
    torn[at] = left
    if part.torn_down:
        torn = np.maximum(torn, _let_on(costs, begun, at))
    ends.torn = dict.fromkeys(ends.torn, torn)
    ends.comes = _comes(part.stall, start, end, copies, at)
    return ends


def _comes(
    stall: Stall, start: Times, end: Times, copies: Times, root: tuple[int, int]
) -> Stretches:
    """When elements come, as in `Ends`: before the root stops, and behind."""
    behind, stops = stall.behind[root], stall.cycles[root]
    early, again = np.maximum(start - stops, copies), start + behind
    before = [(early, np.minimum(early + behind, again))] if stops else []
    found = coming(*before, (again if stops else start, end + 1))
    found[root] = 0
    return found


def _let_on(costs: Costs, opened: Times, root: tuple[int, int]) -> Times:
    """When a multicast's control wavelet can leave each router at the earliest: routers that are
    torn down take nothing, and those before one that opens later may have no room for all."""
    never = np.iinfo(np.int64).min // 2
    found, opens, between = np.full_like(opened, never), opened, 0
    while costs.length >= costs.router_queue * between and (opens > never).any():
        opens = _beyond(opens, root, never)
        waits = costs.length - costs.router_queue * between
        found = np.maximum(found, opens - 1 + waits + costs.hop * between)
        between += 1
    return found


def _beyond(of: Times, root: tuple[int, int], none: int) -> Times:
    """By router, the most of those to which a multicast goes on from there."""
    x, y = root
    found = np.full_like(of, none)
    found[:, y:-1] = of[:, y + 1 :]
    found[:, 1 : y + 1] = np.maximum(found[:, 1 : y + 1], of[:, :y])
    found[x:-1, y] = np.maximum(found[x:-1, y], of[x + 1 :, y])
    found[1 : x + 1, y] = np.maximum(found[1 : x + 1, y], of[:x, y])
    return found


def _held_up(costs: Costs, copies: Times, distances: Times, sides: Times) -> Times:
    """From when on the vector can pass at each PE without a stop, seen from those on its side that
    begin late: what is before them waits in the routers up to there, what is behind comes later."""
    found = np.zeros_like(copies)
    for side in np.unique(sides):
        there = sides == side
        last = np.full(int(distances.max()) + 1, np.iinfo(np.int64).min // 2)
        np.maximum.at(last, distances[there], copies[there])
        at = np.arange(len(last))
        beyond = at[None, :] - at[:, None]  # from a distance to that of a PE that begins late
        room = costs.input_queue + costs.router_queue * np.maximum(beyond, 0)
        late = np.where(room < costs.length, last[None, :] - room - np.minimum(beyond, 0), 0)
        found[there] = late.max(axis=1)[distances[there]]
    return found


def _onward(way: Times, root: int, hop: int) -> Times:
    """When the first element can leave routers on both sides of the root, along the first axis: not
    before it has left the one before, nor before the router is open."""
    found = way.copy()
    for side in (found[root:], found[root::-1]):
        steps = hop * np.arange(len(side))[:, None]
        side[:] = np.maximum.accumulate(side - steps, axis=0) + steps
    return found
