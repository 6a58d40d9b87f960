"""Evaluation of a phase made of steps along one line: when each lane is in which row.

The rows are run as `collc.checks.rows_run` runs them, all transfers at once that can happen, but
with the cycles in which their first and last elements are sent and taken. A PE pays for a row:

    task start, what leads to the operation, loads of its operands, issue     then the elements flow
    preparing the row behind it, beside the elements                          then it is ready

Elements of several operations of a PE share its one instruction a cycle, and go before its code.
What counts the instructions is `Instructions`, which follows `templates/exchange_pe.csl.j2`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collc.cost.operations import Costs
from collc.plan import RowKind
from collc.unrolled import NOWHERE, RELAYING, SENDING, Ints, Unrolled

Bools = npt.NDArray[np.bool_]

ENDS, LOOPS = int(RowKind.ENDS), int(RowKind.LOOPS)
RECEIVES, APPLIES = int(RowKind.RECEIVES), int(RowKind.APPLIES)
COMBINES, STAGES = int(RowKind.COMBINES), int(RowKind.STAGES)
OUT = SENDING | RELAYING
NEVER = -(1 << 40)


@dataclass(frozen=True)
class Instructions:
    """Scalar instructions of the text that runs rows."""

    enter: int = 9  # called; the loop entered, the row's bits read, whether it ends the step noted
    test: int = 3  # a bit of the row is tested
    begin_receive: int = 1  # the descriptor is read
    begin_send: int = 2  # the task is blocked, the descriptor read
    begin_pass: int = 4  # the task is blocked, the descriptor made
    leave: int = 7  # under way: return to the task and out of it
    join: int = 22  # the lane has ended the step: counted, the next step begun
    counted: int = 8  # under way: return to what begins steps, counted
    joined: int = 9  # all lanes are under way
    prepare: int = 17
    prepare_out: int = 27
    prepare_into: int = 24
    prepare_stage: int = 10
    uneven: int = 8  # more for each range of slices that differ in length
    next_turn: int = 25
    shifted: int = 5  # more where slices begin anew
    begin: int = 6  # the lane's state is reset
    row: int = 130  # about, from one row's end to the next one's preparation
    finish: int = 12  # no row is left: what follows is called


@dataclass
class Timeline:
    """The state by lane: its row, when its operations can begin, what is left of them, the last
    cycle of each; whether the lane waits for the others; where its code stands. By place: from when
    to when its code was busy last."""

    costs: Costs
    says: Instructions
    rows: Unrolled
    target: Ints
    hops: Ints
    features: frozenset[str]
    at: Ints
    ready: Ints  # [lane, 2]: sending or passing, receiving
    last: Ints  # [lane, 2]
    first: Ints  # [lane, 2]
    left: Ints  # [lane, 2]
    passing: Bools
    waits: Bools
    stands: Ints
    busy: Ints
    free: Ints
    ended: Ints


def run_timeline(
    costs: Costs, rows: Unrolled, target: Ints, features: frozenset[str], called: Ints
) -> Timeline:
    """Run all rows; at `called[p]` the code of place p calls the phase."""
    lanes = len(target)
    place = np.arange(lanes) // rows.lanes
    hops = np.where(target == NOWHERE, 0, np.abs(target // rows.lanes - place))
    both = np.zeros((lanes, 2), dtype=np.int64)
    line = Timeline(
        costs, Instructions(), rows, target, hops, features, rows.start[:-1].copy(),
        both.copy(), both + NEVER, both + NEVER, both.copy(),
        np.zeros(lanes, dtype=np.bool_), np.zeros(lanes, dtype=np.bool_),
        called[place], called.copy(), called.copy(), called.copy(),
    )  # fmt: skip
    used = np.flatnonzero(line.at < rows.start[1:])
    for lane in range(rows.lanes):
        own = used[used % rows.lanes == lane]
        line.free[own // rows.lanes] += line.says.begin + _preparing(line, own, line.at[own])
    line.free += line.says.join // 2
    line.stands[:] = line.free[place]
    _begin_lanes(line, used, np.ones(len(used), dtype=np.bool_))
    while _transfer(line) | _advance(line):
        pass
    return line


def _begin_lanes(line: Timeline, lanes: Ints, by_step: Bools) -> None:
    """Rows begin, where the code of each lane stands; with a step those of a PE begin one after the
    other.

    Operations that only send have low priority: they begin when the code has returned.
    """
    says, rows = line.says, line.rows
    began = line.stands.copy()
    for lane in range(rows.lanes):
        chosen = lanes % rows.lanes == lane
        own, steps = lanes[chosen], by_step[chosen]
        if not len(own):
            continue
        _begin(line, own)
        line.stands[own] += np.where(steps, says.counted, says.leave)
        for later in range(lane + 1, rows.lanes):
            line.stands[own[steps] + later - lane] = line.stands[own[steps]]
    stepping = lanes[by_step]
    by_place = line.stands.reshape(-1, rows.lanes)
    line.stands[stepping] = by_place.max(axis=1)[stepping // rows.lanes] + says.joined
    sends = lanes[~line.passing[lanes]]
    line.ready[sends, 0] = line.stands[sends]
    _occupy(line, lanes, began[lanes] - line.costs.task)


def _begin(line: Timeline, lanes: Ints) -> None:
    """The next rows of these lanes, of different places, are issued, and those behind prepared."""
    costs, says, rows = line.costs, line.says, line.rows
    at, place = line.at[lanes], lanes // rows.lanes
    kind = rows.kind[at]
    staged, combines = (kind & STAGES) > 0, (kind & COMBINES) > 0
    tests = ("areas" in line.features) + ("combines" in line.features)
    time = line.stands[lanes] + says.enter
    receives = (kind & RECEIVES) > 0
    loads = np.where(combines & ~staged, 2, 1)
    issue = says.test + tests * says.test + loads * says.begin_receive + costs.issue
    time = time + np.where(receives, issue + loads * costs.load, says.test)
    line.ready[lanes, 1] = time
    out = (kind & OUT) > 0
    passes = (kind & RELAYING) > 0
    tests = 2 + ("relays" in line.features)
    lead = np.where(passes, says.begin_pass, says.begin_send) + tests * says.test + ~receives
    time = time + np.where(out, lead + costs.load + costs.issue, says.test)
    line.ready[lanes, 0] = time
    applies = (kind & APPLIES) > 0
    if "areas" in line.features:
        time = time + np.where(applies, _applying(line, at, combines), says.test)
    line.stands[lanes] = time + _preparing(line, lanes, at + 1)
    sent = np.where(out, rows.out_to[at] - rows.out_from[at], 0)
    line.left[lanes, 0] = np.where(passes, rows.passed[at], sent)
    line.left[lanes, 1] = np.where(receives, rows.into_to[at] - rows.into_from[at], 0)
    line.passing[lanes] = passes
    line.last[lanes] = NEVER
    line.first[lanes] = NEVER
    line.ended[place] = np.maximum(line.ended[place], time)


def _applying(line: Timeline, at: Ints, combines: Bools) -> Ints:
    """Cycles to take what is staged to the vector."""
    costs, rows = line.costs, line.rows
    size = rows.into_to[at] - rows.into_from[at]
    per_cycle = np.where(combines, costs.apply_rate, costs.move_rate)
    by_vector = -(-size // per_cycle)
    element = np.where(combines & costs.maps, costs.combine, 0)
    loads = np.where(combines, 3, 2) * costs.load + costs.issue
    work: Ints = np.where(element > 0, size * element, by_vector)
    return 2 * line.says.test + 3 + loads + work


def _preparing(line: Timeline, lanes: Ints, at: Ints) -> Ints:
    """Instructions that prepare the rows at `at`, or note that there are no more."""
    says, rows = line.says, line.rows
    over = at >= rows.start[lanes + 1]
    kind = np.where(over, LOOPS, rows.written[np.minimum(at, len(rows.written) - 1)])
    uneven = says.uneven * ("uneven" in line.features)
    work = says.prepare + np.where(kind & OUT, says.prepare_out + uneven, 0) + says.test
    work = work + np.where(kind & (RECEIVES | APPLIES), says.prepare_into + uneven, 0)
    work = work + np.where(kind & (STAGES | APPLIES), says.prepare_stage, 0)
    turn = says.next_turn + says.shifted * ("slices" in line.features)
    looped: Ints = work + np.where(kind & LOOPS, turn, 0)
    return looped


def _transfer(line: Timeline) -> bool:
    """Follow what each sender can send to its receiver; whether anything moved."""
    senders = np.flatnonzero((line.left[:, 0] > 0) & ~line.passing & (line.target != NOWHERE))
    ways, at, amount = _ways(line, senders)
    going = amount > 0
    if not going.any():
        return False
    _flow(line, senders, ways, at, amount)
    return True


Way = tuple[Ints, Ints]  # which of the senders, and the lane that lets theirs pass


def _ways(line: Timeline, senders: Ints) -> tuple[list[Way], Ints, Ints]:
    """The lanes that each sender's elements pass, the one that takes them, and how many can go."""
    at = line.target[senders]
    amount = line.left[senders, 0].copy()
    ways: list[Way] = []
    passing = line.passing[at] & (line.left[at, 0] > 0)
    while passing.any():
        moving = np.flatnonzero(passing)
        ways.append((moving, at[moving]))
        amount[moving] = np.minimum(amount[moving], line.left[at[moving], 0])
        at = at.copy()
        at[moving] = line.target[at[moving]]
        passing = passing & line.passing[at] & (line.left[at, 0] > 0)
    return ways, at, np.minimum(amount, line.left[at, 1])


