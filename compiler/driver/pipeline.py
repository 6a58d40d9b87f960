"""The whole compiler on one screen: text in, bundle out, or every problem found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import SupportsIndex

from collc.base.diagnostics import CollcError, Diagnostic
from collc.checks import check_plan
from collc.checks.memory import vector_fits
from collc.cost import Prediction, predict, unmet_expectations
from collc.cost.choice import build_plan
from collc.driver.bundle import Bundle
from collc.emit.render import render
from collc.emit.reserved import unusable_names
from collc.emit.spelling import spelled
from collc.language import parse_source
from collc.lowering.resources import left_by
from collc.plan import Plan
from collc.proof import prove
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Collective, Reserved, Spec
from collc.target import TARGETS, Target
from collc.tuning import decided_for_turns
from collc.tuning.trees import with_chosen_trees


def compile_text(
    text: str, file: str, parameters: Mapping[str, SupportsIndex], target: str | None = None
) -> Bundle:
    """Compile a `.coll` text whose program is one collective to a bundle, or raise CollcError with
    every problem found. `collc.driver.programs.compile_any` takes all programs.

    `file` is the name used in messages and in the emitted comments; `target` overrides the
    file's own.
    """
    return compile_collective(*_proved_alone(read(text, file, parameters, target)))


def read(  # noqa: PLR0913 - the text, then how
    text: str,
    file: str,
    parameters: Mapping[str, SupportsIndex],
    target: str | None = None,
    *,
    leave_open: bool = False,
    name: str | None = None,
) -> Spec:
    """What a `.coll` text says, with `leave_open` as if all steps were `auto`, the one collective
    called `name` if that is given; raises CollcError, also where a PE cannot hold a vector."""
    spec = parse_source(text, parameters, target, file=file, leave_open=leave_open)
    spec = spelled(spec if name is None else _renamed(spec, name))
    machine = TARGETS[spec.target]
    refuse_if_any(
        problem
        for one in spec.collectives
        for problem in vector_fits(one, left_by(_reserved(spec, one), machine))
    )
    return spec


def _renamed(spec: Spec, name: str) -> Spec:
    """The same with another name for its one collective."""
    if spec.program is not None:
        message = "a program of several collectives has a name for each, and cannot have another"
        help = "leave out the name, or name one collective in `program { ... }`"
        raise CollcError([Diagnostic("C107", message, spec.program.span, help=help)])
    return replace(spec, collectives=(replace(spec.collectives[0], name=name),))


def _reserved(spec: Spec, one: Collective) -> Reserved:
    """What the kernel around a collective, or around its program, keeps for itself."""
    return spec.program.reserved if spec.program else one.limits.reserved


def compile_collective(spec: Spec, schedule: Schedule) -> Bundle:
    """Compile the one collective of a Spec, whose schedule is proved, to a bundle."""
    grid = schedule.collective.grid
    if grid.site is not None:
        message = f"a collective on a part of {grid.whole.name} is compiled as a program"
        help = "compile it with `collc.compile`, or `collc build`; or run it on a grid of its own"
        raise CollcError([Diagnostic("C107", message, schedule.collective.span, help=help)])
    schedule = with_tokens(schedule)
    plan, prediction = planned(schedule, TARGETS[spec.target])
    refuse_if_any(unmet_expectations(schedule.collective.expectations, plan, prediction))
    architectures = tuple(
        t.name for t in TARGETS.values() if t.name == spec.target or fits(schedule, plan, t)
    )
    files = render(spec, schedule, plan, prediction, architectures)
    return Bundle(spec, plan, prediction, files, schedule)


def prove_text(
    text: str, file: str, parameters: Mapping[str, SupportsIndex], target: str | None = None
) -> tuple[Spec, Schedule]:
    """The first half of `compile_text`: what a `.coll` text says, and a schedule that is proved to
    do it."""
    return _proved_alone(spelled(parse_source(text, parameters, target, file=file)))


def _proved_alone(spec: Spec) -> tuple[Spec, Schedule]:
    machine = TARGETS[of_one(spec).target]
    one = decided_for_turns(spec.collectives[0], machine)
    return replace(spec, collectives=(one,)), proved(one, machine)


def of_one(spec: Spec) -> Spec:
    """The Spec, if its program is one collective; raises CollcError."""
    if spec.program is not None and spec.program.selections:
        message = "this is about a collective of one length, and the program is given its own"
        help = f"say how long its vectors are, without a `{spec.program.lengths[0][0]} <=`; "
        help += "what each alternative takes is in the table of `collc cost`"
        raise CollcError([Diagnostic("C107", message, spec.program.span, help=help)])
    if spec.program is not None:
        message = "this is about one collective, and the program runs several, or several times"
        help = "name one of them in `program { ... }`"
        raise CollcError([Diagnostic("C107", message, spec.program.span, help=help)])
    return spec


def proved(collective: Collective, machine: Target) -> Schedule:
    """A schedule that is proved to do what a collective says; raises CollcError."""
    schedule = build_schedule(with_chosen_trees(collective, machine))
    refuse_if_any(unusable_names(collective))
    refuse_if_any(prove(schedule))
    return schedule


def planned(schedule: Schedule, target: Target) -> tuple[Plan, Prediction]:
    """A plan that keeps all limits, and its prediction; raises CollcError if there is none."""
    machine = left_by(schedule.collective.limits.reserved, target)
    plan = build_plan(schedule, machine)
    refuse_if_any(check_plan(schedule, plan))
    return plan, predict(schedule, plan)


def refuse_if_any(diagnostics: Iterable[Diagnostic]) -> None:
    """Raise CollcError if there is any diagnostic."""
    found = list(diagnostics)
    if found:
        raise CollcError(found)


def fits(schedule: Schedule, plan: Plan, target: Target) -> bool:
    """Whether the plan, made for one target, keeps the limits of another as well."""
    left = left_by(schedule.collective.limits.reserved, target)
    return not check_plan(schedule, replace(plan, target=left))
