"""A run of a program by the machine with a clock: what the templates print of it, and how long it
takes."""

from collections.abc import Sequence

from collc.base.columns import Ints
from collc.base.values import dataclass
from collc.cost.by_lines import timed_by_lines
from collc.emit.lanes.actions import Lengths, scripts_of
from collc.emit.lanes.library import libraries_of
from collc.lowering.root_of_call import seen_from_the_root
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
    seen = seen_from_the_root(program)
    libraries = libraries_of(seen, "")
    found = timed_by_lines(seen, libraries[0], lengths, most) if starts is None else None
    if found is not None:
        return Clocked(found.cycles, found.marks)
    whole = timed(*scripts_of(seen, libraries, lengths), starts, most)
    return Clocked(int(whole.done.max()), whole.marks)


def traced(program: ProgramPlan, most: int = MOST_WORDS) -> tuple[Timed, list[Script], Ints]:
    """The same, with what there is to tell of each vector, and the scripts of PEs."""
    calls, scripts, at = scripts_of(program, libraries_of(program, ""))
    return timed(calls, scripts, at, None, most, traced=True), scripts, at
