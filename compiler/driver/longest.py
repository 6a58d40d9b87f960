"""How long the vectors of a program may be, where one alone exceeds a PE's memory."""

from dataclasses import replace

from collc.base.diagnostics import CollcError, Diagnostic, Edit
from collc.driver.planning import planned_spec
from collc.language.elaborate import with_length
from collc.spec import Spec

_MOST_TRIES = 8
_MOST_PES = 4096  # planning more takes seconds, for a program that is refused
_MOST_UNDECIDED = 16  # choosing takes longer than planning


def with_longest(problem: Diagnostic, spec: Spec) -> Diagnostic:
    """C308 about the vector of the only collective, with the most elements that its plan leaves
    room for. A plan says how many its own code leaves room for; another length may have another
    code, so that one is planned, too. Where that is not done, there is no fix."""
    one, unknown = spec.collectives[0], replace(problem, fix=())
    most = _MOST_PES if one.undecided is None else _MOST_UNDECIDED
    if spec.program is not None or not problem.fix or one.grid.width * one.grid.height > most:
        return unknown
    for _ in range(_MOST_TRIES):
        (edit,) = problem.fix
        try:
            shorter = with_length(one, int(edit.text))
            planned_spec(replace(spec, collectives=(shorter,)))
        except CollcError as error:
            (first, *_) = error.diagnostics
            if first.code != problem.code or not first.fix:
                return unknown
            problem = replace(problem, help=first.help, fix=(Edit(edit.at, first.fix[0].text),))
        else:
            return problem
    return unknown
