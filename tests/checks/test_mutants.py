"""A changed plan is refused by a check, or fabsim gets the right result from it all the same."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

import pytest

import building as b
from collc.checks import check_plan
from collc.cost import Prediction
from collc.emit.render import render
from collc.lowering import candidate_plans
from collc.plan import (
    Advance,
    CopyVector,
    Direction,
    Phase,
    Plan,
    Region,
    Role,
    Route,
    SendVector,
    Step,
    StoreVectors,
    Strided,
)
from collc.run import RunError, run_bundle
from collc.schedule import Schedule, build_schedule
from collc.spec import Collective, Spec
from collc.target import TARGETS

Mutant = tuple[str, Plan]

# every how manieth mutant is looked at; COLLC_MUTANTS=1 takes them all
STRIDE = int(os.environ.get("COLLC_MUTANTS", "3"))

LONG = 40  # more elements than the queues between two PEs hold

COLLECTIVES = {
    "two_phase": b.line_reduce(b.two_phase(8, 4), LONG),
    "one_element": b.line_reduce(b.binomial(8), 1),
    "star": b.line_reduce(b.star(4), LONG),
    "rounds": b.line_reduce(b.star(5), 10000),
    "random": b.line_allreduce(b.random_tree(9, 3), LONG),
    "grid": b.grid_allreduce(b.two_phase(5, 2), b.binomial(4), LONG),
    "broadcast": b.broadcast(4, 3, 1, 1, LONG),
}

# the plan with the fewest colors, moved by control wavelets too, and the one that needs none
FEWEST, MOST = 0, -1

RUNS = [
    *((name, "wse2", FEWEST) for name in COLLECTIVES),
    ("two_phase", "wse2", MOST),
    ("two_phase", "wse3", FEWEST),
    ("broadcast", "wse3", FEWEST),
]


def mutants(plan: Plan) -> Iterator[Mutant]:
    """Every plan that differs from `plan` in one thing."""
    yield from _with_other_numbers(plan)
    for at, phase in enumerate(plan.phases):
        colors = [name for name, _ in plan.colors]
        for name, changed in _phases(phase, colors):
            phases = (*plan.phases[:at], changed, *plan.phases[at + 1 :])
            yield f"{phase.name}: {name}", replace(plan, phases=phases)


def _with_other_numbers(plan: Plan) -> Iterator[Mutant]:
    names = [name for name, _ in plan.colors]
    numbers = [number for _, number in plan.colors]
    yield "colors reversed", replace(plan, colors=tuple(zip(names, numbers[::-1], strict=True)))
    yield "one color for all", replace(plan, colors=tuple((name, numbers[0]) for name in names))
    yield "a color of memcpy", replace(plan, colors=(*plan.colors[:-1], (names[-1], 21)))
    yield "a color without number", replace(plan, colors=plan.colors[:-1])
    for field in ("input_queues", "output_queues", "task_ids", "dsr_ids"):
        used = getattr(plan, field)
        yield f"{field} reversed", replace(plan, **{field: used[::-1]})
        yield f"{field} repeated", replace(plan, **{field: used[:1] * len(used)})
        yield f"{field} cut", replace(plan, **{field: used[:-1]})
        for reserved in (0, 27, 28, 29, 30, 31):
            yield f"{field} with {reserved}", replace(plan, **{field: (*used[:-1], reserved)})


def _phases(phase: Phase, colors: list[str]) -> Iterator[tuple[str, Phase]]:
    for at, (region, index) in enumerate(phase.regions):
        before, behind = phase.regions[:at], phase.regions[at + 1 :]
        yield f"region {at} dropped", replace(phase, regions=before + behind)
        for other in range(len(phase.roles)):
            if other != index:
                regions = (*before, (region, other), *behind)
                yield f"region {at} plays {other}", replace(phase, regions=regions)
        for name, moved in _regions(region):
            regions = (*before, (moved, index), *behind)
            yield f"region {at} {name}", replace(phase, regions=regions)
    for at, role in enumerate(phase.roles):
        for name, changed in _roles(role, colors):
            roles = (*phase.roles[:at], changed, *phase.roles[at + 1 :])
            yield f"role {role.name} {name}", replace(phase, roles=roles)


def _regions(region: Region) -> Iterator[tuple[str, Region]]:
    for axis in ("x", "y"):
        run: Strided = getattr(region, axis)
        for shift in (-1, 1):
            moved = replace(run, first=run.first + shift, last=run.last + shift)
            yield f"moved {shift} in {axis}", replace(region, **{axis: moved})
        longer = replace(run, last=run.last + run.step)
        yield f"longer in {axis}", replace(region, **{axis: longer})


def _roles(role: Role, colors: list[str]) -> Iterator[tuple[str, Role]]:
    steps, uses = role.steps, role.colors
    yield "backwards", replace(role, steps=steps[::-1])
    yield "with one more send", replace(role, steps=(*steps, _send(colors[0])))
    yield "with one more copy", replace(role, steps=(*steps, CopyVector(colors[0])))
    for at, step in enumerate(steps):
        yield f"without step {at}", replace(role, steps=steps[:at] + steps[at + 1 :])
        yield f"with step {at} twice", replace(role, steps=(*steps[: at + 1], *steps[at:]))
        for changed in _steps(step, colors):
            new = (*steps[:at], changed, *steps[at + 1 :])
            yield f"with step {at} = {changed}", replace(role, steps=new)
    for at, use in enumerate(uses):
        yield f"without color {use.color}", replace(role, colors=uses[:at] + uses[at + 1 :])
        for color in colors:
            changed_use = replace(use, color=color)
            new_uses = (*uses[:at], changed_use, *uses[at + 1 :])
            yield f"with {color} for {use.color}", replace(role, colors=new_uses)
        for name, positions in _positions(use.positions):
            new_uses = (*uses[:at], replace(use, positions=positions), *uses[at + 1 :])
            yield f"with {use.color} {name}", replace(role, colors=new_uses)


def _send(color: str) -> SendVector:
    return SendVector(color, None, Advance.NOTHING)


def _steps(step: Step, colors: list[str]) -> Iterator[Step]:
    yield from (replace(step, color=color) for color in colors if color != step.color)
    if isinstance(step, StoreVectors):
        yield from (replace(step, vectors=step.vectors + more) for more in (-1, 1))
        yield from (replace(step, rounds=rounds) for rounds in (0, 2, 3) if rounds != step.rounds)
        yield CopyVector(step.color)
    elif isinstance(step, SendVector):
        yield from (replace(step, advance=how) for how in Advance if how is not step.advance)
        others = (color for color in (None, *colors) if color != step.combines_from)
        yield from (replace(step, combines_from=color) for color in others)
        yield CopyVector(step.color)
    else:
        yield _send(step.color)
        yield StoreVectors(step.color, 1, 1)


def _positions(positions: tuple[Route, ...]) -> Iterator[tuple[str, tuple[Route, ...]]]:
    yield "backwards", positions[::-1]
    yield "without positions", ()
    yield "with a last position twice", (*positions, positions[-1])
    for at, route in enumerate(positions):
        before, behind = positions[:at], positions[at + 1 :]
        if len(positions) > 1:
            yield f"without position {at}", before + behind
        for way in Direction:
            yield f"receiving {way.value} in {at}", (*before, replace(route, receive=way), *behind)
            yield f"sending {way.value} in {at}", (*before, replace(route, send=(way,)), *behind)
            both = tuple(w for w in Direction if w is way or w in route.send)
            yield f"also sending {way.value} in {at}", (*before, replace(route, send=both), *behind)
    yield "then from the ramp", (*positions, Route(Direction.RAMP, positions[-1].send))
    yield "then to the ramp", (*positions, Route(positions[-1].receive, (Direction.RAMP,)))
    yield "then the other way", (*positions, Route(Direction.WEST, (Direction.EAST,)))


def texts_of(collective: Collective, schedule: Schedule, plan: Plan) -> dict[str, str]:
    """The emitted text of a plan, whatever it takes."""
    name = plan.target.name
    spec = Spec("test.coll", name, (), (collective,))
    return render(spec, schedule, plan, Prediction(0, 0, {}, ()), (name,))


def outcome(texts: Mapping[str, str], schedule: Schedule, arch: str) -> str:
    """What fabsim says of the emitted text; empty when the result is right."""
    try:
        return run_bundle(texts, schedule, arch, seed=1, repeats=2).problem
    except RunError as error:
        return str(error)


def program(texts: Mapping[str, str]) -> tuple[str, ...]:
    """What fabsim reads of a bundle, without the comments."""
    return tuple(
        "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//"))
        for name, text in texts.items()
        if name.endswith(".csl")
    )


@pytest.mark.parametrize(("name", "target", "which"), RUNS)
def test_a_mutant_that_passes_the_checks_delivers(name, target, which):
    collective = COLLECTIVES[name]
    schedule = build_schedule(collective)
    plan = list(candidate_plans(schedule, TARGETS[target]))[which]
    assert check_plan(schedule, plan) == ()
    refused, holes, seen = 0, [], {program(texts_of(collective, schedule, plan))}
    for what, mutant in islice(mutants(plan), 0, None, STRIDE):
        if check_plan(schedule, mutant):
            refused += 1
            continue
        texts = texts_of(collective, schedule, mutant)
        if program(texts) not in seen:
            seen.add(program(texts))
            problem = outcome(texts, schedule, target)
            holes += [f"{what}: {problem}"] if problem else []
    assert not holes, "\n".join([f"{len(holes)} holes", *holes])
    assert refused * STRIDE > 100


def test_the_two_plans_of_one_tree_differ_in_their_control_wavelets():
    plans = list(candidate_plans(build_schedule(COLLECTIVES["two_phase"]), TARGETS["wse2"]))
    advances = [
        {step.advance for role in plan.phases[0].roles for step in role.steps if sends(step)}
        for plan in (plans[FEWEST], plans[MOST])
    ]
    assert [Advance.CONTROL in found for found in advances] == [True, False]


def sends(step: Step) -> bool:
    return isinstance(step, SendVector)
