"""From what a program says to schedules that are proved to do it."""

from collections.abc import Iterable

from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.progress import under_way
from collc.checks.choices import one_root
from collc.emit.reserved import unusable_in_program, unusable_lengths, unusable_names
from collc.proof import prove
from collc.schedule import Schedule, build_schedule
from collc.schedule.barrier_tokens import with_tokens
from collc.spec import Collective, Program, Spec
from collc.target import TARGETS, Target
from collc.tuning import decided_within
from collc.tuning.trees import with_chosen_trees


def refuse_if_any(diagnostics: Iterable[Diagnostic]) -> None:
    """Raise CollcError if there is any diagnostic."""
    found = list(diagnostics)
    if found:
        raise CollcError(found)


def proved(collective: Collective, machine: Target) -> Schedule:
    """A schedule that is proved to do what a collective says in full; raises CollcError."""
    return _proved((collective,), machine)[0]


def prove_all(spec: Spec) -> tuple[Schedule, ...]:
    """A schedule for each collective, proved to do what it says; raises CollcError."""
    machine = TARGETS[spec.target]
    most = spec.program.colors if spec.program else None
    full = (decided_within(one, machine, most) for one in spec.collectives)
    return _proved(tuple(full), machine)


def _proved(collectives: tuple[Collective, ...], machine: Target) -> tuple[Schedule, ...]:
    schedules = tuple(build_schedule(with_chosen_trees(one, machine)) for one in collectives)
    with under_way("proving"):
        refuse_if_any(
            problem
            for schedule in schedules
            for problem in (*unusable_names(schedule.collective), *prove(schedule))
        )
    return schedules


def proved_together(spec: Spec, program: Program) -> tuple[Schedule, ...]:
    """What `prove_all` gives, with barriers as vectors, for collectives that can be in one program;
    raises CollcError."""
    refuse_if_any(unusable_in_program(spec.collectives))
    refuse_if_any(unusable_lengths(program, spec.collectives))
    schedules = tuple(map(with_tokens, prove_all(spec)))
    refuse_if_any(one_root(program, schedules))
    return schedules
