"""A run of a program by the machine with a clock: what the templates print of it, and how long it
takes."""

from dataclasses import replace

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import Latest
from collc.cost.by_lines import Clocked, timed_by_lines, told_by_lines
from collc.emit.library import libraries_of
from collc.emit.scripts import Lengths, scripts_of
from collc.lowering.root_of_call import seen_from_the_root
from collc.machine.reading import places_of
from collc.machine.timed import MOST_WORDS, NOT_SO, Told, timed, told_of
from collc.plan import Plan
from collc.plan.alike import Alike
from collc.plan.one_call import adds_nothing, of_one_call
from collc.plan.plan import ProgramPlan


def clocked(
    program: ProgramPlan,
    lengths: Lengths | None = None,
    starts: Ints | None = None,
    most: int = MOST_WORDS,
) -> Clocked:
    """What `collc.machine.timed` finds, line by line, where that is all there is to know. Raises as
    that does, and CollcError for what cannot be printed."""
    if adds_nothing(program) and not lengths and starts is None:
        return clocked_once(program.plans[0], most)
    return _clocked(program, lengths, starts, most)


def clocked_once(plan: Plan, most: int = MOST_WORDS) -> Clocked:
    """The same of a collective that is called once. It is kept: a plan is followed when it is
    chosen, and again when it is predicted."""
    return _KNOWN.find(Alike(plan), lambda: _clocked(of_one_call(plan), None, None, most))


_HELD = 256  # plans
_KNOWN = Latest[Alike, Clocked](_HELD, _HELD, lambda _: 1)


def _clocked(
    program: ProgramPlan, lengths: Lengths | None, starts: Ints | None, most: int
) -> Clocked:
    program = seen_from_the_root(program)
    libraries = libraries_of(program, "")
    found = timed_by_lines(program, libraries[0], lengths, most) if starts is None else None
    if found is not None:
        return found
    whole = timed(*scripts_of(program, libraries, lengths), starts, most)
    return Clocked(int(whole.done.max()), whole.marks)


def told(program: ProgramPlan, most: int = MOST_WORDS) -> list[Told]:
    """What a run of one collective has to tell of each vector, with numbers of PEs in the part of
    the grid that it is on, the first of those that do the same; line by line of the lines that end
    last."""
    libraries = libraries_of(program, "")
    by_lines = told_by_lines(program, libraries[0], most)
    if by_lines is not None:
        return by_lines
    calls, scripts, at = scripts_of(program, libraries)
    found = timed(calls, scripts, at, None, most, traced=True)
    of_part = np.full(len(at), NOT_SO)
    places = places_of(program.plans[0].collective.grid)[0]
    of_part[places] = np.arange(len(places))
    pieces = found.pieces[of_part[found.pieces[:, 0]] != NOT_SO]
    return [told_of(replace(found, pieces=pieces), scripts, at, of_part)]
