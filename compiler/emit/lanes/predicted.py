"""What a program of lanes takes, by the machine with a clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from collc.base.columns import Ints
from collc.cost import Prediction
from collc.emit.lanes.actions import Lengths, UntimedError, scripts_of
from collc.emit.lanes.library import libraries_of
from collc.emit.lanes.model import LibraryModel
from collc.machine.timed import Timed, TooLongError, timed
from collc.plan.plan import ProgramPlan

OTHER_TEXT = "these are cycles of the text of forms; those of lanes are not predicted"


def predicted(
    program: ProgramPlan,
    bounds: Prediction,
    lengths: Lengths | None = None,
    starts: Ints | None = None,
) -> Prediction:
    """The cycles of a program with some dynamic lengths, whose PEs begin at `starts`, and where
    they go; with the bound of another prediction, but not that of trees, which is one of another
    text's start-up. Where the clock lacks something, or too many words have to be followed one by
    one, it is the other prediction, of the text of forms, and its note says so. Raises CollcError
    for what is not printed as lanes."""
    libraries = libraries_of(program, "")
    try:
        found = timed(*scripts_of(program, _with_all(libraries, program), lengths), starts)
    except (TooLongError, UntimedError) as lacks:
        return replace(bounds, note=f"{OTHER_TEXT}: {lacks}")
    cycles = int(found.done.max())
    breakdown: dict[str, int] = {}
    for name, part in _parts(program, found):
        breakdown[name] = breakdown.get(name, 0) + part
    if program.alone:
        breakdown["completion"] = cycles - sum(breakdown.values())
    return replace(bounds, cycles=cycles, breakdown=breakdown, critical_path=(), tree_bound=None)


def _with_all(libraries: Sequence[LibraryModel], program: ProgramPlan) -> LibraryModel:
    """The first library with a model for each collective of all of them, also of those that have
    the code of another."""
    models = [one for of in libraries for one in (*of.collectives, *(m for m, _ in of.equal))]
    named = {one.name: one for one in models}
    every = tuple(named[plan.collective.name] for plan in program.plans)
    return replace(libraries[0], collectives=every)


def _parts(program: ProgramPlan, found: Timed) -> Iterator[tuple[str, int]]:
    """By how many cycles each phase, or each call of a program, moves the end."""
    marks = found.marks
    if program.alone:
        names = [phase.name for phase in program.plans[0].phases]
        yield "start", marks[0] if marks else 0
    else:
        named = [program.plans[call].collective.name for call in program.calls]
        names = named * program.program.rounds
    for name, begins, ends in zip(names, marks, marks[1:], strict=False):
        yield name, ends - begins
