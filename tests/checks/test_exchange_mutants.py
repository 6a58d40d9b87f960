"""A changed exchange is refused by a check, or fabsim gets the right result from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import islice

import pytest
import steps_patterns as s
from test_mutants import STRIDE, program

from collc.checks import check_plan
from collc.lowering import candidate_plans
from collc.plan import Direction, Exchange, Lane, Loop, Number, Phase, Plan, Role, Row, RowKind
from collc.target import TARGETS

Mutant = tuple[str, Plan]

LINES = {
    "ring": s.Line("ring_allreduce", 4, 35, ring=True),
    "doubling": s.Line("recursive_doubling", 4, 40),
    "all_to_all": s.Line("all_to_all", 3, 24),
    "scatter": s.Line("scatter", 4, 41),
    "neighbours": s.Line("neighbours", 3, 40),
}


def mutants(plan: Plan) -> Iterator[Mutant]:
    """Every plan that differs from `plan` in one thing."""
    phase = plan.phases[0]
    for name, changed in _phases(phase):
        yield name, replace(plan, phases=(changed,))
    for name in ("input_queues", "output_queues", "task_ids", "dsr_ids"):
        used = getattr(plan, name)
        yield f"{name} repeated", replace(plan, **{name: used[:1] * len(used)})
        yield f"{name} cut", replace(plan, **{name: used[:-1]})
        yield f"{name} with 0", replace(plan, **{name: (0, *used[1:])})
    yield "queues alike", replace(plan, input_queues=plan.output_queues)
    numbers = [number for _, number in plan.colors]
    for at, (color, _) in enumerate(plan.colors):
        shared = (*plan.colors[:at], (color, numbers[at - 1]), *plan.colors[at + 1 :])
        yield f"{color} numbered as another", replace(plan, colors=shared)


def _phases(phase: Phase) -> Iterator[tuple[str, Phase]]:
    for at, role in enumerate(phase.roles):
        for name, changed in _roles(role):
            roles = (*phase.roles[:at], changed, *phase.roles[at + 1 :])
            yield f"{role.name} {name}", replace(phase, roles=roles)
    for at, (region, index) in enumerate(phase.regions):
        before, behind = phase.regions[:at], phase.regions[at + 1 :]
        yield f"region {at} dropped", replace(phase, regions=before + behind)
        for other in range(len(phase.roles)):
            if other != index:
                changed = (*before, (region, other), *behind)
                yield f"region {at} plays {other}", replace(phase, regions=changed)
    assert phase.exchange
    for change in _exchanges(phase.exchange):
        yield f"exchange {change}", replace(phase, exchange=change)


def _exchanges(exchange: Exchange) -> Iterator[Exchange]:
    slicing = exchange.slicing
    yield replace(exchange, slicing=replace(slicing, count=slicing.count + 1))
    yield replace(exchange, areas=exchange.areas + 1)
    yield replace(exchange, areas=max(exchange.areas - 1, 0))
    yield replace(exchange, lanes=exchange.lanes[::-1])
    yield replace(exchange, lanes=exchange.lanes[:1])


def _roles(role: Role) -> Iterator[tuple[str, Role]]:
    yield "without lanes", replace(role, lanes=())
    yield "lanes reversed", replace(role, lanes=role.lanes[::-1])
    for at, lane in enumerate(role.lanes):
        for name, changed in _lanes(lane):
            lanes = (*role.lanes[:at], changed, *role.lanes[at + 1 :])
            yield f"{lane.name} {name}", replace(role, lanes=lanes)
    for at, use in enumerate(role.colors):
        yield f"without {use.color}", replace(role, colors=role.colors[:at] + role.colors[at + 1 :])
        route = use.positions[0]
        for way in Direction:
            for turned in (replace(route, receive=way), replace(route, send=(way,))):
                uses = (
                    *role.colors[:at],
                    replace(use, positions=(turned,)),
                    *role.colors[at + 1 :],
                )
                yield f"{use.color} {turned}", replace(role, colors=uses)


def _lanes(lane: Lane) -> Iterator[tuple[str, Lane]]:
    yield "without input", replace(lane, receives_on=None)
    yield "without output", replace(lane, sends_on=None)
    yield "the other way round", replace(lane, receives_on=lane.sends_on, sends_on=lane.receives_on)
    for at, loop in enumerate(lane.loops):
        before, behind = lane.loops[:at], lane.loops[at + 1 :]
        yield f"without loop {at}", replace(lane, loops=before + behind)
        yield f"loop {at} twice", replace(lane, loops=(*before, loop, loop, *behind))
        for name, changed in _loops(loop):
            yield f"loop {at} {name}", replace(lane, loops=(*before, changed, *behind))


def _loops(loop: Loop) -> Iterator[tuple[str, Loop]]:
    for number in _numbers(loop.turns):
        yield f"turns {number}", replace(loop, turns=number)
    for number in _numbers(loop.shift):
        yield f"shift {number}", replace(loop, shift=number)
    for at, row in enumerate(loop.rows):
        before, behind = loop.rows[:at], loop.rows[at + 1 :]
        yield f"without row {at}", replace(loop, rows=before + behind)
        yield f"row {at} twice", replace(loop, rows=(*before, row, row, *behind))
        for name, changed in _rows(row):
            yield f"row {at} {name}", replace(loop, rows=(*before, changed, *behind))


def _rows(row: Row) -> Iterator[tuple[str, Row]]:
    for bit in RowKind:
        kind = replace(row.kind, offset=row.kind.offset ^ int(bit))
        yield f"{bit!r} turned", replace(row, kind=kind)
    for field in fields(row)[1:]:
        for number in _numbers(getattr(row, field.name)):
            yield f"{field.name} {number}", replace(row, **{field.name: number})


def _numbers(number: Number) -> Iterator[Number]:
    yield from (replace(number, offset=number.offset + more) for more in (-1, 1))


RUNS = [*((name, "wse2") for name in LINES), ("doubling", "wse3")]


@pytest.mark.parametrize(("name", "target"), RUNS)
def test_a_mutant_that_passes_the_checks_delivers(name, target):
    schedule = LINES[name].schedule()
    plan = next(candidate_plans(schedule, TARGETS[target]))
    assert check_plan(schedule, plan) == ()
    refused, holes, seen = 0, [], {program(s.texts_of(schedule, plan))}
    for what, mutant in islice(mutants(plan), 0, None, STRIDE):
        if check_plan(schedule, mutant):
            refused += 1
            continue
        texts = s.texts_of(schedule, mutant)
        if program(texts) not in seen:
            seen.add(program(texts))
            problem, _ = s.outcome(texts, schedule, target)
            holes += [f"{what}: {problem}"] if problem else []
    assert not holes, "\n".join([f"{len(holes)} holes", *holes])
    assert refused * STRIDE > 100
