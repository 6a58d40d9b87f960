"""Old spellings of the language: read as the new ones, with a warning (C810) that names them.

They are replaced before any name is looked up, so that nothing behind knows them. Each is here for
one release after the one that brought the new spelling.
"""

from dataclasses import replace
from typing import TypeVar

from collc.base.diagnostics import Diagnostic
from collc.language import syntax

TREES = {"jump": "root_bypass"}  # of a reduction
TAKEN = {"twos": "simd"}  # behind `in` of a run

C = TypeVar("C", syntax.CollectiveDecl, syntax.AlternativeDecl)


def modernized(
    declarations: tuple[syntax.Declaration, ...],
) -> tuple[tuple[syntax.Declaration, ...], tuple[Diagnostic, ...]]:
    """The declarations with new spellings only, and a warning for each old one, in their order."""
    told: list[Diagnostic] = []
    return tuple(
        _with_new_clauses(one, told) if isinstance(one, syntax.CollectiveDecl) else one
        for one in declarations
    ), tuple(told)


def _with_new_clauses(declared: C, told: list[Diagnostic]) -> C:
    clauses = tuple(_clause(clause, told) for clause in declared.clauses)
    unchanged = all(new is old for new, old in zip(clauses, declared.clauses, strict=True))
    return declared if unchanged else replace(declared, clauses=clauses)


def _clause(clause: syntax.Clause, told: list[Diagnostic]) -> syntax.Clause:
    match clause:
        case syntax.ReduceClause(tree=tree) if tree.name.text in TREES:
            name = _word(tree.name, TREES, told)
            return replace(clause, tree=replace(tree, name=name))
        case syntax.RunClause(taken=syntax.Word(text=text) as taken) if text in TAKEN:
            return replace(clause, taken=_word(taken, TAKEN, told))
        case syntax.SelectClause(alternatives=alternatives):
            made = tuple(_with_new_clauses(one, told) for one in alternatives)
            return replace(clause, alternatives=made)
    return clause


def _word(old: syntax.Word, spelled: dict[str, str], told: list[Diagnostic]) -> syntax.Word:
    new = spelled[old.text]
    message = f"`{old.text}` is the old spelling of `{new}`, and goes in the next release"
    told.append(Diagnostic("C810", message, old.span, help=f"write `{new}`"))
    return syntax.Word(new, old.span)
