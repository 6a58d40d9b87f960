"""Collectives whose length is given when the program runs: `x: f32[n <= B]`, and `select by n`.

Every alternative of a choice becomes a collective of its own, elaborated like one that was written
out for the longest vectors that the alternative is for.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from collc.base.paths import Path
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.contracts import DeclaredCollective
from collc.language.expressions import Scope, is_auto, number
from collc.language.kinds import reserved, with_article
from collc.language.problems import KnownProblemError, Problems, problem
from collc.language.syntax import (
    AlternativeDecl,
    BufferDecl,
    Clause,
    CollectiveDecl,
    Comparison,
    FixedClause,
    Number,
    RunLengthDecl,
    SelectClause,
    Word,
)
from collc.spec import (
    Collective,
    Contract,
    ContractKind,
    Origin,
    ReduceStep,
    RunStep,
    Selection,
    Share,
    Step,
)

MAX_ALTERNATIVES = 16  # each is code in every PE
MOST_CUTS = 4096  # slices whose beginnings a PE keeps, two bytes each
ANY_LENGTH = (
    ContractKind.BROADCAST,
    ContractKind.REDUCE,
    ContractKind.ALLREDUCE,
    ContractKind.SCATTER,
    ContractKind.GATHER,
    ContractKind.ALLGATHER,
    ContractKind.REDUCE_SCATTER,
)

_HELP = "name it in the contract: `x: f32[n <= B]`"


@dataclass(frozen=True)
class DynamicLength:
    """A choice, and its alternatives."""

    selection: Selection
    alternatives: tuple[Collective, ...]


@dataclass(frozen=True)
class ChoiceContext:
    """What a choice is elaborated with: numbers, names that are taken, what elaborates a
    collective, keeping its problems, and what the choice is declared in."""

    scope: Scope
    taken: Collection[str]
    elaborate: Callable[[CollectiveDecl], Collective | None]
    declared: DeclaredCollective


@dataclass(frozen=True)
class Choice:
    """A choice as declared, with the length that it goes by."""

    declaration: CollectiveDecl
    length: RunLengthDecl
    names: tuple[str, ...]
    alternatives: tuple[AlternativeDecl, ...]


@dataclass(frozen=True, eq=False)
class DeclaredChoice(Origin):
    """What a selection was elaborated from."""

    choice: Choice
    declared: DeclaredCollective


def has_dynamic_length(declaration: CollectiveDecl) -> bool:
    """Whether a collective's length is given when the program runs, or it chooses by one."""
    buffer = declaration.contract.buffer
    return declaration.of_kind(SelectClause) != () or (
        buffer is not None and isinstance(buffer.length, Comparison)
    )


def elaborate_dynamic_length(
    declaration: CollectiveDecl, context: ChoiceContext, problems: Problems
) -> DynamicLength | None:
    """The choice and its alternatives. What is wrong goes to `problems`."""
    choice = problems.attempt(_choice, declaration, context)
    limits = None if choice is None else problems.attempt(_limits, choice, context.scope)
    if choice is None or limits is None:
        return None
    alternatives = []
    least = 1
    for index, limit in enumerate((*limits, None)):
        most = choice.length.most if limit is None else limit
        alternatives.append(context.elaborate(alternative_for(choice, index, least, most)))
        least = least if limit is None else limit + 1

    complete = tuple(one for one in alternatives if one is not None)
    if len(complete) < len(alternatives):
        return None
    length = choice.length.given(choice.length.most)
    span = next((clause.span for clause in declaration.of_kind(SelectClause)), declaration.span)
    origin = DeclaredChoice(choice, context.declared)
    selection = Selection(declaration.name.text, length, choice.names, limits, span, origin)
    return DynamicLength(selection, complete)


