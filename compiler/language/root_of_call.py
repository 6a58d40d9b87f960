"""Collectives whose root is given when the program runs: `broadcast from r < P`, `reduce chain to
r < P`, `run mine(root = r) from r < P`.

The root is a number that the steps may name, and the collective is elaborated for each, as if it
were written out. What a PE does depends on where the root is: behind it, before it, or the PE
itself; for each of these there is a collective that PEs choose.
"""

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import replace

from collc.base.diagnostics import Edit, Span
from collc.base.rewrite import rewritten
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.dynamic_length import check_free, given_name, has_dynamic_length, length_of
from collc.language.expressions import Scope, number
from collc.language.grids import Lines
from collc.language.parser import not_supported
from collc.language.problems import ProblemError, problem
from collc.language.syntax import (
    BroadcastClause,
    CollectiveDecl,
    Comparison,
    Number,
    RunLengthDecl,
    StepClause,
    Word,
)
from collc.language.undecided import is_whole, leaves_open
from collc.spec import Collective, ContractKind, RootChoice

SUFFIXES = ("behind", "root", "before")  # where a PE is, seen from the root


@dataclass(frozen=True)
class RootOfCall:
    """The choice, and the collectives that PEs choose from."""

    choice: RootChoice
    alternatives: tuple[Collective, ...]


def has_root_of_call(declaration: CollectiveDecl) -> bool:
    """Whether a collective's root is given when the program runs."""
    return any(isinstance(place, Comparison) for place in map(_place, declaration.clauses))


