"""What becomes of changed plans: refused by which check, right all the same, or wrong.

What checks let pass has to be right on fabsim. With all checks off, fabsim is the one that has to
name the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import steps_patterns
from with_schedules import check_plan, check_program, render, run_program

import fabsim
from collc.base.diagnostics import CollcError, Diagnostic
from collc.checks import FORM
from collc.checks.program import PROGRAM_CHECKS
from collc.driver.planning import roots_of_call
from collc.lowering.root_of_call import seen_from_the_root
from collc.machine.prediction import Prediction
from collc.plan import Plan
from collc.plan.one_call import of_one_call
from collc.run import RunError
from collc.schedule import Schedule
from collc.spec import Spec
from mutants import exchanges, programs, roots, streams, trees
from mutants.kinds import Mutant

Texts = Mapping[str, str]

FORM_OF_ONE = tuple(name for name in FORM if name not in PROGRAM_CHECKS)

RIGHT, SAME = "right all the same", "the same program"
UNWRITABLE, UNCOMPILED, WRONG = "cannot be written as a program", "does not compile", "wrong result"


@dataclass(frozen=True)
class Subject:
    """A valid plan, what changes it, and how a changed one is checked, written and run; `run` gives
    what is wrong with the result, or raises what fabsim raises."""

    name: str
    plan: Any
    mutants: Callable[[Any], Iterator[Mutant[Any]]]
    check: Callable[[Any], Sequence[Diagnostic]]
    texts: Callable[[Any], Texts]
    run: Callable[[Any, Texts], str]
    seen: set[tuple[str, ...]] = field(default_factory=set)


def tree(name: str, target: str, which: int) -> Subject:
    """A plan of `mutants.trees`."""
    schedule, plan = trees.plan_of(name, target, which)
    return _whole(f"{name} {target} {len(plan.colors)} colors", schedule, plan)


def vector(name: str, target: str) -> Subject:
    """A plan of `mutants.trees.VECTORS`."""
    return _whole(f"{name} {target}", *trees.plan_of_text(name, target))


def _whole(name: str, schedule: Schedule, plan: Plan) -> Subject:
    """A plan of whole vectors, run twice."""
    target = plan.target.name
    return Subject(
        name,
        plan,
        trees.mutants,
        check_plan,
        lambda changed: texts_of(schedule, changed),
        lambda changed, texts: (
            run_program(texts, of_one_call(changed), target, seed=1, repeats=2).problem
        ),
    )


def exchange(name: str, target: str) -> Subject:
    """A plan of `mutants.exchanges`, of which everything that a PE holds is compared."""
    schedule, plan = exchanges.plan_of(name, target)
    return Subject(
        f"{name} {target}",
        plan,
        exchanges.mutants,
        check_plan,
        lambda changed: texts_of(schedule, changed),
        lambda _, texts: steps_patterns.run(texts, schedule, target, 2)[0],
    )


def stream(name: str, target: str) -> Subject:
    """A plan of `mutants.streams`, of which what the contract promises is compared."""
    schedule, plan = streams.plan_of(name, target)
    return Subject(
        f"{name} {target}",
        plan,
        streams.mutants,
        check_plan,
        lambda changed: texts_of(schedule, changed),
        lambda changed, texts: (
            run_program(texts, of_one_call(changed), target, seed=1, repeats=3).problem
        ),
    )


def program(name: str, target: str = "wse2") -> Subject:
    """A plan of `mutants.programs`."""
    bundle = programs.bundle_of(name, target)

    def texts(changed: Any) -> Texts:
        return render(bundle.spec, changed, Prediction(0, 0, {}), ())

    return Subject(
        f"program of {name} {target}",
        bundle.program,
        programs.mutants,
        check_program,
        texts,
        lambda changed, made: (
            run_program(
                made, changed, bundle.spec.target, seed=5, most_idle=bundle.most_idle
            ).problem
        ),
    )


def root_of_call(kind: str, target: str) -> Subject:
    """A plan of `mutants.roots`, run with each rank as the root in turn. What a collective's own
    checks refuse is not looked at as a program, nor that compared with the plans of other roots."""
    bundle = roots.bundle_of(kind, target)
    turns = {"r": tuple(range(roots.RANKS))}

    def check(changed: Any) -> Sequence[Diagnostic]:
        apart = tuple(p for one in changed.plans for p in check_plan(numbered(one), FORM_OF_ONE))
        return apart or check_program(changed) or tuple(roots_of_call(changed))

    def texts(changed: Any) -> Texts:
        seen = seen_from_the_root(changed)
        return render(bundle.spec, seen, Prediction(0, 0, {}), (target,))

    return Subject(
        f"root of the call of {kind} {target}",
        bundle.program,
        roots.mutants,
        check,
        texts,
        lambda changed, made: (
            run_program(made, changed, target, seed=5, repeats=2, lengths=turns).problem
        ),
    )


def makers() -> Iterator[Callable[[], Subject]]:
    """What makes every plan that is changed."""
    yield from (partial(tree, *run) for run in trees.RUNS)
    yield from (partial(vector, *run) for run in trees.WRITTEN)
    yield from (partial(exchange, *run) for run in exchanges.RUNS)
    yield from (partial(stream, *run) for run in streams.RUNS)
    yield from (partial(program, name) for name in (*programs.SUCCESSIONS, *programs.APART))
    yield from (partial(root_of_call, *run) for run in roots.RUNS)


def all_subjects() -> Iterator[Subject]:
    """Every plan that is changed."""
    yield from (make() for make in makers())


def numbered(plan: Plan) -> Plan:
    """A plan of a program with a color of its own for each phase."""
    return replace(plan, colors=tuple((name, at) for at, (name, _) in enumerate(plan.colors)))


def texts_of(schedule: Schedule, plan: Plan) -> dict[str, str]:
    """The emitted text of a plan, whatever it takes."""
    name = plan.target.name
    spec = Spec("test.coll", name, (), (schedule.collective,))
    return render(spec, of_one_call(plan), Prediction(0, 0, {}), (name,))


def judge(subject: Subject, mutant: Mutant[Any]) -> tuple[tuple[str, ...], str]:
    """The codes by which a mutant is refused, or else what fabsim makes of it. What is printed of
    no plan is refused when it is printed."""
    found = subject.check(mutant.changed)
    if found:
        return tuple(sorted({problem.code for problem in found})), ""
    try:
        texts = subject.texts(mutant.changed)
    except CollcError as refused:
        return tuple(sorted({problem.code for problem in refused.diagnostics})), ""
    if not subject.seen:
        subject.seen.add(without_comments(subject.texts(subject.plan)))
    if without_comments(texts) in subject.seen:
        return (), SAME
    subject.seen.add(without_comments(texts))
    return (), outcome(subject, mutant, texts)


def without_checks(subject: Subject, mutant: Mutant[Any]) -> str:
    """What becomes of a mutant that no check has seen."""
    try:
        texts = subject.texts(mutant.changed)
    except Exception:  # plans that no check has seen may lack anything
        return UNWRITABLE
    return outcome(subject, mutant, texts)


def outcome(subject: Subject, mutant: Mutant[Any], texts: Texts) -> str:
    """What fabsim says of a mutant's text: how it fails, then why."""
    try:
        problem = subject.run(mutant.changed, texts)
    except (RunError, fabsim.CslError, fabsim.SimulationError) as error:
        cause = error.__cause__ or error
        return f"{getattr(cause, 'kind', UNCOMPILED)}: {error}"
    return f"{WRONG}: {problem}" if problem else RIGHT


def without_comments(texts: Texts) -> tuple[str, ...]:
    """What fabsim reads of a bundle."""
    return tuple(
        "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//"))
        for name, text in texts.items()
        if name.endswith(".csl")
    )
