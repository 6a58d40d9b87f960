"""Collectives elaborated again, otherwise than they are written in the file.

A collective knows what it was elaborated from (`Declared`), so a later stage can ask for the one
with all steps left to the compiler, with numbers for what it leaves open, with other steps, or, of
a choice by length, for other lengths. Each is elaborated like the file's own text, its effort
counted from zero while shapes of trees stay known, and raises `CollcError` like that.
"""

from collections.abc import Sequence
from dataclasses import replace

from collc.language.contract_of import Declared
from collc.language.dynamic_length import DeclaredChoice, alternative_for
from collc.language.elaborate import elaborate_collective
from collc.language.problems import Problems
from collc.language.step_places import StepClause
from collc.language.syntax import Clause, CollectiveDecl, Number, OrderClause
from collc.language.undecided import filled_in, opened, with_clauses
from collc.spec import Collective, Selection


def left_open(collective: Collective, *, order_too: bool) -> Collective:
    """The same with all steps, and if wanted the order, left to the compiler."""
    declared = _declared(collective)
    open_one = opened(declared.declaration)
    if order_too:
        clauses = tuple(c for c in open_one.clauses if not isinstance(c, OrderClause))
        open_one = replace(open_one, clauses=clauses)
    return _elaborated(declared, open_one)


def filled(collective: Collective, numbers: tuple[int, ...]) -> Collective:
    """The same with a number for each gap."""
    declared = _declared(collective)
    return _elaborated(declared, filled_in(declared.declaration, numbers))


def with_length(collective: Collective, length: int) -> Collective:
    """The same on vectors of so many elements."""
    declared = _declared(collective)
    contract = declared.declaration.contract
    assert contract.buffer is not None, "a vector has a buffer"
    number = Number(length, span=contract.buffer.length.span)
    buffer = replace(contract.buffer, length=number)
    changed = replace(contract, buffer=buffer)
    return _elaborated(declared, replace(declared.declaration, contract=changed))


def with_steps(collective: Collective, clauses: Sequence[Clause]) -> Collective:
    """The same with these clauses in place of the steps that it leaves open."""
    declared = _declared(collective)
    return _elaborated(declared, with_clauses(declared.declaration, clauses))


def steps_as_declared(collective: Collective) -> tuple[Clause, ...]:
    """The clauses that its steps are declared by."""
    clauses = _declared(collective).declaration.clauses
    return tuple(clause for clause in clauses if isinstance(clause, StepClause))


def alternative(selection: Selection, index: int, least: int, most: int) -> Collective:
    """An alternative of a choice, for vectors of at least and at most so many elements."""
    origin = selection.origin
    assert isinstance(origin, DeclaredChoice), "it was read from a file"
    return _elaborated(origin.declared, alternative_for(origin.choice, index, least, most))


def _declared(collective: Collective) -> Declared:
    assert isinstance(collective.origin, Declared), "it was read from a file"
    return collective.origin


def _elaborated(declared: Declared, changed: CollectiveDecl) -> Collective:
    context = declared.context
    # a copy of the algorithms has unfolded nothing yet
    anew = replace(context, forest=context.forest.anew(), algorithms=replace(context.algorithms))
    problems = Problems()
    collective = elaborate_collective(changed, declared.grids, anew, problems)
    problems.raise_if_any()
    assert collective is not None
    return collective