def _place(clause: object) -> object:
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
    lines = lines_of(declaration)
    if lines is None:
        return None
    declaration = _decided(declaration, along_path=lines.path is not None)
    said = _only_root(declaration)
    word, most = _root(said, scope)
    line = lines.single
    if line is None or line.ring or (lines.path is not None and not _follows(declaration, lines)):
        raise _along_no_line(declaration, said, lines)
    if not 1 <= most <= line.length:
        message = f"{word.text} is a rank below {most}, and the line has {line.length} ranks"
        right = f"{word.text} < {line.length}"
        raise problem("C174", message, said.span, help=f"write `{right}`", fix=right)
    names = tuple(f"{declaration.name.text}_{suffix}" for suffix in SUFFIXES)
    check_free(names, taken, declaration, "a part")
    length = length_of(declaration, scope) if has_dynamic_length(declaration) else None
    by_root = []
    for root in range(line.length):
        name = names[0] if root == 0 else names[2] if root == line.length - 1 else names[1]
        one = elaborate(_written(declaration, said, name, root, length))
        if one is None:
            return None
        _check_contract(one, said)
        by_root.append(replace(one, root_of_call=True))
    alternatives = (by_root[0], by_root[line.length // 2], by_root[-1])
    choice = RootChoice(
        name=declaration.name.text,
        root=word.text,
        ranks=most,
        names=(names[0], names[1], names[2]),
        axis="x" if line is lines.horizontal else "y",
        places=line.places,
        span=said.span,
        length=length.given(length.most) if length else None,
        by_root=tuple(by_root[:most]),
    )
    named = zip(alternatives, names, strict=True)
    return RootOfCall(choice, tuple(replace(one, name=name) for one, name in named))


def _follows(declaration: CollectiveDecl, lines: Lines) -> bool:
    """Whether all that a collective does follows its path, from place to neighbouring place: a
    multicast takes the shortest way over the grid, and what a PE does then depends on the root."""
    multicasts = any(isinstance(one, BroadcastClause) for one in declaration.clauses)
    return lines.path is not None and not lines.path.gaps and not multicasts


def _along_no_line(declaration: CollectiveDecl, said: Comparison, lines: Lines) -> ProblemError:
    """C106: the ranks do not follow each other along a row or a column; on one, their order is at
    fault."""
    orders, grid = declaration.of_kind(syntax.OrderClause), lines.grid
    if orders and grid.is_line:
        words = ", ".join(use.name.text for use in orders[0].uses)
        what = f"`order {words}` with a root that is given when the program runs"
        return not_supported(what, orders[0].span, help="leave the order out", fix="")
    what = "a root that is given when the program runs, along anything but a row or a column"
    place = f"each row of {grid.name}"
    fix = None if orders or declaration.place.lines else (Edit(declaration.place.span, place),)
    return not_supported(what, said.span, help=f"put the collective on `{place}`", fix=fix)


def _only_root(declaration: CollectiveDecl) -> Comparison:
    """What is said of the root that is given when the program runs; there is one."""
    kinds = BroadcastClause | syntax.ReduceClause | syntax.RunClause | syntax.SelectClause
    steps = [clause for clause in declaration.clauses if isinstance(clause, kinds)]
    said = [place for place in map(_place, steps) if isinstance(place, Comparison)]
    chooses = next((one for one in steps if isinstance(one, syntax.SelectClause)), None)
    if chooses is not None or len(said) > 1:
        what = "a root that is given when the program runs, of anything but steps for all lengths"
        at = chooses.span if chooses is not None else said[1].span
        what = what if chooses is not None else "a second root of the call"
        raise not_supported(what, at, help="give a number for one of them")
    if leaves_open(declaration):
        what = "`auto` with a root that is given when the program runs"
        help = _HELPS[declaration.contract.kind.text]
        raise not_supported(what, said[0].span, help=help)
    return said[0]


_HELPS = defaultdict(
    lambda: "leave nothing open",
    {
        "broadcast": "write `run auto from r < RANKS`, or `broadcast from r < RANKS`",
        "reduce": "write `run auto to r < RANKS`, or `reduce chain to r < RANKS`",
        "scatter": "write `run auto from r < RANKS`",
        "gather": "write `run auto to r < RANKS`",
    },
)


def _decided(declaration: CollectiveDecl, *, along_path: bool) -> CollectiveDecl:
    """The same with steps for `run auto`, of which one way serves every root: a multicast, also of
    what is dealt out, since filters count from the root; for a reduction a chain on each side, and
    for a gather an algorithm on each side. A multicast does not go along a path: there vectors go
    to each side by themselves."""
    kind = declaration.contract.kind.text
    steps = [clause for clause in declaration.clauses if isinstance(clause, StepClause)]
    run = steps[0] if len(steps) == 1 else None
    if not isinstance(run, syntax.RunClause) or not is_whole(run) or run.root is None:
        return declaration
    decided: tuple[syntax.Clause, ...] = (run,)
    starts = kind in (ContractKind.BROADCAST.value, ContractKind.SCATTER.value)
    if starts and along_path:
        decided = _by_sides(run, ContractKind.BROADCAST.value)
    elif starts:
        decided = (BroadcastClause(run.root, span=run.span),)
    elif kind == ContractKind.REDUCE.value:
        chain = replace(run.algorithm, name=Word("chain", run.algorithm.span))
        decided = (syntax.ReduceClause(None, chain, None, run.root, span=run.span),)
    elif kind == ContractKind.GATHER.value:
        decided = _by_sides(run, kind)
    clauses = (new for one in declaration.clauses for new in (decided if one is run else (one,)))
    return replace(declaration, clauses=tuple(clauses))


def _by_sides(run: syntax.RunClause, kind: str) -> tuple[syntax.RunClause, ...]:
    """Slices of the ranks behind the root, then of those before it, by the prelude's halves."""
    root = run.root
    assert isinstance(root, Comparison)
    given = syntax.Argument(Word("root", root.span), root.operands[0], span=root.span)

    def side(name: str, at: Span) -> syntax.TreeUse:
        return syntax.TreeUse(Word(f"_{kind}_{name}", at), (given,), span=at)

    # steps are told apart by their places
    behind, before = side("behind", run.algorithm.span), side("before", run.span)
    return (
        replace(run, algorithm=behind, end=None, root=None, span=behind.span),
        replace(run, algorithm=before, then=True),
    )


def _root(said: Comparison, scope: Scope) -> tuple[Word, int]:
    """The name of `r < P`, and what it is below."""
    name, *others = said.operands
    if not isinstance(name, syntax.Name) or said.relations != ("<",):
        message = "a root that is given when the program runs is its name and the number of ranks"
        raise problem("C174", message, said.span, help="write `r < P`")
    word = given_name(name, scope, "C174", "a root of the call")
    return word, number(others[0], scope)


def _check_contract(one: Collective, said: Comparison) -> None:
    if not one.contract.kind.rooted:
        what = f"a root that is given when the program runs in a contract {one.contract.name}"
        help = "a root is for broadcast, reduce, gather and scatter: leave it out"
        raise not_supported(what, said.span, help=help)


def _written(
    declaration: CollectiveDecl,
    said: Comparison,
    name: str,
    root: int,
    length: RunLengthDecl | None,
) -> CollectiveDecl:
    """The collective with this root, under another name."""
    (word, *_) = said.operands
    assert isinstance(word, syntax.Name), "a root of the call has a name"

    def with_root(part: object) -> object:
        """A number for `r < P` and for the name of the root wherever it stands."""
        if part is said:
            return Number(root, span=said.span)
        if isinstance(part, syntax.Name) and part.text == word.text:
            return Number(root, span=part.span)
        return None

    clauses = tuple(
        # wherever the root is, so that its part is one
        replace(clause, lower_first=True) if isinstance(clause, syntax.ReduceClause) else clause
        for clause in rewritten(declaration.clauses, with_root)
    )
    written = replace(declaration, name=Word(name, declaration.name.span), clauses=clauses)
    buffer = declaration.contract.buffer
    if length is None or buffer is None:
        return written
    most = Number(length.most, span=length.span)
    buffer = replace(buffer, length=most, run_length=length)
    return replace(written, contract=replace(declaration.contract, buffer=buffer))
