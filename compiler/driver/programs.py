"""Programs of several collectives: from a Spec to a bundle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import SupportsIndex

from collc.base.diagnostics import CollcError
from collc.checks.choices import one_root
from collc.checks.program import check_program
from collc.checks.roots_of_call import roots_of_call
from collc.cost import Prediction, unmet_expectations
from collc.cost.choice import build_call_streams, build_program_plan
from collc.cost.predict import predict
from collc.cost.program import predict_program
from collc.driver.bundle import Bundle, ProgramBundle
from collc.driver.pipeline import compile_collective, proved, read, refuse_if_any
from collc.driver.remedies import with_remedies
from collc.driver.time_multiplexed import (
    fastest_time_multiplexed,
    program_of_one,
    with_exact_remedy,
    without_limits,
)
from collc.emit.clock import with_time_stamps
from collc.emit.render import render_program
from collc.emit.reserved import unusable_in_program, unusable_lengths, unusable_names
from collc.emit.spelling import spelled
from collc.language import parse_source
from collc.language.show import show_steps
from collc.lowering.root_of_call import seen_from_the_root
from collc.plan.program import ProgramPlan
from collc.proof import prove
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Program, Selection, Spec
from collc.target import TARGETS, Target
from collc.tuning import (
    TooWideError,
    decided,
    decided_for_time_multiplexing,
    decided_time_multiplexed,
)
from collc.tuning.dynamic_length import Planned, Range, ranges, with_limits
from collc.tuning.trees import with_chosen_trees


def choices_of(bundle: ProgramBundle) -> Iterator[tuple[Selection, list[Range]]]:
    """Every choice by length, with what each of its alternatives takes."""
    made = zip(bundle.plan.schedules, bundle.plan.plans, strict=True)
    of_name = {plan.collective.name: Planned(schedule, plan) for schedule, plan in made}
    for one in bundle.plan.program.selections:
        planned = [of_name[name] for name in one.names]
        texts = [show_steps(alternative.plan.collective) for alternative in planned]
        yield one, ranges(one, planned, texts)


def compile_any(  # noqa: PLR0913 - the text, then how
    text: str,
    file: str,
    parameters: Mapping[str, SupportsIndex],
    target: str | None = None,
    skew: int = 0,
    *,
    timed: bool = False,
    name: str | None = None,
) -> Bundle | ProgramBundle:
    """Compile a `.coll` text to a bundle, or raise CollcError with every problem found.

    `file` is the name used in messages and in the emitted comments; `target` overrides the file's
    own, `name` the one collective's. A `skew` makes a program even of one call, and so does a
    collective on a part of a grid, or one that keeps its limit of colors only if its phases take
    turns. One that is `timed` has time stamps.
    """
    spec = read(text, file, parameters, target, name=name)
    spec = with_limits(with_time_stamps(spec) if timed else spec)
    program = spec.program
    if program is None and (skew or spec.collectives[0].grid.site is not None):
        program = program_of_one(spec.collectives[0])
    if program is not None:
        return compile_program(spec, program, skew)
    return _alone_or_time_multiplexed(spec)


def _alone_or_time_multiplexed(spec: Spec) -> Bundle | ProgramBundle:
    """A bundle of one collective: with colors of its own for each phase if that keeps its limit."""
    given, machine = spec.collectives[0], TARGETS[spec.target]
    try:
        one = decided(given, machine)
    except TooWideError as refused:
        one = decided_time_multiplexed(given, machine, refused)
        return _time_multiplexed(spec, proved(one, machine), refused)
    schedule = proved(one, machine)
    try:
        return compile_collective(replace(spec, collectives=(one,)), schedule)
    except CollcError as refused:
        return _time_multiplexed(spec, schedule, refused)


def _time_multiplexed(spec: Spec, schedule: Schedule, refused: CollcError) -> ProgramBundle:
    """A bundle of a collective that keeps its limit of colors only if phases share colors over
    time; raises CollcError, as it is `refused`, if it does not even then."""
    machine, one = TARGETS[spec.target], schedule.collective
    problem, *others = refused.diagnostics
    if one.limits.colors is None or problem.code != "C302" or others:
        raise refused
    found = fastest_time_multiplexed(schedule, machine, one.limits.colors)
    if found is None:
        remedied = with_exact_remedy(problem, schedule, machine, one.limits.colors)
        raise CollcError([remedied])
    # what is expected is expected of the whole, not of a call that has its colors to itself
    refuse_if_any(unmet_expectations(one.expectations, *found))
    spec = replace(spec, collectives=(without_limits(one),))
    return _bundle(spec, found.plan.program, found.plan, found.prediction)


def prove_program(
    text: str, file: str, parameters: Mapping[str, SupportsIndex], target: str | None = None
) -> tuple[Spec, tuple[Schedule, ...]]:
    """The first half of `compile_any`: what a `.coll` text says, and schedules that are proved to
    do it."""
    spec = with_limits(spelled(parse_source(text, parameters, target, file=file)))
    return spec, prove_all(spec)


def compile_program(spec: Spec, program: Program, skew: int = 0) -> ProgramBundle:
    """Compile what a Spec says to a bundle, or raise CollcError with every problem found. With a
    `skew` PEs wait before each call, up to so many turns of an empty loop."""
    machine = TARGETS[spec.target]
    schedules = proved_together(spec, program)
    plan = replace(planned_program(schedules, program, machine), skewed=skew > 0)
    refuse_if_any(
        problem
        for schedule, one in zip(plan.schedules, plan.plans, strict=True)
        if one.collective.expectations
        for problem in unmet_expectations(one.collective.expectations, one, predict(schedule, one))
    )
    return _bundle(spec, program, plan, predict_program(plan), skew)


def _bundle(
    spec: Spec, program: Program, plan: ProgramPlan, prediction: Prediction, skew: int = 0
) -> ProgramBundle:
    """The bundle of a program with a plan that keeps all limits."""
    machine = TARGETS[spec.target]
    architectures = tuple(
        t.name for t in TARGETS.values() if t is machine or _fits(plan, program, t)
    )
    files = render_program(spec, seen_from_the_root(plan), prediction, architectures, skew)
    return ProgramBundle(spec, plan, prediction, files)


def proved_together(spec: Spec, program: Program) -> tuple[Schedule, ...]:
    """What `prove_all` gives, with barriers as vectors, for collectives that can be in one program;
    raises CollcError."""
    refuse_if_any(unusable_in_program(spec.collectives))
    refuse_if_any(unusable_lengths(program, spec.collectives))
    schedules = tuple(map(with_tokens, prove_all(spec)))
    refuse_if_any(one_root(program, schedules))
    return schedules


def planned_program(
    schedules: tuple[Schedule, ...], program: Program, target: Target
) -> ProgramPlan:
    """A plan that keeps all limits; raises CollcError if there is none."""
    plan = _planned(schedules, program, target)
    refuse_if_any(with_remedies(check_program(plan), plan))
    refuse_if_any(roots_of_call(plan))
    return plan


def prove_all(spec: Spec) -> tuple[Schedule, ...]:
    """A schedule for each collective, proved to do what it says; raises CollcError."""
    machine = TARGETS[spec.target]
    most = spec.program.colors if spec.program else None
    full = (decided_for_time_multiplexing(one, machine, most) for one in spec.collectives)
    schedules = tuple(build_schedule(with_chosen_trees(one, machine)) for one in full)
    refuse_if_any(
        problem
        for collective, schedule in zip(spec.collectives, schedules, strict=True)
        for problem in (*unusable_names(collective), *prove(schedule))
    )
    return schedules


def _fits(made: ProgramPlan, program: Program, target: Target) -> bool:
    """Whether there is a plan for a target whose elements travel as in the one made; then the files
    serve it, too."""
    plan = _planned(made.schedules, program, target)
    return _paired(plan) == _paired(made) and not check_program(plan)


def _paired(plan: ProgramPlan) -> list[bool]:
    return [phase.paired for one in plan.plans for phase in one.phases]


def _planned(schedules: tuple[Schedule, ...], program: Program, target: Target) -> ProgramPlan:
    build = build_call_streams if program.together else build_program_plan
    if program.has_lengths:  # registers are shared by phases whose elements go one by one (D39)
        target = replace(target, pairs=False)
    return build(schedules, program, target)
