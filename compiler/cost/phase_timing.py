"""A phase of a program by itself: from when each PE begins it to when each PE's part is over, and
when its routers are torn down behind it.

Lines are evaluated by `collc.cost.line` and `collc.cost.exchange`, each different one once. In
reading order: what is found, `ends_of`, reductions, exchanges, broadcasts.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from operator import itemgetter

import numpy as np

from collc.cost.ends import (
    Ends,
    Part,
    areas_of,
    control_leaves,
    ended_by_control,
    idle,
)
from collc.cost.exchange import run_exchange
from collc.cost.line import LineRun, run_line
from collc.cost.multicast_timing import multicast
from collc.cost.operations import Place
from collc.cost.predict import Times, lines_of, ranks_with_vectors
from collc.cost.stretches import coming_to_each, different, later, together
from collc.plan import BY_WAVELET, Advance, Phase
from collc.plan.form import Form, form_of
from collc.plan.geometry import line_of, multicast_of
from collc.plan.placement import roles_of_places, roles_of_ranks
from collc.plan.plan import ProgramPlan, Use
from collc.plan.unrolled import NOWHERE, connections
from collc.plan.vector_order import Passage, passages


def ends_of(plan: ProgramPlan, use: Use, whole: Part) -> Ends:
    """Evaluate a phase on every part of the grid that has it; parts that begin alike are alike."""
    areas = list(areas_of(plan.plans[use.collective].collective.grid))
    known: dict[bytes, Ends] = {}
    found = []
    for area in areas:
        part = whole.with_arrays(map(itemgetter(area), whole.arrays))
        first = int(part.begun.min())
        others = part.others
        if others is not None:
            others = later(others, np.full_like(part.begun, -first))
        part = replace(part, begun=part.begun - first, others=others)
        key = b"".join(of.tobytes() for of in part.arrays)
        if key not in known:
            known[key] = _ends_of_part(part)
        found.append(known[key].later(first))
    return idle(whole).with_parts(areas, found)


def _ends_of_part(part: Part) -> Ends:
    if form_of(part.phase) is Form.MULTICAST:
        return multicast(part, multicast_of(part.phase))
    if part.phase.path is None:
        return _ends_on_lines(part)
    at = part.phase.path.x, part.phase.path.y
    row = _ends_on_lines(part.with_arrays([of[at][:, None] for of in part.arrays]))
    return idle(part).with_parts([at], [row.with_arrays([of[:, 0] for of in row.arrays])])


def _ends_on_lines(part: Part) -> Ends:
    ends, phase = idle(part), part.phase
    if form_of(phase).is_cut:
        _exchange(part, phase, ends)
    elif form_of(phase) is Form.TREE:
        _reduce(part, phase, ends)
    if part.restores:
        _negate_back(part, ends)
    return ends


def _negate_back(part: Part, ends: Ends) -> None:
    """PEs with the result pass over it once more; behind a reduction, whose root stores, that takes
    a task more."""
    costs, line = part.costs, line_of(part.phase)
    over = lines_of(ends.over, line)
    if form_of(part.phase).is_cut:
        over += costs.negated_cycles
        return
    stored, long, late = (
        lines_of(of, line)[:, line.bypass] for of in (ends.due[0], ends.long, part.late[0])
    )
    stored[:] = over[:, line.bypass] - (costs.task - costs.dispatch)
    long[:] = costs.negated_cycles
    ended = costs.code.ends + costs.code.frame + costs.between
    over[:, line.bypass] += costs.task + costs.negated_cycles + ended + late


def _reduce(part: Part, phase: Phase, ends: Ends) -> None:
    """Each different line of a reduction."""
    line, places = line_of(phase), line_of(phase).place_of
    own = ranks_with_vectors(line)
    at = [places[rank] for rank in own]
    given = [lines_of(of, line)[:, list(places)] for of in (part.begun, part.depth, *part.late)]
    kinds, which = different(*given)
    runs = []
    for kind in kinds:
        begun, depth, *late = (of[kind].tolist() for of in given)
        opened, lates = begun if part.torn_down else (), list(zip(*late, strict=True))
        ready = list(map(Place, begun, depth))
        runs.append(run_line(part.costs, phase, ready, opened, lates))
    ended = np.array([[_end_of_rank(part, run, rank) for rank in own] for run in runs])[which]
    due = np.array([[run.due[rank] for rank in own] for run in runs])[which]
    for of, found in zip((ends.over, ends.by_task), np.moveaxis(ended, -1, 0), strict=True):
        lines_of(of, line)[:, at] = found
    for of, found in zip(ends.due, np.moveaxis(due, -1, 0), strict=True):
        lines_of(of, line)[:, at] = found
    comes = together([coming_to_each([run.comes[rank] for rank in own]) for run in runs])[which]
    ends.comes = np.zeros((*ends.over.shape, *comes.shape[2:]), dtype=np.int64)
    lines_of(ends.comes, line)[:, at] = comes
    _tear_down(part, phase, ends, runs, which)


def _tear_down(part: Part, phase: Phase, ends: Ends, runs: Sequence[LineRun], which: Times) -> None:
    """When the routers of the lines are torn down, each of which has run as one of these."""
    line = line_of(phase)
    torn = {name: lines_of(times, line) for name, times in ends.torn.items()}
    places, hop = line.place_of, part.costs.hop
    ways = [
        way
        for way in passages(line.children, roles_of_ranks(phase))
        if way.op.advance is Advance.TEARDOWN
    ]
    for (number, run), way in product(enumerate(runs), ways):
        rows = np.flatnonzero(which == number)
        left = control_leaves(part, _control(run, way.source) - 1)
        if line.bypass and way.destination == 0:  # from the end to the root
            for hops in range(line.bypass + 1):
                torn[way.color][rows, hops] = left + hop * hops
            continue
        torn_at = _torn_at(run, way, left)
        for router in way.last_at:
            torn[way.color][rows, places[router]] = torn_at[router]


def _torn_at(run: LineRun, way: Passage, left: int) -> dict[int, int]:
    """When the control wavelet behind a vector, which is in the router of its PE at `left`, leaves
    each router on its way: behind the vector, where that waits for a router or its receiver, and
    where the routers up to one that opens later have no room for all of it."""
    costs, found = run.costs, dict[int, int]()
    first = run.sent(way.source) + costs.ramp_up
    for router in range(way.source, way.destination - 1, -1):
        hops, behind = way.source - router, router - way.destination
        first = max(first + costs.hop * (hops > 0), run.opens[router].get(way.color, 0) + 1)
        found[router] = max(left + costs.hop * hops, first + costs.length)
        for nearer in range(way.destination, router):
            between = router - nearer - 1  # one that is torn down takes nothing
            waits = costs.length - costs.router_queue * between
            if waits >= 0:
                opened = run.opens[nearer].get(way.color, 0)
                found[router] = max(found[router], opened - 1 + waits + costs.hop * between)
        room = costs.input_queue + costs.router_queue * behind
        if room < costs.length:
            on_its_way = max(room, costs.ramp_down + costs.hop * behind)
            found[router] = max(found[router], run.taken[way.source] + 1 - on_its_way)
    return found


def _control(run: LineRun, rank: int) -> int:
    """When the control wavelet behind a rank's vector leaves."""
    by_code = run.costs.maps and run.roles[rank].ops[-1].combines_from is not None
    depth = 0 if by_code else run.costs.returns
    return run.end[rank] - depth + 1


