"""Collectives whose root is given when the program runs: `broadcast from r < P`.

What a PE does depends on where the root is: behind it, before it, or the PE itself. For each of
these there is a collective with a fixed root, elaborated as if it were written out.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from collc.language import syntax
from collc.language.declared_names import reserved
from collc.language.dynamic_length import has_dynamic_length, length_of
from collc.language.expressions import Scope, number
from collc.language.lines import Lines
from collc.language.parser import not_supported
from collc.language.problems import problem
from collc.language.syntax import (
    BroadcastClause,
    Clause,
    CollectiveDecl,
    Comparison,
    Number,
    RunLengthDecl,
    Word,
)
from collc.spec import Collective, ContractKind, RootChoice, RunLength

SUFFIXES = ("behind", "root", "before")  # where a PE is, seen from the root


@dataclass(frozen=True)
class RootOfCall:
    """The choice, and the collectives that PEs choose from."""

    choice: RootChoice
    alternatives: tuple[Collective, ...]


def has_root_of_call(declaration: CollectiveDecl) -> bool:
    """Whether a collective's root is given when the program runs."""
    return any(isinstance(place, Comparison) for place in map(_place, declaration.clauses))


def _place(clause: Clause) -> object:
    if isinstance(clause, BroadcastClause | syntax.RunClause):
        return clause.root
    return clause.to if isinstance(clause, syntax.ReduceClause) else None


def elaborate_root_of_call(
    declaration: CollectiveDecl,
    scope: Scope,
    taken: Collection[str],
    lines_of: Callable[[CollectiveDecl], Lines | None],
    elaborate: Callable[[CollectiveDecl], Collective | None],
) -> RootOfCall | None:
    """The choice and its alternatives; None where an alternative has problems, which are kept.
    Raises ProblemError."""
    clause = _only_step(declaration)
    word, most = _root(clause, scope)
    lines = lines_of(declaration)
    line = lines.single if lines is not None else None
    if lines is None:
        return None
    if line is None or lines.path is not None or line.ring:
        what = "a root that is given when the program runs, along anything but a row or a column"
        raise not_supported(what, clause.root.span)
    if not 1 <= most <= line.length:
        message = f"{word.text} is a rank below {most}, and the line has {line.length} ranks"
        raise problem("C174", message, clause.root.span, help=f"write `{word.text} < RANKS`")
    names = tuple(f"{declaration.name.text}_{suffix}" for suffix in SUFFIXES)
    for name in names:
        if name in taken:
            message = f"{name} would be a part of {declaration.name.text}, and a collective"
            raise problem("C108", message, declaration.name.span, help="choose another name")
    length = length_of(declaration, scope) if has_dynamic_length(declaration) else None
    roots = (0, line.length // 2, line.length - 1)
    found = [
        elaborate(_written(declaration, clause, name, root, length))
        for name, root in zip(names, roots, strict=True)
    ]
    alternatives = tuple(one for one in found if one is not None)
    if len(alternatives) < len(found):
        return None
    _check_contract(alternatives[0], clause)
    axis = "x" if line is lines.horizontal else "y"
    choice = RootChoice(
        name=declaration.name.text,
        root=word.text,
        ranks=most,
        names=(names[0], names[1], names[2]),
        axis=axis,
        places=line.places,
        span=clause.root.span,
        length=_length(length),
        first=alternatives[0],
    )
    return RootOfCall(choice, alternatives)


def _length(said: RunLengthDecl | None) -> RunLength | None:
    if said is None:
        return None
    return RunLength(said.name.text, said.most, said.span, 1, said.most)


def _only_step(declaration: CollectiveDecl) -> BroadcastClause:
    """The step whose root is given when the program runs; there is no other."""
    kinds = BroadcastClause | syntax.ReduceClause | syntax.RunClause | syntax.SelectClause
    steps = [clause for clause in declaration.clauses if isinstance(clause, kinds)]
    rooted = next(one for one in steps if isinstance(_place(one), Comparison))
    if not isinstance(rooted, BroadcastClause) or len(steps) > 1:
        what = "a root that is given when the program runs, of anything but a single `broadcast`"
        raise not_supported(what, rooted.span)
    if declaration.contract.into is not None:
        what = "a result apart from the vectors, with a root that is given when the program runs"
        raise not_supported(what, declaration.contract.into.span)
    return rooted


def _root(clause: BroadcastClause, scope: Scope) -> tuple[Word, int]:
    """The name of `r < P`, and what it is below."""
    said = clause.root
    assert isinstance(said, Comparison)
    name, *others = said.operands
    if not isinstance(name, syntax.Name) or said.relations != ("<",):
        message = "a root that is given when the program runs is its name and the number of ranks"
        raise problem("C174", message, said.span, help="write `broadcast from r < P`")
    word = Word(name.text, name.span)
    for error in reserved(word):
        raise error
    if name.text in scope.numbers or name.text in scope.others:
        what = scope.others.get(name.text, "parameter")
        message = f"{name.text} is a {what} and cannot be a root of the call as well"
        raise problem("C174", message, name.span, help="choose another name")
    return word, number(others[0], scope)


def _check_contract(one: Collective, clause: BroadcastClause) -> None:
    if one.contract.kind is not ContractKind.BROADCAST:
        what = f"a root that is given when the program runs in a contract {one.contract.name}"
        raise not_supported(what, clause.root.span)


def _written(
    declaration: CollectiveDecl,
    clause: BroadcastClause,
    name: str,
    root: int,
    length: RunLengthDecl | None,
) -> CollectiveDecl:
    """The collective with this root, under another name."""
    fixed = replace(clause, root=Number(root, span=clause.root.span))
    clauses = tuple(fixed if one is clause else one for one in declaration.clauses)
    written = replace(declaration, name=Word(name, declaration.name.span), clauses=clauses)
    buffer = declaration.contract.buffer
    if length is None or buffer is None:
        return written
    most = Number(length.most, span=length.span)
    buffer = replace(buffer, length=most, run_length=length)
    return replace(written, contract=replace(declaration.contract, buffer=buffer))
