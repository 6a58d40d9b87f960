"""The steps of a collective: trees reduced, multicasts, algorithms run along lines.

Whether trees and multicasts do what the contract promises is seen here by their kinds; what an
algorithm does, the proof finds out (`collc.proof`).
"""

from __future__ import annotations

from dataclasses import dataclass

from collc.diagnostics import Span
from collc.language.algorithms import Algorithms
from collc.language.expressions import Scope, number
from collc.language.forest import Forest
from collc.language.lines import Line, Lines
from collc.language.optimal import OPTIMAL, optimal_tree
from collc.language.problems import KnownProblemError, Problems, problem, suggest
from collc.language.shapes import children_of
from collc.language.syntax import (
    BroadcastClause,
    Call,
    Expression,
    Name,
    PeDecl,
    ReduceClause,
    RunClause,
    TreeUse,
    Word,
)
from collc.language.twos import is_wide
from collc.language.undecided import is_auto
from collc.packing import wavelets
from collc.schedule import JUMP
from collc.spec import (
    BroadcastStep,
    Contract,
    ContractKind,
    ReduceStep,
    RunStep,
    Share,
    Step,
    Tree,
)
from collc.target import Target

StepClause = ReduceClause | BroadcastClause | RunClause
_FROM_ROOT = (ContractKind.BROADCAST, ContractKind.SCATTER)
_BY_TREES = (
    ContractKind.BROADCAST,
    ContractKind.REDUCE,
    ContractKind.ALLREDUCE,
    ContractKind.BARRIER,
)
_ROOTED = (*_FROM_ROOT, ContractKind.REDUCE, ContractKind.GATHER)


LONGEST_LEAPING = 4096  # ranks of a tree that is carried out in steps


@dataclass(frozen=True)
class Surroundings:
    """What the steps of one collective rest on."""

    contract: Contract | None  # None: its problem has been reported
    lines: Lines
    scope: Scope
    forest: Forest
    algorithms: Algorithms
    target: Target


def elaborate_steps(
    clauses: tuple[StepClause, ...], around: Surroundings, problems: Problems
) -> tuple[Step, ...]:
    """Elaborate the steps in order; problems are kept, each step's and those of the whole."""
    _check_then(clauses, problems)
    reductions = tuple(c for c in clauses if isinstance(c, ReduceClause))
    broadcasts = tuple(c for c in clauses if isinstance(c, BroadcastClause))
    own = around.contract is not None and around.contract.kind is ContractKind.OWN
    runs = own or len(reductions) + len(broadcasts) < len(clauses)
    if runs:
        problems.attempt(_check_runs, around)
    else:
        problems.attempt(_check_contract, clauses, reductions, broadcasts, around)
    lines = _lines_reduced(reductions, around, problems, complete=not runs)
    steps: list[Step] = []
    for clause in clauses:
        if isinstance(clause, RunClause):
            run = problems.attempt(_run, clause, around)
            steps += [run] if run else []
        elif isinstance(clause, BroadcastClause):
            results = () if runs else reductions
            broadcast = problems.attempt(_broadcast, clause, around, results)
            steps += [broadcast] if broadcast else []
        elif clause in lines:
            reduction = problems.attempt(_reduction, clause, lines[clause], around)
            steps += [reduction] if reduction else []
    return _without_idle(tuple(steps))


