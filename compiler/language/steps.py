"""The steps of a collective, and whether together they do what its contract promises."""

from __future__ import annotations

from dataclasses import dataclass

from collc.language.expressions import Scope, number
from collc.language.forest import Forest
from collc.language.lines import Line, Lines
from collc.language.parser import not_supported
from collc.language.problems import Problems, problem, suggest
from collc.language.shapes import children_of
from collc.language.syntax import BroadcastClause, Expression, PeDecl, ReduceClause
from collc.spec import BroadcastStep, Contract, ContractKind, ReduceStep, Tree

Step = ReduceStep | BroadcastStep
StepClause = ReduceClause | BroadcastClause


@dataclass(frozen=True)
class Surroundings:
    """What the steps of one collective rest on."""

    contract: Contract | None  # None: its problem has been reported
    lines: Lines
    scope: Scope
    forest: Forest


def elaborate_steps(
    clauses: tuple[StepClause, ...], around: Surroundings, problems: Problems
) -> tuple[Step, ...]:
    """Elaborate the steps in order; problems are kept, each step's and those of the whole."""
    _check_then(clauses, problems)
    reductions = tuple(c for c in clauses if isinstance(c, ReduceClause))
    broadcasts = tuple(c for c in clauses if isinstance(c, BroadcastClause))
    problems.attempt(_check_contract, clauses, reductions, broadcasts, around)
    lines = _lines_reduced(reductions, around, problems)
    steps: list[Step] = []
    for clause in clauses:
        if isinstance(clause, BroadcastClause):
            broadcast = problems.attempt(_broadcast, clause, around, reductions)
            steps += [broadcast] if broadcast else []
        elif clause in lines:
            reduction = problems.attempt(_reduction, clause, lines[clause], around)
            steps += [reduction] if reduction else []
    return _without_idle(tuple(steps))


