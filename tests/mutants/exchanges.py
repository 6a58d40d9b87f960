"""Changes of plans of exchanges: rows, lanes, circuits and relays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import pairwise

import steps_patterns as s

from collc.lowering import candidate_plans
from collc.plan import Direction, Exchange, Lane, Loop, Number, Phase, Plan, Role, Row, RowKind
from collc.schedule import Schedule
from collc.target import TARGETS
from mutants.kinds import Kind, Mutant

# ways between two PEs hold neither a slice of the ring nor the long vector
LINES = {
    "ring": s.Line("ring_allreduce", 4, 403, ring=True),
    "doubling": s.Line("recursive_doubling", 4, 40),
    "doubling_long": s.Line("recursive_doubling", 4, 400),
    "all_to_all": s.Line("all_to_all", 3, 24),
    "scatter": s.Line("scatter", 4, 41),
    "neighbours": s.Line("neighbours", 3, 40),
}
RUNS = [(name, "wse3" if name == "doubling_long" else "wse2") for name in LINES]

SENDS = int(RowKind.SENDS | RowKind.RELAYS)
RECEIVES = int(RowKind.RECEIVES | RowKind.COMBINES | RowKind.STAGES)


def plan_of(name: str, target: str) -> tuple[Schedule, Plan]:
    """A plan to change."""
    schedule = LINES[name].schedule()
    return schedule, next(candidate_plans(schedule, TARGETS[target]))


def mutants(plan: Plan) -> Iterator[Mutant[Plan]]:
    """Every plan that differs from `plan` in one thing."""
    phase = plan.phases[0]
    for one in _phases(phase):
        yield Mutant(one.kind, one.what, replace(plan, phases=(one.changed,)))
    for name in ("input_queues", "output_queues", "task_ids", "dsr_ids"):
        used = getattr(plan, name)
        for what, changed in (
            ("repeated", used[:1] * len(used)),
            ("cut", used[:-1]),
            ("with 0", (0, *used[1:])),
        ):
            yield Mutant(Kind.NUMBERS, f"{name} {what}", replace(plan, **{name: changed}))
    alike = replace(plan, input_queues=plan.output_queues)
    yield Mutant(Kind.NUMBERS, "queues alike", alike)
    numbers = [number for _, number in plan.colors]
    for at, (color, _) in enumerate(plan.colors):
        shared = (*plan.colors[:at], (color, numbers[at - 1]), *plan.colors[at + 1 :])
        yield Mutant(Kind.COLOR, f"{color} numbered as another", replace(plan, colors=shared))


def _phases(phase: Phase) -> Iterator[Mutant[Phase]]:
    colors = sorted({use.color for role in phase.roles for use in role.colors})
    for at, role in enumerate(phase.roles):
        for one in _roles(role, colors):
            roles = (*phase.roles[:at], one.changed, *phase.roles[at + 1 :])
            yield Mutant(one.kind, f"{role.name} {one.what}", replace(phase, roles=roles))
    for at, (region, index) in enumerate(phase.regions):
        before, behind = phase.regions[:at], phase.regions[at + 1 :]
        dropped = replace(phase, regions=before + behind)
        yield Mutant(Kind.DROPPED, f"region {at} dropped", dropped)
        for other in range(len(phase.roles)):
            if other != index:
                plays = replace(phase, regions=(*before, (region, other), *behind))
                yield Mutant(Kind.PLACE, f"region {at} plays {other}", plays)
    for what, roles in _all_first_sent(phase.roles):
        yield Mutant(Kind.QUEUE_DEPTH, what, replace(phase, roles=roles))
    assert phase.exchange
    for kind, changed in _exchanges(phase.exchange):
        yield Mutant(kind, f"exchange {changed}", replace(phase, exchange=changed))


def _all_first_sent(roles: tuple[Role, ...]) -> Iterator[tuple[str, tuple[Role, ...]]]:
    """All roles send before they receive, in one loop of one lane, or in all of them."""
    lanes = max(len(role.lanes) for role in roles)
    loops = max(len(lane.loops) for role in roles for lane in role.lanes)
    places = {(lane, loop) for lane in range(lanes) for loop in range(loops)}
    for chosen in (*({one} for one in sorted(places)), places):
        found = tuple(
            replace(
                role,
                lanes=tuple(
                    replace(
                        lane,
                        loops=tuple(
                            _loop_first_sent(loop) if (i, j) in chosen else loop
                            for j, loop in enumerate(lane.loops)
                        ),
                    )
                    for i, lane in enumerate(role.lanes)
                ),
            )
            for role in roles
        )
        if found != roles:
            yield f"all send, then receive, in {sorted(chosen)}", found


def _loop_first_sent(loop: Loop) -> Loop:
    rows = tuple(
        part
        for row in loop.rows
        for part in (_first_sent(row) if _kind(row) & SENDS and _kind(row) & RECEIVES else (row,))
    )
    return replace(loop, rows=rows)


def _exchanges(exchange: Exchange) -> Iterator[tuple[Kind, Exchange]]:
    slicing = exchange.slicing
    yield Kind.LENGTH, replace(exchange, slicing=replace(slicing, count=slicing.count + 1))
    yield Kind.LENGTH, replace(exchange, areas=exchange.areas + 1)
    yield Kind.LENGTH, replace(exchange, areas=max(exchange.areas - 1, 0))
    yield Kind.OTHER_WORK, replace(exchange, lanes=exchange.lanes[::-1])
    yield Kind.DROPPED, replace(exchange, lanes=exchange.lanes[:1])


def _roles(role: Role, colors: list[str]) -> Iterator[Mutant[Role]]:
    yield Mutant(Kind.DROPPED, "without lanes", replace(role, lanes=()))
    yield Mutant(Kind.OTHER_WORK, "lanes reversed", replace(role, lanes=role.lanes[::-1]))
    for at, lane in enumerate(role.lanes):
        for kind, what, changed in _lanes(lane, colors):
            lanes = (*role.lanes[:at], changed, *role.lanes[at + 1 :])
            yield Mutant(kind, f"{lane.name} {what}", replace(role, lanes=lanes))
    for at, use in enumerate(role.colors):
        before, behind = role.colors[:at], role.colors[at + 1 :]
        without = replace(role, colors=before + behind)
        yield Mutant(Kind.ROUTE, f"without {use.color}", without)
        route = use.positions[0]
        for way in Direction:
            for turned in (replace(route, receive=way), replace(route, send=(way,))):
                uses = (*before, replace(use, positions=(turned,)), *behind)
                yield Mutant(Kind.ROUTE, f"{use.color} {turned}", replace(role, colors=uses))


def _lanes(lane: Lane, colors: list[str]) -> Iterator[tuple[Kind, str, Lane]]:
    yield Kind.DROPPED, "without input", replace(lane, receives_on=None)
    yield Kind.DROPPED, "without output", replace(lane, sends_on=None)
    turned = replace(lane, receives_on=lane.sends_on, sends_on=lane.receives_on)
    yield Kind.COLOR, "the other way round", turned
    for color in colors:
        yield Kind.COLOR, f"receives on {color}", replace(lane, receives_on=color)
        yield Kind.COLOR, f"sends on {color}", replace(lane, sends_on=color)
    torn_down = replace(lane, tears_down=not lane.tears_down)
    yield Kind.EARLY_ADVANCE, "tears down", torn_down
    for at, (one, other) in enumerate(pairwise(lane.loops)):
        loops = (*lane.loops[:at], other, one, *lane.loops[at + 2 :])
        yield Kind.REORDERED, f"loop {at} behind", replace(lane, loops=loops)
    for at, loop in enumerate(lane.loops):
        before, behind = lane.loops[:at], lane.loops[at + 1 :]
        yield Kind.DROPPED, f"without loop {at}", replace(lane, loops=before + behind)
        twice = (*before, loop, loop, *behind)
        yield Kind.DOUBLED, f"loop {at} twice", replace(lane, loops=twice)
        for kind, what, changed in _loops(loop):
            yield kind, f"loop {at} {what}", replace(lane, loops=(*before, changed, *behind))


def _loops(loop: Loop) -> Iterator[tuple[Kind, str, Loop]]:
    for number in _numbers(loop.turns):
        yield Kind.LENGTH, f"turns {number}", replace(loop, turns=number)
    for number in _numbers(loop.shift):
        yield Kind.LENGTH, f"shift {number}", replace(loop, shift=number)
    for at, (one, other) in enumerate(pairwise(loop.rows)):
        rows = (*loop.rows[:at], other, one, *loop.rows[at + 2 :])
        yield Kind.REORDERED, f"row {at} behind", replace(loop, rows=rows)
    for at, row in enumerate(loop.rows):
        before, behind = loop.rows[:at], loop.rows[at + 1 :]
        yield Kind.DROPPED, f"without row {at}", replace(loop, rows=before + behind)
        yield Kind.DOUBLED, f"row {at} twice", replace(loop, rows=(*before, row, row, *behind))
        if _kind(row) & SENDS and _kind(row) & RECEIVES:
            rows = (*before, *_first_sent(row), *behind)
            yield Kind.QUEUE_DEPTH, f"row {at} sends, then receives", replace(loop, rows=rows)
        for kind, what, changed in _rows(row):
            yield kind, f"row {at} {what}", replace(loop, rows=(*before, changed, *behind))


def _kind(row: Row) -> int:
    return row.kind.offset


def _first_sent(row: Row) -> tuple[Row, Row]:
    """A row that sends and one that receives: where partners both do so, all that is sent has to
    find room in queues."""
    kind = row.kind
    sends = replace(kind, offset=kind.offset & SENDS)
    receives = replace(kind, offset=kind.offset & ~SENDS)
    return replace(row, kind=sends), replace(row, kind=receives)


BITS = {
    RowKind.ENDS: Kind.REORDERED,
    RowKind.SENDS: Kind.OTHER_WORK,
    RowKind.RELAYS: Kind.OTHER_WORK,
    RowKind.RECEIVES: Kind.OTHER_WORK,
    RowKind.COMBINES: Kind.OTHER_WORK,
    RowKind.STAGES: Kind.REORDERED,
    RowKind.APPLIES: Kind.OTHER_WORK,
    RowKind.OVER: Kind.DROPPED,
}


def _rows(row: Row) -> Iterator[tuple[Kind, str, Row]]:
    for bit, kind in BITS.items():
        turned = replace(row.kind, offset=row.kind.offset ^ int(bit))
        dropped = bool(row.kind.offset & int(bit) & (SENDS | int(RowKind.RECEIVES)))
        yield Kind.DROPPED if dropped else kind, f"{bit!r} turned", replace(row, kind=turned)
    for field in fields(row)[1:]:
        for number in _numbers(getattr(row, field.name)):
            yield Kind.LENGTH, f"{field.name} {number}", replace(row, **{field.name: number})


def _numbers(number: Number) -> Iterator[Number]:
    yield from (replace(number, offset=number.offset + more) for more in (-1, 1))