def _without_idle(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Leave out reductions of one rank; if there is nothing else to reduce, the last stays."""
    reductions = [step for step in steps if isinstance(step, ReduceStep)]
    busy = [step for step in reductions if len(step.tree.children) > 1] or reductions[-1:]
    return tuple(step for step in steps if not isinstance(step, ReduceStep) or step in busy)


def combines(steps: tuple[Step, ...]) -> bool:
    """Whether any of the steps combines vectors."""
    reduced = (len(step.tree.children) > 1 for step in steps if isinstance(step, ReduceStep))
    moves = (m for step in steps if isinstance(step, RunStep) for m in step.algorithm.steps)
    return any(reduced) or any(bool(one.combines.any()) for one in moves)


def root_of(clauses: tuple[StepClause, ...], around: Surroundings) -> tuple[int, int] | None:
    """The PE a rooted contract starts from or ends at, where algorithms leave it to be said."""
    runs = [clause for clause in clauses if isinstance(clause, RunClause)]
    leaps = around.lines.path is not None and bool(around.lines.path.leaps)
    if around.contract is None or not (runs or leaps):
        return None
    kind = around.contract.kind
    said = [clause for clause in clauses if _said(clause) is not None]
    if kind not in _ROOTED:
        wrong = next((clause for clause in runs if clause.root is not None), None)
        if wrong is not None and wrong.root is not None:
            if kind is ContractKind.OWN:
                message = f"{around.contract.name} has no root: what it promises says where"
            else:
                message = f"{_a(kind.value)} has no root: it treats all ranks alike"
            raise problem("C141", message, wrong.root.span, help="leave the place out")
        return None
    if not said:
        return around.lines.corner
    place = _said(said[0] if kind in _FROM_ROOT else said[-1])
    assert place is not None
    return pe_of(place, around)


def _said(clause: StepClause) -> PeDecl | Expression | None:
    return clause.to if isinstance(clause, ReduceClause) else clause.root


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] == "a" else f"a {kind}"


def _check_runs(around: Surroundings) -> None:
    """Slices that change places are equal."""
    contract = around.contract
    if contract is None or contract.kind is not ContractKind.ALL_TO_ALL:
        return
    ranks = around.lines.grid.width * around.lines.grid.height
    if contract.length % ranks:
        message = f"{contract.length} elements are no {ranks} slices of equal length"
        help = f"make the length a multiple of {ranks}, the number of ranks"
        raise problem("C155", message, contract.span, help=help)


def _run(clause: RunClause, around: Surroundings) -> RunStep:
    """An algorithm along all lines of a direction, or along the one with rank 0 of the other."""
    lines = around.lines
    line = _direction(clause.lines, clause.span, "run", lines)
    axis, other = ("x", lines.vertical) if line is lines.horizontal else ("y", lines.horizontal)
    every = clause.lines is None or clause.lines.text in ("rows", "columns")
    first, last = (0, other.length - 1) if every else (other.coordinate(0),) * 2
    algorithm = around.algorithms.unfold(clause.algorithm, line.length, around.scope)
    word = lines.path.word if lines.path else line.word
    share = _share(axis, around)
    wide = is_wide(clause, algorithm, around.contract, around.target)
    return RunStep(
        axis=axis,
        order=word,
        places=line.places,
        lines=(first, last),
        algorithm=algorithm,
        span=clause.span,
        wide=wide,
        share=share,
        across=other.places,
    )


def _share(axis: str, around: Surroundings) -> Share:
    """Where slices follow each other along a line of a grid, the line has a block of them. In an
    all_to_all, slices of all lines have to go to each rank of the line."""
    contract, lines = around.contract, around.lines
    if contract is None or not contract.kind.by_slices or lines.single is not None:
        return Share.VECTOR
    if axis != lines.counts_along:
        return Share.VECTOR
    return Share.EVERY_BLOCK if contract.kind is ContractKind.ALL_TO_ALL else Share.OWN_BLOCK


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
    if kind not in _BY_TREES:
        message = f"nothing here does what {_a(kind.value)} promises"
        help = "run an algorithm: `run NAME`"
        at = clauses[0].span if clauses else around.contract.span
        raise problem("C140", message, at, (around.contract.span, "promised here"), help=help)
    wanted = {
        ContractKind.BROADCAST: "one step: `broadcast from ...`",
        ContractKind.REDUCE: "`reduce ...` steps and nothing else",
        ContractKind.ALLREDUCE: "`reduce ...` steps, `then broadcast from ...` the result",
        ContractKind.BARRIER: "an algorithm, or `reduce ...` steps, `then broadcast from ...`",
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
    reductions: tuple[ReduceClause, ...],
    around: Surroundings,
    problems: Problems,
    *,
    complete: bool,
) -> dict[ReduceClause, Line]:
    """Which direction each step reduces; if they are the `complete` collective, also that every
    direction is reduced."""
    lines: dict[ReduceClause, Line] = {}
    for clause in reductions:
        line = problems.attempt(_direction, clause.lines, clause.span, "reduce", around.lines)
        if line is not None:
            lines[clause] = line
    if complete and len(lines) == len(reductions) and reductions:
        problems.attempt(_check_lines, tuple(lines.items()), around)
    return lines


def _direction(word: Word | None, span: Span, verb: str, lines: Lines) -> Line:
    """The lines that a clause names, or the only one."""
    grid = lines.grid
    if word is None:
        if lines.single is None:
            size = (grid.span, f"{grid.name} is {grid.width} x {grid.height}")
            what = {"reduce": "a reduction says what it reduces", "run": "`run` says along what"}
            help = f"write `{verb} columns by ...`, then `{verb} row by ...`"
            raise problem("C144", f"on a grid, {what[verb]}", span, size, help=help)
        return lines.single
    if lines.path is not None:
        message = f"{lines.path.word} is one order of all PEs, it has no {word.text}"
        raise problem("C144", message, word.span, help=f"leave `{word.text} by` out")
    known = {"row": True, "rows": True, "column": False, "columns": False}
    if word.text not in known:
        help = suggest(word.text, ("columns", "row"))
        raise problem("C111", f"{word.text} names no lines of a grid", word.span, help=help)
    return lines.horizontal if known[word.text] else lines.vertical


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


def _reduction(clause: ReduceClause, line: Line, around: Surroundings) -> ReduceStep:
    if line.ring and line.length > 1 and line.span is not None:
        message = "a tree has no use for the order ring: its vectors travel one way"
        help = "leave the order out, or run an algorithm"
        raise problem("C143", message, clause.span, (line.span, "the order"), help=help)
    step = _sides(clause, line, around)
    path, trees = around.lines.path, (step.tree, *((step.far,) if step.far else ()))
    branches = any(len(below) > 1 for tree in trees for below in tree.children)
    if path is not None and path.leaps and branches and line.length > LONGEST_LEAPING:
        message = f"a tree along an order that leaps has at most {LONGEST_LEAPING} ranks"
        help = "use an order that goes from neighbour to neighbour, such as snake or hilbert"
        raise problem("C165", message, clause.span, help=help)
    return step


def _sides(clause: ReduceClause, line: Line, around: Surroundings) -> ReduceStep:
    """The trees on both sides of the root."""
    root = _end(clause, line, around)
    behind = line.length - 1 - root
    if clause.tree.name.text == JUMP:
        return _jump(clause, line, root, around)
    lower, upper = clause.tree, clause.upper or clause.tree
    if root == 0 or behind == 0:
        tree = _tree(upper if root == 0 else lower, line.length, around)
        return ReduceStep(line.order, tree, clause.span, root)
    own, own_size, far = (lower, root + 1, upper) if root <= behind else (upper, behind + 1, lower)
    return ReduceStep(
        line.order,
        _tree(own, own_size, around),
        clause.span,
        root,
        _tree(far, line.length - own_size, around),
    )


def _jump(clause: ReduceClause, line: Line, root: int, around: Surroundings) -> ReduceStep:
    """A tree over all ranks but a root within the line; of all ranks where the root is an end."""
    use = _base_of(clause)
    if root in (0, line.length - 1):
        return ReduceStep(line.order, _tree(use, line.length, around), clause.span, root)
    tree = _tree(use, line.length - 1, around)
    return ReduceStep(line.order, tree, clause.span, root, jumps=True)


def _base_of(clause: ReduceClause) -> TreeUse:
    """`two_phase(S = 3)` of `jump(two_phase(S = 3))`."""
    use = clause.tree
    if clause.upper is not None:
        message = "a jump has one tree, on both sides of its root"
        raise problem("C114", message, clause.upper.span, help="leave the second one out")
    if len(use.arguments) != 1 or use.arguments[0].name is not None:
        message = f"{JUMP} takes one tree, by its name"
        raise problem(
            "C114", message, use.span, help=f"write {JUMP}(chain) or {JUMP}(two_phase(S = 4))"
        )
    base = use.arguments[0].value
    if isinstance(base, Call):
        return TreeUse(base.name, base.arguments, base.span)
    if not isinstance(base, Name):
        message = f"{JUMP} takes a tree, and this is none"
        raise problem("C113", message, base.span, help=f"write {JUMP}(chain)")
    return TreeUse(Word(base.text, base.span), (), base.span)


def direction_of(clause: ReduceClause | RunClause, around: Surroundings) -> Line:
    """The lines that a clause goes along."""
    verb = "reduce" if isinstance(clause, ReduceClause) else "run"
    return _direction(clause.lines, clause.span, verb, around.lines)


def _end(clause: ReduceClause, line: Line, around: Surroundings) -> int:
    """The rank of its lines that a reduction ends at."""
    if clause.to is None:
        return 0
    if not isinstance(clause.to, PeDecl):
        rank = number(clause.to, around.scope)
        if not 0 <= rank < line.length:
            message = f"there is no rank {rank} on a line of {line.length} PEs"
            help = f"ranks are 0 to {line.length - 1}"
            raise problem("C142", message, clause.to.span, help=help)
        return rank
    x, y = pe_of(clause.to, around)
    if around.lines.path is not None:
        return around.lines.path.place_of((x, y))
    return line.places.index(x if line is around.lines.horizontal else y)


def _tree(use: TreeUse, ranks: int, around: Surroundings) -> Tree:
    """A tree for so many ranks of a line."""
    forest = around.forest
    if use.name.text == OPTIMAL:
        if around.contract is None:
            raise KnownProblemError
        length = wavelets(around.contract, around.target, combines=True)
        return optimal_tree(use, ranks, length, around.target)
    declaration = forest.tree(use.name)
    first = (ranks,) if declaration.parameters else ()
    call = forest.call(use.name, use.arguments, first, around.scope, use.span)
    shape = forest.unfold(call)
    if shape.size != ranks:
        own = "1 rank" if shape.size == 1 else f"{shape.size} ranks"
        pes = "1 PE" if ranks == 1 else f"{ranks} PEs"
        message = f"{forest.text(call)} has {own}, the line it is to reduce has {pes}"
        grid = around.lines.grid
        declared = (declaration.span, f"{use.name.text} is declared here")
        size = (grid.span, f"{grid.name} is {grid.width} x {grid.height}")
        help = "a tree needs one rank for every PE of the line"
        raise problem("C132", message, use.span, declared, size, help=help)
    return Tree(forest.text(call), children_of(shape), use.span)


def _broadcast(
    clause: BroadcastClause, around: Surroundings, reductions: tuple[ReduceClause, ...]
) -> BroadcastStep:
    kind = around.contract and around.contract.kind
    if is_auto(clause.root) and kind == ContractKind.ALLREDUCE and reductions:
        return BroadcastStep(*_end_of_all(reductions, around), clause.span)
    x, y = pe_of(clause.root, around)
    if kind == ContractKind.ALLREDUCE and reductions:
        end = _end_of_all(reductions, around)
        if (x, y) != end:
            message = f"the broadcast starts at PE ({x}, {y}), but the result is at PE {end}"
            result = (reductions[-1].span, f"PE {end} ends with the result")
            help = f"write `then broadcast from {end}`"
            raise problem("C141", message, clause.root.span, result, help=help)
    return BroadcastStep(x, y, clause.span)


def _end_of_all(reductions: tuple[ReduceClause, ...], around: Surroundings) -> tuple[int, int]:
    """The PE that ends with the result of all reductions."""
    x, y = around.lines.corner
    for clause in reductions:
        line = _direction(clause.lines, clause.span, "reduce", around.lines)
        if around.lines.path is not None:
            return around.lines.place(_end(clause, line, around), line)
        place = line.coordinate(_end(clause, line, around))
        x, y = (place, y) if line is around.lines.horizontal else (x, place)
    return x, y


def pe_of(root: PeDecl | Expression, around: Surroundings) -> tuple[int, int]:
    """PE that a place means: given as such, or as a rank of the line."""
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
