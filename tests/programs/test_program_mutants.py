"""A changed plan of a program is refused, or its collectives come out right all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from programs.texts import program_of

from collc.checks.program import check_program
from collc.cost.program import predict_program
from collc.emit.render import render_program
from collc.lowering.teardown import with_teardown
from collc.plan import Advance, Phase, SendVector
from collc.program import ProgramPlan, Use
from collc.programs import ProgramBundle, compile_any
from collc.run import RunError
from collc.run_program import run_program

Mutant = tuple[str, ProgramPlan]

SUCCESSIONS = {
    "lines": ("two_phase", "broadcast from the middle", "chain", "binomial", 2),
    "ring": ("chain", "ring", "broadcast from the east", 3),
}
SKEW = 40


def program(name: str) -> ProgramBundle:
    *calls, colors = SUCCESSIONS[name]
    text = program_of([str(call) for call in calls], f"within colors <= {colors}", rounds=2)
    bundle = compile_any(text, "test.coll", {"P": 6, "B": 12}, None, SKEW)
    assert isinstance(bundle, ProgramBundle)
    return bundle


def mutants(plan: ProgramPlan) -> Iterator[Mutant]:
    """Every plan that differs from `plan` in one thing that collectives share."""
    for i, use in enumerate(plan.uses):
        for what, phase in _phases(plan.phase(use)):
            yield f"{plan.label(use)} {what}", _with_phase(plan, use, phase)
        for what, changed in _positions(use, len(plan.colors)):
            uses = (*plan.uses[:i], changed, *plan.uses[i + 1 :])
            yield f"{plan.label(use)} {what}", replace(plan, uses=uses)
    for i, color in enumerate(plan.colors):
        for what, changed_color in (
            ("not torn down", replace(color, torn_down=False)),
            ("another number", replace(color, number=plan.colors[i - 1].number)),
            ("another input queue", replace(color, input_queue=plan.colors[i - 1].input_queue)),
            ("another output queue", replace(color, output_queue=plan.colors[i - 1].output_queue)),
            ("a microthread for two", replace(color, input_queue=color.output_queue)),
            ("memcpy's queue", replace(color, output_queue=0)),
        ):
            colors = (*plan.colors[:i], changed_color, *plan.colors[i + 1 :])
            yield f"color {i} with {what}", replace(plan, colors=colors)
    for i, _ in enumerate(plan.task_ids):
        ids = (*plan.task_ids[:i], 29, *plan.task_ids[i + 1 :])
        yield f"task {i} is that of teardowns", replace(plan, task_ids=ids)
    yield "a task too few", replace(plan, task_ids=plan.task_ids[:-1])


def _with_phase(plan: ProgramPlan, use: Use, phase: Phase) -> ProgramPlan:
    one = plan.plans[use.collective]
    phases = (*one.phases[: use.phase], phase, *one.phases[use.phase + 1 :])
    plans = (*plan.plans[: use.collective], replace(one, phases=phases))
    return replace(plan, plans=(*plans, *plan.plans[use.collective + 1 :]))


def _phases(phase: Phase) -> Iterator[tuple[str, Phase]]:
    """The phase with other ends of its vectors: teardowns left out, added, moved."""
    for at, role in enumerate(phase.roles):
        for i, step in enumerate(role.steps):
            for advance in Advance if isinstance(step, SendVector) else ():
                if isinstance(step, SendVector) and advance is not step.advance:
                    changed = replace(step, advance=advance)
                    steps = (*role.steps[:i], changed, *role.steps[i + 1 :])
                    roles = (*phase.roles[:at], replace(role, steps=steps), *phase.roles[at + 1 :])
                    yield f"{role.name} with {advance.value}", replace(phase, roles=roles)
        for i, lane in enumerate(role.lanes):
            other = replace(lane, tears_down=not lane.tears_down)
            lanes = (*role.lanes[:i], other, *role.lanes[i + 1 :])
            roles = (*phase.roles[:at], replace(role, lanes=lanes), *phase.roles[at + 1 :])
            yield f"{role.name} with lane {lane.name} turned", replace(phase, roles=roles)
    bare = tuple(
        replace(
            role,
            steps=tuple(
                replace(s, advance=Advance.NOTHING) if isinstance(s, SendVector) else s
                for s in role.steps
            ),
        )
        for role in phase.roles
    )
    everything = {use.color for role in bare for use in role.colors}
    yield "torn down behind all vectors", with_teardown(replace(phase, roles=bare), everything)


def _positions(use: Use, colors: int) -> Iterator[tuple[str, Use]]:
    names = [name for name, _ in use.positions]
    turned = zip(names, [k for _, k in use.positions][::-1], strict=True)
    yield "colors exchanged", replace(use, positions=tuple(turned))
    yield "on one color", replace(use, positions=tuple((name, 0) for name in names))
    for i, (name, k) in enumerate(use.positions):
        for other in range(colors):
            if other != k:
                positions = (*use.positions[:i], (name, other), *use.positions[i + 1 :])
                yield f"{name} on {other}", replace(use, positions=positions)


@pytest.mark.parametrize("name", SUCCESSIONS)
def test_a_changed_program_is_refused_or_right(name: str) -> None:
    bundle = program(name)
    assert not check_program(bundle.plan)
    refused, right = 0, []
    for what, mutant in mutants(bundle.plan):
        if check_program(mutant):
            refused += 1
            continue
        prediction = predict_program(mutant)
        texts = render_program(bundle.spec, mutant, prediction, (), SKEW)
        try:
            report = run_program(texts, mutant, bundle.spec.target, seed=5)
        except RunError as error:
            pytest.fail(f"{what}: passes the checks, but {error}")
        assert report.verified, f"{what}: {report.problem}"
        right.append(what)
    assert refused > 30, refused
    # two colors that change places are another program that is right
    assert len(right) < refused / 2, right