def _end_of_rank(part: Part, run: LineRun, rank: int) -> tuple[int, bool]:
    """When the part of a rank is over, and whether a task is told of it."""
    costs = run.costs
    last, turns = run.roles[rank].repeated[-1]
    if costs.maps:
        return run.done[rank] - costs.dispatch, True
    if last.stores and turns > 1:
        # the task that counts the rounds calls what follows, or tells of the end
        by_code = run.after[rank].time
        return (by_code, False) if part.quick else (run.done[rank] - costs.dispatch, True)
    if last.sends and last.advance in BY_WAVELET:
        return ended_by_control(part, _control(run, rank) - 1)
    return costs.after(run.end[rank], run.free[rank]).time, True


def _exchange(part: Part, phase: Phase, ends: Ends) -> None:
    """All lines of an exchange; at its end each PE tears down the ways on which it has sent."""
    costs, line = part.costs, line_of(phase)
    starts = lines_of(part.begun, line)
    deep = lines_of(part.depth, line)
    others = None if part.others is None else lines_of(part.others, line)
    run = run_exchange(costs, phase, starts, deep, others=others)
    free = run.time
    ends.code = np.zeros((*ends.over.shape, *run.code.shape[2:]), dtype=np.int64)
    lines_of(ends.code, line)[:] = run.code
    target, _ = connections(phase)
    closing = np.zeros(starts.shape[1], dtype=np.int64)
    torn = {name: lines_of(times, line) for name, times in ends.torn.items()}
    for place, role in enumerate(roles_of_places(phase)):
        for index, lane in enumerate(role.lanes if role else ()):
            if not lane.tears_down or lane.sends_on is None or role is None:
                continue
            closing[place] += costs.code.control_sent
            left = free[:, place] + closing[place] + costs.send_start + costs.ramp_up
            to = int(target[place * len(role.lanes) + index])
            there = place if to == NOWHERE else to // len(role.lanes)
            for router in range(min(place, there), max(place, there) + 1):
                torn[lane.sends_on][:, router] = left + costs.hop * abs(router - place)
    over = free + closing + costs.code.ends
    if part.quick and not part.restores:
        lines_of(ends.by_task, line)[:] = False
    else:
        over += costs.code.frame + costs.between + costs.task - costs.dispatch
    lines_of(ends.over, line)[:] = over
