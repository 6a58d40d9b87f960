"""Changes of what the collectives of a program share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from changing import advancing_by, with_runs
from programs.texts import program_of

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.lowering.teardown import with_teardown
from collc.plan import Advance, Phase, Plan, Role, closing, once
from collc.plan.form import form_of
from collc.plan.plan import ProgramPlan, SharedColor, Use
from mutants.kinds import Kind, Mutant
from mutants.trees import advancing

SUCCESSIONS = {  # calls whose phases have so many colors in turn
    "lines": ("two_phase", "broadcast from the middle", "chain", "binomial", 2),
    "ring": ("chain", "ring", "broadcast from the east", 3),
}
APART = {"lanes": ("ring", "two_phase", "broadcast from the middle")}  # with colors of their own
SKEW = 40


def bundle_of(name: str, target: str = "wse2", skew: int = SKEW) -> Bundle:
    """A program to change."""
    *calls, limit = (*APART[name], "") if name in APART else SUCCESSIONS[name]
    within = f"within colors <= {limit}" if limit else ""
    text = program_of([str(call) for call in calls], within, rounds=2)
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
        for kind, what, other in _numbers(color, plan.colors[i - 1]):
            colors = (*plan.colors[:i], other, *plan.colors[i + 1 :])
            yield Mutant(kind, f"color {i} with {what}", replace(plan, colors=colors))
    for i, one in enumerate(() if plan.in_turn else plan.plans):
        for what, changed in _queues(one):
            plans = (*plan.plans[:i], changed, *plan.plans[i + 1 :])
            yield Mutant(
                Kind.NUMBERS, f"{one.collective.name} with {what}", replace(plan, plans=plans)
            )


def _numbers(color: SharedColor, before: SharedColor) -> Iterator[tuple[Kind, str, SharedColor]]:
    """A color with numbers of the one before it."""
    yield Kind.NO_ADVANCE, "not torn down", replace(color, torn_down=False)
    yield Kind.COLOR, "another number", replace(color, number=before.number)
    if color.queues and before.queues:
        (into, out), (other_in, other_out) = color.queues, before.queues
        for what, queues in (
            ("another input queue", (other_in, out)),
            ("another output queue", (into, other_out)),
            ("a microthread for two", (out, out)),
            ("memcpy's queue", (into, 0)),
        ):
            yield Kind.NUMBERS, what, replace(color, queues=queues)


def _queues(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """A plan with other queues of each of its lanes."""
    for field in ("input_queues", "output_queues"):
        numbers = getattr(plan, field)
        others = {*plan.target.output_queues, *plan.input_queues, 0}
        for at, number in enumerate(numbers):
            for other in sorted(others - {number}):
                changed = (*numbers[:at], other, *numbers[at + 1 :])
                yield f"{other} in the {field} at {at}", replace(plan, **{field: changed})


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
