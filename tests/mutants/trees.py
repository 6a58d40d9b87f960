"""Changes of plans of whole vectors: trees and multicasts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from changing import with_runs

import building as b
from collc.driver.pipeline import compile_text
from collc.lowering import candidate_plans
from collc.plan import (
    VECTOR,
    Action,
    Advance,
    ColorUse,
    Direction,
    Number,
    Op,
    Phase,
    Plan,
    Region,
    Role,
    Route,
    Strided,
)
from collc.schedule import Schedule, build_schedule
from collc.target import TARGETS
from mutants.kinds import Kind, Mutant

Run = tuple[Op, int]  # an operation, and how often it runs
Runs = tuple[Run, ...]

LONG = 40  # more elements than the queues between two PEs hold

COLLECTIVES = {
    "two_phase": b.line_reduce(b.two_phase(8, 4), LONG),
    "one_element": b.line_reduce(b.binomial(8), 1),
    "star": b.line_reduce(b.star(4), LONG),
    "rounds": b.line_reduce(b.star(5), 9000),
    "random": b.line_allreduce(b.random_tree(9, 3), LONG),
    "grid": b.grid_allreduce(b.two_phase(5, 2), b.binomial(4), LONG),
    "broadcast": b.broadcast(4, 3, 1, 1, LONG),
}

# what the language says of a vector, on trees of a row
VECTORS = {
    "pairs": "allreduce(x: (f32, u32)[9], argmax) on row { reduce chain then broadcast from 0 }",
    "strided": "reduce(x: f32[40] by 3, add) into y by 2 on row { reduce two_phase(S = 2) to 1 }",
    "into": "allreduce(x: f16[40], max) into y on row { reduce binomial then broadcast from 0 }",
    "word": "allreduce(x: f32[1], add) on row { reduce binomial to 3 then broadcast from 3 }",
}
TEXT = """target {target}
grid row = 5 x 1
collective total = {collective}
program {{ total }}
"""

# the plan with the fewest colors, moved by control wavelets too, and the one that needs none
FEWEST, MOST = 0, -1

RUNS = [
    *((name, "wse2", FEWEST) for name in COLLECTIVES),
    ("two_phase", "wse2", MOST),
    ("two_phase", "wse3", FEWEST),
    ("broadcast", "wse3", FEWEST),
]
WRITTEN = [(name, target) for name in VECTORS for target in ("wse2", "wse3")]


def plan_of(name: str, target: str, which: int) -> tuple[Schedule, Plan]:
    """A plan to change."""
    schedule = build_schedule(COLLECTIVES[name])
    return schedule, list(candidate_plans(schedule, TARGETS[target]))[which]


def plan_of_text(name: str, target: str) -> tuple[Schedule, Plan]:
    """The plan of one of `VECTORS`."""
    text = TEXT.format(target=target, collective=VECTORS[name])
    bundle = compile_text(text, "test.coll", {}, target)
    return bundle.schedule, bundle.plan


def mutants(plan: Plan) -> Iterator[Mutant[Plan]]:
    """Every plan that differs from `plan` in one thing."""
    yield from _with_other_numbers(plan)
    for at, phase in enumerate(plan.phases):
        colors = [name for name, _ in plan.colors]
        for one in _phases(phase, colors):
            phases = (*plan.phases[:at], one.changed, *plan.phases[at + 1 :])
            what = f"{phase.name}: {one.what}"
            yield Mutant(one.kind, what, replace(plan, phases=phases))


def _with_other_numbers(plan: Plan) -> Iterator[Mutant[Plan]]:
    names = [name for name, _ in plan.colors]
    numbers = [number for _, number in plan.colors]
    for kind, what, colors in (
        (Kind.COLOR, "colors reversed", tuple(zip(names, numbers[::-1], strict=True))),
        (Kind.COLOR, "one color for all", tuple((name, numbers[0]) for name in names)),
        (Kind.NUMBERS, "a color of memcpy", (*plan.colors[:-1], (names[-1], 21))),
        (Kind.NUMBERS, "a color without number", plan.colors[:-1]),
    ):
        yield Mutant(kind, what, replace(plan, colors=colors))
    for field in ("input_queues", "output_queues"):
        used = getattr(plan, field)
        for what, changed in (
            ("reversed", used[::-1]),
            ("repeated", used[:1] * len(used)),
            ("cut", used[:-1]),
            *((f"with {taken}", (*used[:-1], taken)) for taken in (0, 27, 28, 29, 30, 31)),
        ):
            yield Mutant(Kind.NUMBERS, f"{field} {what}", replace(plan, **{field: changed}))


def _phases(phase: Phase, colors: list[str]) -> Iterator[Mutant[Phase]]:
    for at, (region, index) in enumerate(phase.regions):
        before, behind = phase.regions[:at], phase.regions[at + 1 :]
        dropped = replace(phase, regions=before + behind)
        yield Mutant(Kind.DROPPED, f"region {at} dropped", dropped)
        for other in range(len(phase.roles)):
            if other != index:
                regions = (*before, (region, other), *behind)
                plays = replace(phase, regions=regions)
                yield Mutant(Kind.PLACE, f"region {at} plays {other}", plays)
        for name, moved in _regions(region):
            regions = (*before, (moved, index), *behind)
            yield Mutant(Kind.PLACE, f"region {at} {name}", replace(phase, regions=regions))
    for at, role in enumerate(phase.roles):
        for one in _roles(role, colors):
            roles = (*phase.roles[:at], one.changed, *phase.roles[at + 1 :])
            yield Mutant(one.kind, f"role {role.name} {one.what}", replace(phase, roles=roles))


def _regions(region: Region) -> Iterator[tuple[str, Region]]:
    for axis in ("x", "y"):
        run: Strided = getattr(region, axis)
        for shift in (-1, 1):
            moved = replace(run, first=run.first + shift, last=run.last + shift)
            yield f"moved {shift} in {axis}", replace(region, **{axis: moved})
        longer = replace(run, last=run.last + run.step)
        yield f"longer in {axis}", replace(region, **{axis: longer})


def _roles(role: Role, colors: list[str]) -> Iterator[Mutant[Role]]:
    for kind, what, runs in _sequences(role.repeated, colors):
        yield Mutant(kind, what, with_runs(role, runs))
    yield Mutant(Kind.DOUBLED, "with a lane twice", replace(role, lanes=role.lanes * 2))
    for kind, what, uses in color_uses(role.colors, colors):
        yield Mutant(kind, what, replace(role, colors=uses))


def _sequences(runs: Runs, colors: list[str]) -> Iterator[tuple[Kind, str, Runs]]:
    yield Kind.REORDERED, "backwards", runs[::-1]
    for at, (one, other) in enumerate(pairwise(runs)):
        yield Kind.REORDERED, f"with {at} behind", (*runs[:at], other, one, *runs[at + 2 :])
    yield Kind.DOUBLED, "with one more send", (*runs, (_send(colors[0]), 1))
    yield Kind.DOUBLED, "with one more copy", (*runs, (_copy(colors[0]), 1))
    for at, (op, turns) in enumerate(runs):
        yield Kind.DROPPED, f"without operation {at}", runs[:at] + runs[at + 1 :]
        yield Kind.DOUBLED, f"with operation {at} twice", (*runs[: at + 1], *runs[at:])
        for kind, changed in _runs(op, turns, colors):
            new = (*runs[:at], changed, *runs[at + 1 :])
            yield kind, f"with operation {at} = {changed}", new


def color_uses(
    uses: tuple[ColorUse, ...], colors: list[str]
) -> Iterator[tuple[Kind, str, tuple[ColorUse, ...]]]:
    for at, use in enumerate(uses):
        before, behind = uses[:at], uses[at + 1 :]
        yield Kind.ROUTE, f"without color {use.color}", before + behind
        for color in colors:
            new = (*before, replace(use, color=color), *behind)
            yield Kind.COLOR, f"with {color} for {use.color}", new
        for kind, name, positions in _positions(use.positions):
            new = (*before, replace(use, positions=positions), *behind)
            yield kind, f"with {use.color} {name}", new


def _send(color: str) -> Op:
    return Op(VECTOR, Action.COPY, color)


def _copy(color: str) -> Op:
    return Op(color, Action.COPY, VECTOR)


def _runs(op: Op, turns: int, colors: list[str]) -> Iterator[tuple[Kind, Run]]:
    for times in (0, 2, 3):
        if times != turns:
            yield Kind.LENGTH, (op, times)
    for kind, changed in _ops(op, colors):
        yield kind, (changed, turns)


def _ops(op: Op, colors: list[str]) -> Iterator[tuple[Kind, Op]]:
    for end in ("receive", "send"):
        was = getattr(op, end)
        for other in (VECTOR, *colors):
            if other != was:
                swapped = isinstance(was, str) and isinstance(other, str)
                yield Kind.COLOR if swapped else Kind.OTHER_WORK, replace(op, **{end: other})
    for action in Action:
        if action is not op.action:
            yield Kind.OTHER_WORK, replace(op, action=action)
    for how in Advance:
        if how is not op.advance:
            yield advancing(op.advance, how), replace(op, advance=how)
    for more in (-1, 1):
        yield Kind.LENGTH, replace(op, vectors=op.vectors + more)
        count = Number(1 + more)
        yield Kind.LENGTH, replace(op, slices=replace(op.slices, count=count))


def advancing(was: Advance, becomes: Advance) -> Kind:
    """The kind of a change of what moves routers on: where nothing did, others still need them."""
    if becomes is Advance.NOTHING:
        return Kind.NO_ADVANCE
    return Kind.EARLY_ADVANCE if was is Advance.NOTHING else Kind.MORE_ADVANCE


def _positions(
    positions: tuple[Route, ...],
) -> Iterator[tuple[Kind, str, tuple[Route, ...]]]:
    if len(positions) > 1:
        yield Kind.EARLY_ADVANCE, "backwards", positions[::-1]
    yield Kind.ROUTE, "without positions", ()
    yield Kind.MORE_ADVANCE, "with a last position twice", (*positions, positions[-1])
    for at, route in enumerate(positions):
        before, behind = positions[:at], positions[at + 1 :]
        if behind:
            yield Kind.EARLY_ADVANCE, f"without position {at}", before + behind
        elif before:
            yield Kind.NO_ADVANCE, f"without position {at}", before
        for way in Direction:
            both = tuple(w for w in Direction if w is way or w in route.send)
            for what, turned in (
                (f"receiving {way.value}", replace(route, receive=way)),
                (f"sending {way.value}", replace(route, send=(way,))),
                (f"also sending {way.value}", replace(route, send=both)),
            ):
                yield Kind.ROUTE, f"{what} in {at}", (*before, turned, *behind)
    for what, route in (
        ("then from the ramp", Route(Direction.RAMP, positions[-1].send)),
        ("then to the ramp", Route(positions[-1].receive, (Direction.RAMP,))),
        ("then the other way", Route(Direction.WEST, (Direction.EAST,))),
    ):
        yield Kind.MORE_ADVANCE, what, (*positions, route)
