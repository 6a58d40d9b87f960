"""What a collective leaves to the compiler: `auto` in the place of a number, a root, or all steps.

Nothing is chosen here. The places are found and checked, and become an `Undecided`. What is chosen
for them is put into the declaration: every choice is a program that could be written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from collc.base.diagnostics import Edit, Span, left_out, tail
from collc.base.rewrite import rewritten
from collc.language import syntax
from collc.language.expressions import AUTO, is_auto
from collc.language.grids import Line
from collc.language.parser import parse_text
from collc.language.problems import KnownProblemError, problem
from collc.language.steps import StepContext, direction_of, pe_of, rank_of
from collc.language.syntax import StepClause
from collc.spec import Contract, ContractKind, Gap, Undecided


def leaves_open(declaration: syntax.CollectiveDecl) -> bool:
    """Whether anything is left to the compiler."""
    return any(is_whole(clause) or any(_autos(clause)) for clause in declaration.clauses)


def opened(declaration: syntax.CollectiveDecl) -> syntax.CollectiveDecl:
    """The same with all steps left to the compiler; the place that they name stays."""
    steps = [clause for clause in declaration.clauses if isinstance(clause, StepClause)]
    if not steps or any(is_whole(clause) for clause in steps):
        return declaration
    span = steps[0].span
    use = syntax.TreeUse(syntax.Word(AUTO, span), (), span=span)
    rooted = declaration.contract.kind.text in {kind.value for kind in ContractKind if kind.rooted}
    root = _place_of(steps) if rooted else None
    run = syntax.RunClause(None, use, None, root, None, None, span=span)
    kept = (clause for clause in declaration.clauses if not isinstance(clause, StepClause))
    return replace(declaration, clauses=(*kept, run))


def _place_of(steps: Sequence[StepClause]) -> syntax.PeDecl | syntax.Expression | None:
    """Where the steps say that they start or end."""
    reductions = [step for step in steps if isinstance(step, syntax.ReduceClause) and step.lines]
    if not reductions:
        only = steps[0]
        return only.to if isinstance(only, syntax.ReduceClause) else only.root
    zero = syntax.Number(0, span=steps[0].span)
    ends: dict[bool, syntax.Expression] = {True: zero, False: zero}
    for step in reductions:
        if isinstance(step.to, syntax.PeDecl):
            return step.to
        if step.to is not None and step.lines is not None:
            ends[step.lines.text.startswith("row")] = step.to
    if all(isinstance(end, syntax.Number) and end.value == 0 for end in ends.values()):
        return None
    return syntax.PeDecl(ends[True], ends[False], span=steps[0].span)


def undecided(declaration: syntax.CollectiveDecl, around: StepContext) -> Undecided:
    """What is left open; raises `ProblemError` where that cannot be."""
    contract, lines = around.contract, around.lines
    if contract is None:
        raise KnownProblemError
    whole = next((clause for clause in declaration.clauses if is_whole(clause)), None)
    gaps, root, span = [], None, declaration.span
    if isinstance(whole, syntax.RunClause):
        root, span = _check_whole(whole, declaration, contract, around), whole.span
    else:
        for clause in declaration.clauses:
            for gap, at in _autos(clause):
                _check_root(gap, at, clause, contract)
                assert isinstance(clause, syntax.ReduceClause | syntax.RunClause)
                line = direction_of(clause, around)
                gaps.append(replace(gap, ranks=line.length, place=_said(clause, line, around)))
    said = (syntax.OrderClause, *((syntax.FixedClause,) if contract.rounds else ()))
    single = lines.single
    extents = (single.length,) if single else (lines.grid.width, lines.grid.height)
    return Undecided(
        gaps=tuple(gaps),
        extents=extents,
        ordered=any(isinstance(clause, said) for clause in declaration.clauses),
        root=root,
        span=span,
    )


def _said(
    clause: syntax.ReduceClause | syntax.RunClause, line: Line, around: StepContext
) -> int | None:
    """The rank at which an algorithm is said to start or end."""
    if not isinstance(clause, syntax.RunClause) or clause.root is None or is_auto(clause.root):
        return None
    return rank_of(clause.root, line, around)


def is_whole(clause: syntax.Clause) -> bool:
    """`run auto`."""
    return isinstance(clause, syntax.RunClause) and clause.algorithm.name.text == AUTO


def _check_whole(
    clause: syntax.RunClause,
    declaration: syntax.CollectiveDecl,
    contract: Contract,
    around: StepContext,
) -> tuple[int, int] | None:
    """Refuse what cannot stand beside `run auto`; gives the PE behind `to` or `from`."""
    for other in declaration.clauses:
        if isinstance(other, StepClause) and other is not clause:
            message = "`run auto` leaves all steps to the compiler"
            before = (clause.span, "here")
            clauses = declaration.clauses
            fix = left_out([one.span for one in clauses], clauses.index(other))
            help = "leave one of them out"
            raise problem("C148", message, other.span, before, help=help, fix=fix)
    if contract.own is not None:
        message = f"`run auto` has no plan for {contract.name}, a user-defined contract"
        help = "write an algorithm that keeps it, `algorithm mine(n, c) slices c { ... }`, and "
        help += "`run mine(c = 2)`; its numbers may be left open: `run mine(c = auto)`"
        raise problem("C148", message, clause.span, help=help)
    _check_plain(clause)
    if clause.root is None:
        return None
    kind = contract.kind
    if not kind.rooted:
        message = f"`auto` has no use for a place here: {kind.value} has no root"
        out = (Edit(tail(clause.algorithm.span, clause.root.span), ""),)
        raise problem("C148", message, clause.root.span, help="leave it out", fix=out)
    if is_auto(clause.root):
        message = f"a {kind.value} promises its place, which cannot be left to the compiler"
        raise problem("C148", message, clause.root.span, help=_NAME_A_PLACE, fix="0")
    return pe_of(clause.root, around, kind.root_word)


_NAME_A_PLACE = "name a rank or a PE, such as `0`"


def _check_plain(clause: syntax.RunClause) -> None:
    """Refuse what `run auto` chooses itself."""
    chosen = [
        (clause.on_slices, "what lines run on"),
        (clause.taken, "how many wavelets an instruction takes"),
        (next(iter(clause.algorithm.arguments), None), "lines and numbers"),
        (clause.lines, "lines and numbers"),
    ]
    plain = f"run {AUTO}"
    for said, what in chosen:
        if said is not None:
            message, fix = f"`run auto` chooses {what}, too", (Edit(clause.span, plain),)
            raise problem("C148", message, said.span, help="write `run auto`", fix=fix)


def _check_root(gap: Gap, at: Span, clause: syntax.Clause, contract: Contract) -> None:
    """A place is the compiler's to choose only where the contract does not promise it."""
    if gap.what != "root":
        return
    free = contract.kind is ContractKind.ALLREDUCE and isinstance(clause, syntax.ReduceClause)
    if not free:
        kind = contract.name
        message = f"a place is free only for the reductions of an allreduce, this is a {kind}"
        raise problem("C148", message, at, help=_NAME_A_PLACE, fix="0")


