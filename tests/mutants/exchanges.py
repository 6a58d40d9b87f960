"""Changes of plans of exchanges: entries, lanes, circuits and relays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import steps_patterns as s
from changing import with_lane_colors

from collc.lowering import candidate_plans
from collc.plan import (
    VECTOR,
    ZERO,
    Action,
    Buffer,
    Direction,
    Entry,
    Lane,
    Loop,
    Memory,
    Number,
    Op,
    Phase,
    Plan,
    Role,
    closing,
    once,
)
from collc.plan.entries import puts_out
from collc.plan.plan import Once
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


def plan_of(name: str, target: str) -> tuple[Schedule, Plan]:
    """A plan to change."""
    schedule = LINES[name].schedule()
    return schedule, next(candidate_plans(schedule, TARGETS[target]))


def mutants(plan: Plan) -> Iterator[Mutant[Plan]]:
    """Every plan that differs from `plan` in one thing."""
    yield from by_phase(plan, _phases)
    for name in ("input_queues", "output_queues"):
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


def by_phase(
    plan: Plan, changes: Callable[[Phase], Iterator[Mutant[Phase]]]
) -> Iterator[Mutant[Plan]]:
    """The plans in which one phase is another."""
    for at, phase in enumerate(plan.phases):
        where = f"{phase.name}: " if len(plan.phases) > 1 else ""
        for one in changes(phase):
            phases = (*plan.phases[:at], one.changed, *plan.phases[at + 1 :])
            yield Mutant(one.kind, f"{where}{one.what}", replace(plan, phases=phases))


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
    yield from _cuts(phase)


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


def _loop_first_sent(loop: Loop | Once) -> Loop | Once:
    entries = (part for one in loop.entries for part in _first_sent(one))
    return replace(loop, entries=tuple(entries))


def _cuts(phase: Phase) -> Iterator[Mutant[Phase]]:
    more = replace(phase.slicing, count=phase.slicing.count + 1)
    yield Mutant(Kind.LENGTH, "a slice more", replace(phase, slicing=more))
    for kind, lanes in ((Kind.OTHER_WORK, phase.lanes[::-1]), (Kind.DROPPED, phase.lanes[:1])):
        yield Mutant(kind, f"lanes {lanes}", replace(phase, lanes=lanes))


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
    receives, sends = lane.receives_on or "", lane.sends_on or ""
    yield Kind.DROPPED, "without input", with_lane_colors(lane, "", sends)
    yield Kind.DROPPED, "without output", with_lane_colors(lane, receives, "")
    yield Kind.COLOR, "the other way round", with_lane_colors(lane, sends, receives)
    for color in colors:
        yield Kind.COLOR, f"receives on {color}", with_lane_colors(lane, color, sends)
        yield Kind.COLOR, f"sends on {color}", with_lane_colors(lane, receives, color)
    for color in lane.sends:
        torn_down = replace(lane, loops=(*lane.loops, once(closing(color))))
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


def _loops(loop: Loop | Once) -> Iterator[tuple[Kind, str, Loop | Once]]:
    for number in _numbers(loop.turns) if isinstance(loop, Loop) else ():
        yield Kind.LENGTH, f"turns {number}", replace(loop, turns=number)
    for number in _numbers(loop.shift) if isinstance(loop, Loop) else ():
        yield Kind.LENGTH, f"shift {number}", replace(loop, shift=number)
    for at, (one, other) in enumerate(pairwise(loop.entries)):
        entries = (*loop.entries[:at], other, one, *loop.entries[at + 2 :])
        yield Kind.REORDERED, f"entry {at} behind", replace(loop, entries=entries)
    for at, entry in enumerate(loop.entries):
        for kind, what, changed in _entries(entry):
            entries = (*loop.entries[:at], *changed, *loop.entries[at + 1 :])
            yield kind, f"entry {at} {what}", replace(loop, entries=entries)


def _entries(entry: Entry) -> Iterator[tuple[Kind, str, tuple[Entry, ...]]]:
    """What stands in place of an entry."""
    yield Kind.DROPPED, "dropped", ()
    yield Kind.DOUBLED, "twice", (entry, entry)
    if len(_first_sent(entry)) > 1:
        yield Kind.QUEUE_DEPTH, "sends, then receives", _first_sent(entry)
    for number in _numbers(entry.ends_step):
        yield Kind.REORDERED, f"ends {number}", (replace(entry, ends_step=number),)
    for at, op in enumerate(entry.ops):
        before, behind = entry.ops[:at], entry.ops[at + 1 :]
        yield Kind.DROPPED, f"without {op}", (replace(entry, ops=before + behind),)
        for kind, changed in _ops(op):
            ops = (*before, changed, *behind)
            yield kind, f"with {changed}", (replace(entry, ops=ops),)


def _first_sent(entry: Entry) -> tuple[Entry, ...]:
    """An entry that sends and one that receives: where partners both do so, all that is sent has to
    find room in queues."""
    out = tuple(op for op in entry.ops if puts_out(op))
    into = tuple(op for op in entry.ops if not puts_out(op))
    if not out or not into:
        return (entry,)
    return Entry(out), replace(entry, ops=into)


STAGE = Memory(Buffer.STAGE)


def _ops(op: Op) -> Iterator[tuple[Kind, Op]]:
    yield from _ends(op)
    for action in Action:
        if action is not op.action:
            yield Kind.OTHER_WORK, replace(op, action=action)
    for number in _numbers(op.where):
        yield Kind.DROPPED if number == ZERO else Kind.OTHER_WORK, replace(op, where=number)
    for field in ("first", "count"):
        for number in _numbers(getattr(op.slices, field)):
            slices = replace(op.slices, **{field: number})
            yield Kind.LENGTH, replace(op, slices=slices)
    turned = replace(op.slices, backward=not op.slices.backward)
    yield Kind.REORDERED, replace(op, slices=turned)
    for number in _numbers(op.elements) if op.elements is not None else ():
        yield Kind.LENGTH, replace(op, elements=number)
    yield Kind.DOUBLED, replace(op, vectors=2)


def _ends(op: Op) -> Iterator[tuple[Kind, Op]]:
    for end in ("receive", "send"):
        was = getattr(op, end)
        for other in (VECTOR, STAGE, Memory(Buffer.STAGE, 1), ""):
            if isinstance(was, Memory) and other != was:
                kind = Kind.REORDERED if isinstance(other, Memory) else Kind.OTHER_WORK
                yield kind, replace(op, **{end: other})
            elif other == VECTOR:
                yield Kind.OTHER_WORK, replace(op, **{end: other})


def _numbers(number: Number) -> Iterator[Number]:
    yield from (replace(number, offset=number.offset + more) for more in (-1, 1))