def _flow(line: Timeline, senders: Ints, ways: list[Way], at: Ints, amount: Ints) -> None:
    """The first and last elements at the sender, at all that pass them, and at the receiver."""
    costs = line.costs
    going = amount > 0
    here = senders.copy()
    start = np.maximum(line.ready[here, 0], line.last[here, 0] + 1)
    stages: list[tuple[Ints, Ints, Ints, int]] = [
        (np.flatnonzero(going), here[going], start[going], 0)
    ]
    for some, passing in ways:
        moving, lanes = some[going[some]], passing[going[some]]
        start[moving] += costs.latency(0) + costs.hop * line.hops[here[moving]]
        start[moving] = np.maximum(
            start[moving], np.maximum(line.ready[lanes, 0], line.last[lanes, 0] + 1)
        )
        here[moving] = lanes
        stages.append((moving, lanes, start[moving], 0))
    moving, lanes = np.flatnonzero(going), at[going]
    start[moving] += costs.latency(0) + costs.hop * line.hops[here[moving]]
    start[moving] = np.maximum(
        start[moving], np.maximum(line.ready[lanes, 1], line.last[lanes, 1] + 1)
    )
    stages.append((moving, lanes, start[moving], 1))
    _ends(line, stages, amount)
    for moving, lanes, _, side in stages:
        line.left[lanes, side] -= amount[moving]