def refused_steps(contract: Contract, steps: tuple[Step, ...], path: Path | None) -> None:
    """Raise a problem for what cannot go by a dynamic length (C172)."""
    if contract.run_length is None:
        return
    if contract.kind not in ANY_LENGTH:
        article = "an" if contract.name[0] in "aeiou" else "a"
        who = contract.name if contract.own else f"{article} {contract.name}"
        message = f"{who} is about slices, whose lengths have to be fixed"
        if contract.kind is ContractKind.ALL_TO_ALL:
            message = "the length of an all_to_all is a multiple of the number of ranks, "
            message += "so it has to be fixed"
        help = "give it a fixed length; these may have one that is given when the program runs: "
        help += ", ".join(kind.value for kind in ANY_LENGTH)
        raise problem("C172", message, contract.span, help=help)
    noncontiguous = path.word if path is not None and path.gaps else ""
    at = (contract.run_length.span, "the length is known when the program runs")
    for step in (step for step in steps if isinstance(step, RunStep | ReduceStep)):
        why = help = ""
        if noncontiguous:
            why = f"vectors that go along {noncontiguous}, which is not contiguous, have a length "
            why += "known when compiled"
            help = "use a contiguous order"
        elif isinstance(step, RunStep):
            why, help = _refused_run(step, contract)
        if why:
            help = f"{help}, or give the collective a fixed length"
            raise problem("C172", why, step.span, at, help=help)


def _refused_run(step: RunStep, contract: Contract) -> tuple[str, str]:
    """Why an algorithm cannot go by a dynamic length, and what would help."""
    name, slices = step.algorithm.text, step.algorithm.slices
    if step.share is not Share.VECTOR and contract.kind.by_slices:
        message = f"a {contract.name} on a grid cuts vectors into blocks, whose lengths are known "
        return message + "when compiled", "run it along a path of all PEs, `order snake`"
    if step.share is not Share.VECTOR:
        return (
            f"{name} runs on slices, which have a length known when compiled",
            "run it on vectors",
        )
    if step.wide:
        return (
            f"{name} takes wavelets in simd, and slices may be of any length",
            "leave `in simd` out",
        )
    if slices > MOST_CUTS:
        message = (
            f"{name} cuts vectors into {slices} slices, and at most {MOST_CUTS} are cut while "
        )
        return message + "the program runs", "take fewer slices"
    if any((moves.into != moves.slice).any() for moves in step.algorithm.steps):
        message = f"{name} puts slices into the places of others, and they may be of other lengths "
        return message + "when the program runs", "leave slices in their places"
    return "", ""


def _choice(declaration: CollectiveDecl, context: ChoiceContext) -> Choice:
    clauses = declaration.of_kind(SelectClause)
    length = length_of(declaration, context.scope)
    if len(clauses) > 1:
        first = (clauses[0].span, "the first is here")
        help = "leave one of them out"
        raise problem("C108", "`select` is given twice", clauses[1].span, first, help=help, fix="")
    if not clauses:
        steps = tuple(c for c in declaration.clauses if _is_how(c))
        whole = AlternativeDecl(None, None, steps, span=declaration.span)
        return Choice(declaration, length, (declaration.name.text,), (whole,))
    _check_clause(clauses[0], declaration, length)
    number_of = range(1, len(clauses[0].alternatives) + 1)
    names = tuple(f"{declaration.name.text}_{i}" for i in number_of)
    check_free(names, context.taken, declaration, "an alternative")
    return Choice(declaration, length, names, clauses[0].alternatives)


def length_of(declaration: CollectiveDecl, scope: Scope) -> RunLengthDecl:
    """`n <= B` in the contract."""
    buffer, clauses = declaration.contract.buffer, declaration.of_kind(SelectClause)
    if buffer is None or not isinstance(buffer.length, Comparison):
        at = clauses[0].name
        message = f"there is no length {at.text} to choose by"
        raise problem("C170", message, at.span, (declaration.contract.span, "here"), help=_HELP)
    length = buffer.length
    name, *others = length.operands
    if not isinstance(name, syntax.Name) or length.relations != ("<=",):
        message = "a dynamic length is its name and the most that it can be"
        raise problem("C170", message, length.span, help="write `x: f32[n <= B]`")
    word = given_name(name, scope, "C170", "a dynamic length")
    most = number(others[0], scope)
    if most < 1:
        message = f"{buffer.name.text} has {most} elements; it needs at least 1"
        raise problem("C125", message, others[0].span)
    return RunLengthDecl(word, most, span=length.span)


def given_name(name: syntax.Name, scope: Scope, code: str, what: str) -> Word:
    """The name of what is given when the program runs, which is that of nothing else."""
    word = Word(name.text, name.span)
    if error := reserved(word):
        raise error
    other = "parameter" if name.text in scope.numbers else scope.others.get(name.text, "collective")
    if other != "collective":  # whose names are not in the way
        message = f"{name.text} is {with_article(other)} and cannot be {what} as well"
        raise problem(code, message, name.span, help="choose another name")
    return word


