"""A phase of a program by itself: from when each PE begins it to when each PE's part is over, and
when its routers are torn down behind it.

Lines are evaluated by `collc.cost.line` and `collc.cost.exchange`, each different one once. In
reading order: what is found, `ends_of`, reductions, exchanges, broadcasts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from collc.base.grids import Grid
from collc.base.paths import Path
from collc.checks.vector_order import Passage, passages
from collc.cost.arrivals import never, with_lines
from collc.cost.ends import (
    Ends,
    Part,
    control_leaves,
    ended_by_control,
    idle,
    no_code,
    parts_of,
)
from collc.cost.exchange import run_exchange
from collc.cost.line import LineRun, run_line
from collc.cost.multicast_timing import multicast
from collc.cost.operations import Place
from collc.cost.predict import Times, lines_of, ranks_with_vectors
from collc.cost.processor import Stall
from collc.cost.stretches import later, together
from collc.plan import BY_WAVELET, Advance
from collc.plan.placement import roles_of_places, roles_of_ranks
from collc.plan.program import ProgramPlan, Use
from collc.plan.unrolled import NOWHERE, connections
from collc.schedule import BroadcastPhase, ReducePhase
from collc.spec.exchange import StepsPhase


def ends_of(plan: ProgramPlan, use: Use, whole: Part) -> Ends:
    """Evaluate a phase on every part of the grid that has it; parts that begin alike are alike."""
    ends = idle(whole)
    grid = plan.plans[use.collective].collective.grid
    known: dict[bytes, Ends] = {}
    stall = whole.stall
    others = no_code(whole.begun) if whole.others is None else whole.others
    given = (whole.begun, whole.depth, others, stall.behind, stall.cycles, *whole.late)
    comes, code = list[Times](), list[Times]()
    arrays = (ends.over, ends.by_task, ends.long, *ends.due, *ends.torn.values())
    for (begun, depth, beside, behind, stops, *late), (
        over,
        told,
        long,
        stored,
        sent,
        *torn,
    ) in zip(
        zip(*(parts_of(grid, of) for of in given), strict=True),
        zip(*(parts_of(grid, of) for of in arrays), strict=True),
        strict=True,
    ):
        first = begun.min()
        busy = later(beside, np.full_like(begun, -first))
        key = b"".join(of.tobytes() for of in (begun - first, depth, busy, behind, stops, *late))
        if key not in known:
            part = replace(
                whole,
                begun=begun - first,
                depth=depth,
                late=(late[0], late[1]),
                stall=Stall(behind, stops),
                others=None if whole.others is None else busy,
            )
            known[key] = _ends_of_part(plan, use, part)
        found = known[key]
        over[:], told[:], long[:] = found.over + first, found.by_task, found.long
        for times, due in zip((stored, sent), found.due, strict=True):
            times[:] = np.where(due < 0, -1, due + first)
        for name, times in zip(ends.torn, torn, strict=True):
            times[:] = found.torn[name] + first
        comes.append(np.where(found.comes < 0, -1, found.comes + first))
        code.append(later(found.code, np.full_like(begun, first)))
    ends.comes = _comes_of_parts(grid, comes, ends.over)
    ends.code = _code_of_parts(grid, code, ends.over)
    return ends


def _code_of_parts(grid: Grid, of_parts: list[Times], whole: Times) -> Times:
    """The code of all parts of a grid."""
    all_of = together(of_parts)
    found = np.zeros((*whole.shape, *all_of.shape[3:]), dtype=np.int64)
    for part, code in zip(parts_of(grid, found), all_of, strict=True):
        part[:] = code
    return found


def _comes_of_parts(grid: Grid, of_parts: list[Times], whole: Times) -> Times:
    """Stretches of all parts of a grid."""
    found = never(whole.shape, max(map(len, of_parts)))
    for stretch, both in enumerate(found):
        for side, times in enumerate(both):
            for part, comes in zip(parts_of(grid, times), of_parts, strict=True):
                if stretch < len(comes):
                    part[:] = comes[stretch, side]
    return found


def _ends_of_part(plan: ProgramPlan, use: Use, part: Part) -> Ends:
    phase, pattern = part.phase, plan.phase(use).pattern
    if isinstance(pattern, BroadcastPhase):
        return multicast(part, pattern)
    shape = part.begun.shape
    if phase.path is not None:
        x, y = phase.path.x, phase.path.y
        arrays = (part.begun, part.depth, *part.late)
        begun, depth, stored, sent = (of[x, y][:, None] for of in arrays)
        stall = Stall(part.stall.behind[x, y][:, None], part.stall.cycles[x, y][:, None])
        others = None if part.others is None else part.others[x, y][:, None]
        part = replace(
            part, begun=begun, depth=depth, late=(stored, sent), stall=stall, others=others
        )
    ends = idle(part)
    if isinstance(pattern, StepsPhase):
        _exchange(part, pattern, ends)
    else:
        _reduce(part, pattern, ends)
    if part.restores:
        _negate_back(part, pattern, ends)
    return ends if phase.path is None else _folded(phase.path, shape, ends)


def _negate_back(part: Part, pattern: ReducePhase | StepsPhase, ends: Ends) -> None:
    """PEs with the result pass over it once more; behind a reduction, whose root stores, that takes
    a task more."""
    costs, over = part.costs, lines_of(ends.over, pattern)
    if isinstance(pattern, StepsPhase):
        over += costs.negated_cycles
        return
    stored, long, late = (
        lines_of(of, pattern)[:, pattern.bypass] for of in (ends.due[0], ends.long, part.late[0])
    )
    stored[:] = over[:, pattern.bypass] - (costs.task - costs.dispatch)
    long[:] = costs.negated_cycles
    ended = costs.code.ends + costs.code.frame + costs.between
    over[:, pattern.bypass] += costs.task + costs.negated_cycles + ended + late


def _folded(path: Path, shape: tuple[int, ...], ends: Ends) -> Ends:
    """What is said of the places of a path, said of its PEs."""
    over = np.zeros(shape, dtype=np.int64)
    told = np.ones(over.shape, dtype=np.bool_)
    over[path.x, path.y], told[path.x, path.y] = ends.over[:, 0], ends.by_task[:, 0]
    torn = {name: np.zeros_like(over) for name in ends.torn}
    for name, times in ends.torn.items():
        torn[name][path.x, path.y] = times[:, 0]
    due, long = (np.full_like(over, -1), np.full_like(over, -1)), np.zeros_like(over)
    for times, found in zip((*due, long), (*ends.due, ends.long), strict=True):
        times[path.x, path.y] = found[:, 0]
    comes = never(over.shape, len(ends.comes))
    comes[..., path.x, path.y] = ends.comes[..., 0]
    code = np.zeros((*over.shape, *ends.code.shape[2:]), dtype=np.int64)
    code[path.x, path.y] = ends.code[:, 0]
    return Ends(over, told, torn, due, long, comes, code)


def _reduce(part: Part, pattern: ReducePhase, ends: Ends) -> None:
    """Each different line of a reduction."""
    places = pattern.place_of
    over, by_task = lines_of(ends.over, pattern), lines_of(ends.by_task, pattern)
    own = ranks_with_vectors(pattern)
    at = [places[rank] for rank in own]
    torn = {name: lines_of(times, pattern) for name, times in ends.torn.items()}
    hop = part.costs.hop
    begun, depths, *late = (
        lines_of(of, pattern)[:, list(places)] for of in (part.begun, part.depth, *part.late)
    )
    both = np.concatenate((begun, depths, *late), axis=1)
    different, which = np.unique(both, axis=0, return_inverse=True)
    due = [lines_of(of, pattern) for of in ends.due]
    ways = [
        way
        for way in passages(pattern, roles_of_ranks(part.phase, pattern))
        if way.op.advance is Advance.TEARDOWN
    ]
    for number, found in enumerate(different.tolist()):
        rows = np.flatnonzero(which.reshape(-1) == number)[:, None]
        line, deep, *lates = (found[i : i + len(places)] for i in range(0, len(found), len(places)))
        begins = list(map(Place, line, deep))
        opened = line if part.torn_down else ()
        run = run_line(
            part.costs, part.phase, pattern, begins, opened, list(zip(*lates, strict=True))
        )
        ended = [_end_of_rank(part, run, rank) for rank in own]
        over[rows, at] = [end for end, _ in ended]
        by_task[rows, at] = [told for _, told in ended]
        ends.comes = with_lines(
            ends.comes, pattern, rows[:, 0], [run.comes[rank] for rank in own], at
        )
        due[0][rows, at] = [run.due[rank][0] for rank in own]
        due[1][rows, at] = [run.due[rank][1] for rank in own]
        for way in ways:
            left = control_leaves(part, _control(run, way.source) - 1)
            if pattern.bypass and way.destination == 0:  # from the end to the root
                way_back = range(pattern.bypass + 1)
                torn[way.color][rows, list(way_back)] = [left + hop * hops for hops in way_back]
                continue
            torn_at = _torn_at(run, way, left)
            for router in way.last_at:
                torn[way.color][rows[:, 0], places[router]] = torn_at[router]


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
    frames = 0 if by_code else run.costs.frames
    return run.end[rank] - frames + 1


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


def _exchange(part: Part, pattern: StepsPhase, ends: Ends) -> None:
    """All lines of an exchange; at its end each PE tears down the ways on which it has sent."""
    costs, phase = part.costs, part.phase
    starts = lines_of(part.begun, pattern)
    deep = lines_of(part.depth, pattern)
    others = None if part.others is None else lines_of(part.others, pattern)
    run = run_exchange(costs, phase, pattern, starts, deep, others=others)
    free = run.time
    ends.code = np.zeros((*ends.over.shape, *run.code.shape[2:]), dtype=np.int64)
    lines_of(ends.code, pattern)[:] = run.code
    target, _ = connections(phase, pattern)
    closing = np.zeros(starts.shape[1], dtype=np.int64)
    torn = {name: lines_of(times, pattern) for name, times in ends.torn.items()}
    for place, role in enumerate(roles_of_places(phase, pattern)):
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
        lines_of(ends.by_task, pattern)[:] = False
    else:
        over += costs.code.frame + costs.between + costs.task - costs.dispatch
    lines_of(ends.over, pattern)[:] = over
