"""Changes of what the collectives of a program share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from changing import advancing_by, with_runs
from programs.texts import program_of

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.lowering.teardown import with_teardown
from collc.plan import Advance, Phase, Role, closing, once
from collc.plan.form import form_of
from collc.plan.plan import ProgramPlan, Use
from mutants.kinds import Kind, Mutant
from mutants.trees import advancing

SUCCESSIONS = {
    "lines": ("two_phase", "broadcast from the middle", "chain", "binomial", 2),
    "ring": ("chain", "ring", "broadcast from the east", 3),
}
SKEW = 40


def bundle_of(name: str, target: str = "wse2", skew: int = SKEW) -> Bundle:
    """A program to change."""
    *calls, colors = SUCCESSIONS[name]
    text = program_of([str(call) for call in calls], f"within colors <= {colors}", rounds=2)
    bundle = compile_text(text, "test.coll", {"P": 6, "B": 12}, target, skew)
    return bundle


def mutants(plan: ProgramPlan) -> Iterator[Mutant[ProgramPlan]]:
    """Every plan that differs from `plan` in one thing that collectives share."""
    for i, use in enumerate(plan.uses):
        for one in _phases(plan.phase(use)):
            changed = _with_phase(plan, use, one.changed)
            yield Mutant(one.kind, f"{plan.label(use)} {one.what}", changed)
        for what, moved in _positions(use, len(plan.colors)):
            uses = (*plan.uses[:i], moved, *plan.uses[i + 1 :])
            yield Mutant(Kind.COLOR, f"{plan.label(use)} {what}", replace(plan, uses=uses))
    for i, color in enumerate(plan.colors):
        before = plan.colors[i - 1]
        for kind, what, field, value in (
            (Kind.NO_ADVANCE, "not torn down", "torn_down", False),
            (Kind.COLOR, "another number", "number", before.number),
            (Kind.NUMBERS, "another input queue", "input_queue", before.input_queue),
            (Kind.NUMBERS, "another output queue", "output_queue", before.output_queue),
            (Kind.NUMBERS, "a microthread for two", "input_queue", color.output_queue),
            (Kind.NUMBERS, "memcpy's queue", "output_queue", 0),
        ):
            other = replace(color, **{field: value})
            colors = (*plan.colors[:i], other, *plan.colors[i + 1 :])
            yield Mutant(kind, f"color {i} with {what}", replace(plan, colors=colors))


def _with_phase(plan: ProgramPlan, use: Use, phase: Phase) -> ProgramPlan:
    one = plan.plans[use.collective]
    phases = (*one.phases[: use.phase], phase, *one.phases[use.phase + 1 :])
    plans = (*plan.plans[: use.collective], replace(one, phases=phases))
    return replace(plan, plans=(*plans, *plan.plans[use.collective + 1 :]))


def _phases(phase: Phase) -> Iterator[Mutant[Phase]]:
    """The phase with other ends of its vectors: teardowns left out, added, moved."""
    for at, role in enumerate(phase.roles):
        for one in _ends(role, form_of(phase).is_cut):
            roles = (*phase.roles[:at], one.changed, *phase.roles[at + 1 :])
            yield Mutant(one.kind, f"{role.name} {one.what}", replace(phase, roles=roles))
    bare = tuple(map(advancing_by(lambda _: Advance.NOTHING), phase.roles))
    everything = {use.color for role in bare for use in role.colors}
    everywhere = with_teardown(replace(phase, roles=bare), everything)
    yield Mutant(Kind.EARLY_ADVANCE, "torn down behind all vectors", everywhere)


def _ends(role: Role, exchange: bool) -> Iterator[Mutant[Role]]:
    """The role with something else behind a vector or a lane."""
    for i, (op, turns) in enumerate(() if exchange else role.repeated):
        for advance in Advance if op.sends else ():
            if advance is not op.advance:
                changed = (replace(op, advance=advance), turns)
                runs = (*role.repeated[:i], changed, *role.repeated[i + 1 :])
                kind = advancing(op.advance, advance)
                yield Mutant(kind, f"with {advance.value}", with_runs(role, runs))
    for i, lane in enumerate(role.lanes if exchange else ()):
        closed = tuple(once(closing(color)) for color in lane.sends)
        loops = lane.table if lane.tears_down else (*lane.loops, *closed)
        lanes = (*role.lanes[:i], replace(lane, loops=loops), *role.lanes[i + 1 :])
        kind = Kind.NO_ADVANCE if lane.tears_down else Kind.EARLY_ADVANCE
        yield Mutant(kind, f"with lane {lane.name} turned", replace(role, lanes=lanes))


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
