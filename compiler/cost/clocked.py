"""A run of a program by the machine with a clock: what the templates print of it, and how long it
takes."""

from collections.abc import Sequence
from dataclasses import replace

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.cost.by_lines import timed_by_lines
from collc.emit.lanes.actions import Lengths, scripts_of
from collc.emit.lanes.library import libraries_of
from collc.emit.lanes.model import LibraryModel
from collc.machine.timed import MOST_WORDS, Script, Timed, timed
from collc.plan.plan import ProgramPlan


@dataclass(frozen=True)
class Clocked:
    """The cycle in which the last PE is done, and in which the last one comes to each mark."""

    cycles: int
    marks: Sequence[int]


def clocked(
    program: ProgramPlan,
    lengths: Lengths | None = None,
    starts: Ints | None = None,
    most: int = MOST_WORDS,
) -> Clocked:
    """What `collc.machine.timed` finds, line by line, where that is all there is to know. Raises as
    that does, UntimedError, and CollcError for what cannot be printed."""
    library = _with_all(libraries_of(program, ""), program)
    found = timed_by_lines(program, library, lengths, most) if starts is None else None
    if found is not None:
        return Clocked(found.cycles, found.marks)
    whole = timed(*scripts_of(program, library, lengths), starts, most)
    return Clocked(int(whole.done.max()), whole.marks)


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
