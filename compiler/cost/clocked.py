"""A run of a program by the machine with a clock: what the templates print of it, and how long it
takes."""

from collections.abc import Sequence

import numpy as np

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.cost.by_lines import timed_by_lines, told_by_lines
from collc.emit.lanes.actions import Lengths, scripts_of
from collc.emit.lanes.library import libraries_of
from collc.machine.timed import MOST_WORDS, Told, timed, told_of
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
    libraries = libraries_of(program, "")
    found = timed_by_lines(program, libraries[0], lengths, most) if starts is None else None
    if found is not None:
        return Clocked(found.cycles, found.marks)
    whole = timed(*scripts_of(program, libraries, lengths), starts, most)
    return Clocked(int(whole.done.max()), whole.marks)


def told(program: ProgramPlan, most: int = MOST_WORDS) -> list[Told]:
    """What such a run has to tell of each vector; line by line of the lines that end last."""
    libraries = libraries_of(program, "")
    by_lines = told_by_lines(program, libraries[0], most)
    if by_lines is not None:
        return by_lines
    calls, scripts, at = scripts_of(program, libraries)
    found = timed(calls, scripts, at, None, most, traced=True)
    return [told_of(found, scripts, at, np.arange(len(at)))]