def check_free(
    names: Sequence[str], taken: Collection[str], declaration: CollectiveDecl, what: str
) -> None:
    """C108: collectives that one is made of, with names that others have."""
    for name in names:
        if name in taken:
            message = f"{name} would be {what} of {declaration.name.text}, and a collective"
            raise problem("C108", message, declaration.name.span, help="choose another name")


def _check_clause(clause: SelectClause, declaration: CollectiveDecl, length: RunLengthDecl) -> None:
    """Refuse names that are not the length's, steps beside it, and too many alternatives."""
    words = (clause.name, *(one.name for one in clause.alternatives if one.name))
    for word in words:
        if word.text != length.name.text:
            message = f"the length is called {length.name.text}, not {word.text}"
            help, name = f"write `{length.name.text}`", length.name.text
            raise problem("C170", message, word.span, (length.span, "here"), help=help, fix=name)
    beside = next((c for c in declaration.clauses if _is_how(c)), None)
    if beside is not None:
        message = "beside `select` there is nothing that all alternatives share"
        help = "write it into each alternative"
        raise problem("C170", message, beside.span, (clause.span, "here"), help=help)
    fixed = (c for one in clause.alternatives for c in one.clauses if isinstance(c, FixedClause))
    for inside in fixed:
        message = "`order fixed` holds for vectors of all lengths"
        help = "write it beside `select`, not in an alternative"
        raise problem("C170", message, inside.span, (clause.span, "here"), help=help)
    if len(clause.alternatives) > MAX_ALTERNATIVES:
        message = f"{len(clause.alternatives)} alternatives; there may be {MAX_ALTERNATIVES}"
        raise problem("C171", message, clause.alternatives[MAX_ALTERNATIVES].span)
    if not clause.alternatives or clause.alternatives[-1].name is not None:
        at = clause.alternatives[-1].span if clause.alternatives else clause.span
        message = f"nothing is said of the longest vectors, up to {length.most} elements"
        raise problem("C171", message, at, help="end with `else: ...`")


def _is_how(clause: Clause) -> bool:
    """Whether a clause says how vectors go."""
    kinds = syntax.OrderClause | syntax.ReduceClause | syntax.BroadcastClause | syntax.RunClause
    return isinstance(clause, kinds)


def _limits(choice: Choice, scope: Scope) -> tuple[int | None, ...]:
    """The longest vectors of all alternatives but the last, in rising order; None where that is
    left to the compiler."""
    found: list[int | None] = []
    least = 1
    for one in choice.alternatives[:-1]:
        if one.most is None:
            message = "`else` takes all lengths that are left, so it comes last"
            raise problem("C171", message, one.span)
        if is_auto(one.most):
            found.append(None)
            continue
        limit = number(one.most, scope)
        if not least <= limit < choice.length.most:
            most = choice.length.most
            message = f"no length is at most {limit} here: {least} to {most} are left, "
            message += "some of them for what follows"
            help = "write the limits in rising order, below the largest length of the contract"
            raise problem("C171", message, one.most.span, (choice.length.span, "here"), help=help)
        found.append(limit)
        least = limit + 1
    return tuple(found)


def alternative_for(choice: Choice, index: int, least: int, most: int) -> CollectiveDecl:
    """An alternative as a collective for vectors of `least` to `most` elements."""
    declaration = choice.declaration
    others = tuple(
        clause
        for clause in declaration.clauses
        if not _is_how(clause) and not isinstance(clause, SelectClause)
    )
    buffer = _buffer(declaration)
    length = Number(most, span=buffer.length.span)
    buffer = replace(buffer, length=length, run_length=replace(choice.length, least=least))
    return replace(
        declaration,
        name=Word(choice.names[index], declaration.name.span),
        contract=replace(declaration.contract, buffer=buffer),
        clauses=(*choice.alternatives[index].clauses, *others),
    )


def _buffer(declaration: CollectiveDecl) -> BufferDecl:
    buffer = declaration.contract.buffer
    if buffer is None:
        raise KnownProblemError
    return buffer
