"""The whole compiler on one screen: text in, bundle out, or every problem found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import SupportsIndex

from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.progress import under_way
from collc.checks.budgets.memory import vector_fits
from collc.driver.after import beside
from collc.driver.bundle import Bundle, LazyFiles
from collc.driver.longest import with_longest
from collc.driver.planning import Planned, architectures, planned_spec
from collc.driver.proving import prove_all, refuse_if_any
from collc.emit.clock import with_time_stamps
from collc.emit.render import render
from collc.language import parse_source
from collc.lowering.resources import left_by
from collc.lowering.root_of_call import seen_from_the_root
from collc.schedule import Schedule
from collc.spec import Collective, Reserved, Spec
from collc.target import TARGETS
from collc.tuning import decided
from collc.tuning.dynamic_length import with_limits


def compile_text(  # noqa: PLR0913 - the text, then how
    text: str,
    file: str,
    parameters: Mapping[str, SupportsIndex],
    target: str | None = None,
    skew: int = 0,
    *,
    timed: bool = False,
    name: str | None = None,
    after: Sequence[Reserved] = (),
) -> Bundle:
    """Compile a `.coll` text to a bundle, or raise CollcError with every problem found.

    `file` is the name used in messages and in the emitted comments; `target` overrides the file's
    own, `name` is what the library is called if not as the file. With a `skew` PEs wait in runs
    before each call, up to so many turns of an empty loop. A program that is `timed` has time
    stamps. What libraries have that come before it in the same kernel is not taken.
    """
    spec = replace(beside(read(text, file, parameters, target), after), library=name or "")
    spec = with_limits(with_time_stamps(spec) if timed else spec)
    return compiled(spec, skew)


def compiled(spec: Spec, skew: int = 0) -> Bundle:
    """The bundle of a Spec; raises CollcError."""
    return replace(bundle_of(planned_spec(spec)), most_idle=skew)


def bundle_of(planned: Planned) -> Bundle:
    """The bundle of a program whose plan keeps all limits."""
    spec, program, schedules, prediction = planned

    @under_way("writing CSL")
    def emitted() -> dict[str, str]:
        seen = seen_from_the_root(program)
        return render(spec, seen, schedules, prediction, architectures(program, schedules))

    return Bundle(spec, program, schedules, prediction, LazyFiles(emitted))


def read(
    text: str,
    file: str,
    parameters: Mapping[str, SupportsIndex],
    target: str | None = None,
    *,
    leave_open: bool = False,
) -> Spec:
    """What a `.coll` text says, with `leave_open` as if all steps were `auto`; raises CollcError,
    also where a PE cannot hold a vector."""
    with under_way("reading"):
        spec = parse_source(text, parameters, target, file=file, leave_open=leave_open)
    machine = TARGETS[spec.target]
    refuse_if_any(
        with_longest(problem, spec)
        for one in spec.collectives
        for problem in vector_fits(one, left_by(_reserved(spec, one), machine))
    )
    return spec


def _reserved(spec: Spec, one: Collective) -> Reserved:
    """What the kernel around a collective, or around its program, keeps for itself."""
    return spec.program.reserved if spec.program else one.limits.reserved


def prove_program(
    text: str, file: str, parameters: Mapping[str, SupportsIndex], target: str | None = None
) -> tuple[Spec, tuple[Schedule, ...]]:
    """The first half of `compile_text`: what a `.coll` text says, and schedules that are proved to
    do it."""
    spec = with_limits(parse_source(text, parameters, target, file=file))
    return spec, prove_all(spec)


def prove_text(
    text: str, file: str, parameters: Mapping[str, SupportsIndex], target: str | None = None
) -> tuple[Spec, Schedule]:
    """The same of a text whose program is one collective."""
    spec = of_one(parse_source(text, parameters, target, file=file))
    one = decided(spec.collectives[0], TARGETS[spec.target])
    spec = replace(spec, collectives=(one,))
    return spec, prove_all(spec)[0]


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