def _autos(clause: syntax.Clause) -> Iterator[tuple[Gap, Span]]:
    """The numbers that a clause leaves open, in the order of the text, and where."""
    if isinstance(clause, syntax.ReduceClause):
        for use in (clause.tree, clause.upper):
            yield from _of_use(use, "tree") if use else ()
        if clause.to is not None and is_auto(clause.to):
            yield Gap("root", "root", 0), clause.to.span
    elif isinstance(clause, syntax.RunClause):
        yield from _of_use(clause.algorithm, "algorithm")
        if clause.root is not None and is_auto(clause.root):
            yield Gap("root", "root", 0), clause.root.span


def _of_use(use: syntax.TreeUse | syntax.Call, what: str) -> Iterator[tuple[Gap, Span]]:
    for argument in use.arguments:
        if isinstance(argument.value, syntax.Call):  # the tree of a root bypass
            yield from _of_use(argument.value, what)
        if is_auto(argument.value):
            name = argument.name.text if argument.name else use.name.text
            yield Gap(what, name, 0), argument.span


def filled_in(
    declaration: syntax.CollectiveDecl, numbers: tuple[int, ...]
) -> syntax.CollectiveDecl:
    """The same with a number for each gap."""
    left = iter(numbers)

    def filled(part: object) -> object:
        if isinstance(part, syntax.Argument) and is_auto(part.value):
            return replace(part, value=syntax.Number(next(left), span=part.span))
        if isinstance(part, syntax.Name) and is_auto(part):
            return syntax.Number(next(left), span=part.span)
        # a broadcast from `auto` starts where the sum is, which is no gap
        return part if isinstance(part, syntax.BroadcastClause) else None

    return replace(declaration, clauses=rewritten(declaration.clauses, filled))


def with_clauses(
    declaration: syntax.CollectiveDecl, clauses: Sequence[syntax.Clause]
) -> syntax.CollectiveDecl:
    """The same with other clauses in place of its steps; messages about them are about the step
    that left them to the compiler."""
    at = next(c.span for c in declaration.clauses if isinstance(c, StepClause))
    kept = (c for c in declaration.clauses if not isinstance(c, StepClause))
    moved = rewritten(tuple(clauses), lambda part: at if isinstance(part, Span) else None)
    return replace(declaration, clauses=(*kept, *moved))


@lru_cache(maxsize=256)
def steps_of(text: str) -> tuple[syntax.Clause, ...]:
    """The clauses of steps that were written down, as those of a choice that is made again."""
    (parsed,) = parse_text("auto", f"collective written = barrier() on g {{ {text} }}")
    assert isinstance(parsed, syntax.CollectiveDecl)
    return parsed.clauses
