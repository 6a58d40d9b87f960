"""A run of a program by the machine with a clock: what the templates print of it, and how long it
takes."""

from collections.abc import Sequence
from dataclasses import replace

from collc.base.columns import Ints
from collc.emit.lanes.actions import Lengths, scripts_of
from collc.emit.lanes.library import libraries_of
from collc.emit.lanes.model import LibraryModel
from collc.machine.timed import MOST_WORDS, Script, Timed, timed
from collc.plan.plan import ProgramPlan


def clocked(
    program: ProgramPlan,
    lengths: Lengths | None = None,
    starts: Ints | None = None,
    most: int = MOST_WORDS,
) -> Timed:
    """What `collc.machine.timed` finds. Raises as that does, UntimedError, and CollcError for what
    cannot be printed."""
    libraries = libraries_of(program, "")
    return timed(*scripts_of(program, _with_all(libraries, program), lengths), starts, most)


def traced(program: ProgramPlan, most: int = MOST_WORDS) -> tuple[Timed, list[Script], Ints]:
    """The same, with what there is to tell of each vector, and the scripts of PEs."""
    calls, scripts, at = scripts_of(program, _with_all(libraries_of(program, ""), program))
    return timed(calls, scripts, at, None, most, traced=True), scripts, at


def _with_all(libraries: Sequence[LibraryModel], program: ProgramPlan) -> LibraryModel:
    """The first library with a model for each collective of all of them, also of those that have
    the code of another."""
    models = [one for of in libraries for one in (*of.collectives, *(m for m, _ in of.equal))]
    named = {one.name: one for one in models}
    every = tuple(named[plan.collective.name] for plan in program.plans)
    return replace(libraries[0], collectives=every)