def _ends(line: Timeline, stages: list[tuple[Ints, Ints, Ints, int]], amount: Ints) -> None:
    """When the last elements go: forward as they come, backward as there is room for them."""
    costs, rows = line.costs, line.rows
    for moving, lanes, start, side in stages:
        fresh = line.first[lanes, side] == NEVER
        line.first[lanes, side] = np.where(fresh, start, line.first[lanes, side])
        line.last[lanes, side] = start + amount[moving] - 1
    end = np.zeros(len(amount), dtype=np.int64) + NEVER
    delay = np.zeros(len(amount), dtype=np.int64)
    for moving, lanes, start, side in stages:
        shared = _shared(line, lanes, start, start + amount[moving], side)
        last = np.maximum(line.last[lanes, side] + shared, end[moving] + delay[moving])
        line.last[lanes, side] = last
        end[moving] = last
        delay[moving] = costs.latency(0) + costs.hop * line.hops[lanes]
    for (moving, lanes, _, side), (later, there, _, side_there) in zip(
        reversed(stages[:-1]), reversed(stages[1:]), strict=True
    ):
        taken = np.full(len(amount), NEVER)
        taken[later] = line.last[there, side_there]
        room = costs.router_queue * (line.hops[lanes] + 1) + costs.output_queue + costs.input_queue
        held = taken[moving] - room + costs.hop * line.hops[lanes] + 1
        line.last[lanes, side] = np.maximum(
            line.last[lanes, side], np.where(amount[moving] > room, held, NEVER)
        )
    for moving, lanes, start, side in stages:
        if side or len(stages) > 2:
            place = lanes // rows.lanes
            first = line.passing[lanes] | bool(side)
            beside = first & (line.busy[place] <= start) & (start < line.free[place])
            np.add.at(line.free, place, np.where(beside, amount[moving], 0))