def _without_idle(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Leave out reductions of one rank; if there is nothing else to reduce, the last stays."""
    reductions = [step for step in steps if isinstance(step, ReduceStep)]
    busy = [step for step in reductions if len(step.tree.children) > 1] or reductions[-1:]
    return tuple(step for step in steps if isinstance(step, BroadcastStep) or step in busy)


def _check_then(clauses: tuple[StepClause, ...], problems: Problems) -> None:
    for index, clause in enumerate(clauses):
        if clause.then and index == 0:
            message = "`then` joins a step to the one before, and this is the first"
            problems.add(problem("C145", message, clause.span, help="leave `then` out"))
        elif index > 0 and not clause.then:
            before = (clauses[index - 1].span, "the step before is here")
            message = "a further step begins with `then`"
            problems.add(problem("C145", message, clause.span, before))


def _check_contract(
    clauses: tuple[StepClause, ...],
    reductions: tuple[ReduceClause, ...],
    broadcasts: tuple[BroadcastClause, ...],
    around: Surroundings,
) -> None:
    """Kinds of steps, in their order, are those the contract asks for."""
    if around.contract is None:
        return
    kind = around.contract.kind
    wanted = {
        ContractKind.BROADCAST: "one step: `broadcast from ...`",
        ContractKind.REDUCE: "`reduce ...` steps and nothing else",
        ContractKind.ALLREDUCE: "`reduce ...` steps, `then broadcast from ...` the result",
    }[kind]
    promised = (around.contract.span, "promised here")
    help = f"a collective of this kind has {wanted}"
    if kind != ContractKind.BROADCAST and not reductions:
        message = f"nothing reduces here, but the contract is {kind.value}"
        at = clauses[0].span if clauses else around.contract.span
        raise problem("C140", message, at, promised, help=help)
    if kind == ContractKind.BROADCAST and reductions:
        message = "a step reduces, but the contract is broadcast"
        raise problem("C140", message, reductions[0].span, promised, help=help)
    if kind == ContractKind.REDUCE and broadcasts:
        message = "a step broadcasts, but the contract is reduce"
        raise problem("C140", message, broadcasts[0].span, promised, help=help)
    if kind != ContractKind.REDUCE and not broadcasts:
        message = f"nothing broadcasts here, but the contract is {kind.value}"
        raise problem("C140", message, around.contract.span, help=help)
    if len(broadcasts) > 1:
        first = (broadcasts[0].span, "the first is here")
        raise problem(
            "C140", "one broadcast reaches every PE", broadcasts[1].span, first, help=help
        )
    if broadcasts and broadcasts[0] is not clauses[-1]:
        message = "the broadcast stands before a reduction"
        raise problem("C140", message, broadcasts[0].span, promised, help=help)


def _lines_reduced(
    reductions: tuple[ReduceClause, ...], around: Surroundings, problems: Problems
) -> dict[ReduceClause, Line]:
    """Which direction each step reduces; also, that every direction is reduced, columns first."""
    lines: dict[ReduceClause, Line] = {}
    for clause in reductions:
        line = problems.attempt(_line_of, clause, around.lines)
        if line is not None:
            lines[clause] = line
    if len(lines) == len(reductions) and reductions:
        problems.attempt(_check_lines, tuple(lines.items()), around)
    return lines


def _line_of(clause: ReduceClause, lines: Lines) -> Line:
    grid = lines.grid
    if clause.lines is None:
        if lines.single is None:
            size = (grid.span, f"{grid.name} is {grid.width} x {grid.height}")
            help = "write `reduce columns by ...`, then `reduce row by ...`"
            message = "on a grid, a reduction says what it reduces"
            raise problem("C144", message, clause.span, size, help=help)
        return lines.single
    known = {"row": True, "rows": True, "column": False, "columns": False}
    word = clause.lines.text
    if word not in known:
        help = suggest(word, ("columns", "row"))
        raise problem("C111", f"{word} names no lines of a grid", clause.lines.span, help=help)
    return lines.horizontal if known[word] else lines.vertical


def _check_lines(reduced: tuple[tuple[ReduceClause, Line], ...], around: Surroundings) -> None:
    first_of: dict[Line, ReduceClause] = {}
    for clause, line in reduced:
        if line in first_of:
            before = (first_of[line].span, "by this step")
            verb = "has" if line.words == "row" else "have"
            message = f"the {line.words} {verb} been reduced already"
            raise problem("C140", message, clause.span, before)
        first_of[line] = clause
    lines, last = around.lines, reduced[-1][0]
    for line in (lines.vertical, lines.horizontal):
        if line.length > 1 and line not in first_of:
            message = f"no step reduces the {line.words}: {line.length} PEs are left with parts"
            size = (
                lines.grid.span,
                f"{lines.grid.name} is {lines.grid.width} x {lines.grid.height}",
            )
            help = f"add a step `reduce {line.words} by ...`"
            raise problem("C140", message, last.span, size, help=help)
    if lines.single is None and reduced[0][1] is lines.horizontal:
        raise not_supported("reducing rows before columns", reduced[0][0].span)


def _reduction(clause: ReduceClause, line: Line, around: Surroundings) -> ReduceStep:
    _check_to(clause, around)
    tree = _tree(clause, line, around)
    return ReduceStep(line.order, tree, clause.span)


def _check_to(clause: ReduceClause, around: Surroundings) -> None:
    """Reduction ends at rank 0 of its lines."""
    if clause.to is None:
        return
    corner = around.lines.corner
    if isinstance(clause.to, PeDecl):
        wanted = (number(clause.to.x, around.scope), number(clause.to.y, around.scope))
        if wanted != corner:
            what = f"reducing to PE {wanted}, where rank 0 is PE {corner},"
            raise not_supported(what, clause.to.span)
    elif (rank := number(clause.to, around.scope)) != 0:
        raise not_supported(f"reducing to rank {rank} instead of rank 0", clause.to.span)


def _tree(clause: ReduceClause, line: Line, around: Surroundings) -> Tree:
    use, forest = clause.tree, around.forest
    declaration = forest.tree(use.name)
    first = (line.length,) if declaration.parameters else ()
    call = forest.call(use.name, use.arguments, first, around.scope, use.span)
    shape = forest.unfold(call)
    if shape.size != line.length:
        ranks = "1 rank" if shape.size == 1 else f"{shape.size} ranks"
        pes = "1 PE" if line.length == 1 else f"{line.length} PEs"
        message = f"{forest.text(call)} has {ranks}, the line it is to reduce has {pes}"
        grid = around.lines.grid
        declared = (declaration.span, f"{use.name.text} is declared here")
        size = (grid.span, f"{grid.name} is {grid.width} x {grid.height}")
        help = "a tree needs one rank for every PE of the line"
        raise problem("C132", message, use.span, declared, size, help=help)
    return Tree(forest.text(call), children_of(shape), use.span)


def _broadcast(
    clause: BroadcastClause, around: Surroundings, reductions: tuple[ReduceClause, ...]
) -> BroadcastStep:
    x, y = _root(clause.root, around)
    corner = around.lines.corner
    kind = around.contract and around.contract.kind
    if kind == ContractKind.ALLREDUCE and reductions and (x, y) != corner:
        message = f"the broadcast starts at PE ({x}, {y}), but the result is at PE {corner}"
        result = (reductions[-1].span, f"rank 0, PE {corner}, ends with the result")
        help = "write `then broadcast from 0`"
        raise problem("C141", message, clause.root.span, result, help=help)
    return BroadcastStep(x, y, clause.span)


def _root(root: PeDecl | Expression, around: Surroundings) -> tuple[int, int]:
    """PE that a broadcast starts from: given as such, or as a rank of the line."""
    lines, grid = around.lines, around.lines.grid
    size = (grid.span, f"{grid.name} is {grid.width} x {grid.height}")
    if isinstance(root, PeDecl):
        x, y = number(root.x, around.scope), number(root.y, around.scope)
        if not (0 <= x < grid.width and 0 <= y < grid.height):
            help = f"x is 0 to {grid.width - 1}, y is 0 to {grid.height - 1}"
            raise problem("C142", f"PE ({x}, {y}) is not on the grid", root.span, size, help=help)
        return x, y
    rank, line = number(root, around.scope), lines.single
    if rank == 0:
        return lines.corner
    if line is None:
        help = "write `from (x, y)`; only rank 0, where both orders start, has a number"
        raise problem("C142", f"a grid has no rank {rank}", root.span, size, help=help)
    if not 0 <= rank < line.length:
        message = f"there is no rank {rank} on a line of {line.length} PEs"
        help = f"ranks are 0 to {line.length - 1}"
        raise problem("C142", message, root.span, size, help=help)
    return lines.place(rank, line)