def _shared(line: Timeline, lanes: Ints, start: Ints, end: Ints, side: int) -> Ints:
    """Cycles that other operations of the PE take while this one runs; what only sends makes way
    for what receives."""
    rows = line.rows
    low_priority = ~line.passing[lanes] if side == 0 else np.zeros(len(lanes), dtype=np.bool_)
    total = np.zeros(len(lanes), dtype=np.int64)
    for other in range(rows.lanes):
        beside = lanes // rows.lanes * rows.lanes + other
        for way in (0, 1):
            low = np.maximum(start, line.first[beside, way])
            high = np.minimum(end, line.last[beside, way] + 1)
            goes_first = line.passing[beside] | (way == 1) | low_priority
            counts = ~((beside == lanes) & (way == side)) & goes_first
            total += np.where(counts, np.maximum(0, high - low), 0)
    return total


def _picked(line: Timeline, ended: Ints, over: Ints, used: Bools, last: Bools) -> Ints:
    """When the task of each of these lanes is taken up: its row has ended, and no other code of the
    PE runs. Of two lanes that end together the earlier one goes first."""
    costs, says = line.costs, line.says
    place = ended // line.rows.lanes
    beside = (line.busy[place] < over + costs.task) & (over < line.free[place])
    pick: Ints = np.where(beside, line.free[place], over)
    order = np.lexsort((over, place))
    order = order[used[order]]
    second = np.flatnonzero(place[order][1:] == place[order][:-1]) + 1
    before, behind = order[second - 1], order[second]
    takes = costs.task + np.where(last[before], says.join, says.row)
    pick[behind] = np.maximum(pick[behind], pick[before] + takes)
    return pick


def _occupy(line: Timeline, lanes: Ints, since: Ints) -> None:
    """The code of these lanes' places has been busy since a cycle until where it stands."""
    for lane in range(line.rows.lanes):
        own, begun = lanes[lanes % line.rows.lanes == lane], since[lanes % line.rows.lanes == lane]
        place = own // line.rows.lanes
        later = line.stands[own] >= line.free[place]
        line.busy[place[later]] = begun[later]
        line.free[place[later]] = line.stands[own[later]]


def _advance(line: Timeline) -> bool:
    """Lanes whose rows have ended go on; whether any did."""
    costs, says, rows = line.costs, line.says, line.rows
    running = (line.at < rows.start[1:]) & ~line.waits
    ended = np.flatnonzero(running & (line.left == 0).all(axis=1))
    if not len(ended):
        return False
    place = ended // rows.lanes
    kind = rows.kind[line.at[ended]]
    used = (kind & (OUT | RECEIVES)) > 0
    last = (kind & ENDS) > 0
    over = line.last[ended].max(axis=1) + 1
    pick = _picked(line, ended, over, used, last)
    task = pick + costs.task
    line.stands[ended] = np.where(used, task, line.stands[ended]) + np.where(last, says.join, 0)
    _occupy(line, ended[last & used], pick[last & used])
    np.maximum.at(line.ended, place, np.where(used, over - 1, 0))
    line.at[ended] += 1
    alone = ended[~last & (line.at[ended] >= rows.start[1:][ended])]
    if len(alone):  # the row that says that no more follow
        found = says.enter + 3 * says.test + _preparing(line, alone, line.at[alone]) + says.join
        line.stands[alone] += found
        _occupy(line, alone, line.stands[alone])
    line.waits[ended[last]] = True
    by_place = line.waits.reshape(-1, rows.lanes)
    done = (line.at >= rows.start[1:]).reshape(-1, rows.lanes)
    joined = np.asarray((by_place | done).all(axis=1) & by_place.any(axis=1))
    freed = np.flatnonzero((by_place & joined[:, None]).reshape(-1))
    line.waits[freed] = False
    # a step begins where the last of its lanes has ended the one before
    line.stands[freed] = line.stands.reshape(-1, rows.lanes).max(axis=1)[freed // rows.lanes]
    line.free[joined] = np.maximum(
        line.free[joined], line.stands.reshape(-1, rows.lanes).max(axis=1)[joined]
    )
    begin = np.concatenate((ended[~last], freed))
    begin = begin[line.at[begin] < rows.start[1:][begin]]
    order = np.argsort(begin)
    by_step = np.isin(begin, freed)
    _begin_lanes(line, begin[order], by_step[order])
    return True
