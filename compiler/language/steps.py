"""The steps of a collective: trees reduced, multicasts, algorithms run along lines.

Whether trees and multicasts do what the contract promises is seen here by their kinds; what an
algorithm does, the proof finds out (`collc.proof`).
"""

from collc.base.diagnostics import Edit, Span, behind, head, left_out, tail, whole
from collc.base.values import dataclass
from collc.language import syntax
from collc.language.algorithms import Algorithms
from collc.language.expressions import Scope, is_auto, number
from collc.language.grids import Line, Lines
from collc.language.kinds import OPTIMAL
from collc.language.optimal_tree import optimal_tree
from collc.language.problems import KnownProblemError, ProblemError, Problems, problem, unknown
from collc.language.syntax import Call, Name, ReduceClause, StepClause, TreeUse, Word
from collc.language.trees import Forest, TooManyRanksError, children_of
from collc.spec import (
    Algorithm,
    BroadcastStep,
    Contract,
    ContractKind,
    ReduceStep,
    RunStep,
    Share,
    Step,
    Tree,
)
from collc.spec.simd import WIDE, elements_of_wavelet, takes_several, wavelets
from collc.spec.steps import ROOT_BYPASS
from collc.target import Target

# Where steps start and end: lines, ranks and PEs.


@dataclass(frozen=True)
class StepContext:
    """What the steps of one collective rest on."""

    contract: Contract | None  # None: its problem has been reported
    lines: Lines
    scope: Scope
    forest: Forest
    algorithms: Algorithms
    target: Target


def direction_of(clause: syntax.ReduceClause | syntax.RunClause, around: StepContext) -> Line:
    """The lines that a clause goes along."""
    verb = "reduce" if isinstance(clause, syntax.ReduceClause) else "run"
    return direction(clause.lines, clause.span, verb, around.lines)


def direction(word: syntax.Word | None, span: Span, verb: str, lines: Lines) -> Line:
    """The lines that a clause names, or the only one."""
    grid = lines.grid
    if word is None:
        if lines.single is None:
            what = {"reduce": "a reduction says what it reduces", "run": "`run` says along what"}
            last = "row" if verb == "reduce" else "rows"  # trees leave the sums in one row
            help = f"write `{verb} columns by ...`, then `{verb} {last} by ...`"
            raise problem("C144", f"on a grid, {what[verb]}", span, grid.declared, help=help)
        return lines.single
    if lines.path is not None:
        message = f"{lines.path.word} is one order of all PEs, it has no {word.text}"
        raise problem("C144", message, word.span, help=f"leave `{word.text} by` out")
    known = {"row": True, "rows": True, "column": False, "columns": False}
    if word.text not in known:
        message = f"{word.text} names no lines of a grid"
        raise unknown("C111", message, word, ("columns", "row"))
    return lines.horizontal if known[word.text] else lines.vertical


def end_of(clause: syntax.ReduceClause, line: Line, around: StepContext) -> int:
    """The rank of its lines that a reduction ends at."""
    return 0 if clause.to is None else rank_of(clause.to, line, around)


def rank_of(place: syntax.PeDecl | syntax.Expression, line: Line, around: StepContext) -> int:
    """The rank that a place is of the lines that a step goes along."""
    if not isinstance(place, syntax.PeDecl):
        return _on_line(number(place, around.scope), line, place, around)
    x, y = pe_of(place, around)
    if around.lines.path is not None:
        return around.lines.path.place_of((x, y))
    return line.places.index(x if line is around.lines.horizontal else y)


def end_of_all(reductions: tuple[syntax.ReduceClause, ...], around: StepContext) -> tuple[int, int]:
    """The PE that ends with the result of all reductions."""
    x, y = around.lines.corner
    for clause in reductions:
        line = direction(clause.lines, clause.span, "reduce", around.lines)
        if around.lines.path is not None:
            return around.lines.place(end_of(clause, line, around), line)
        place = line.coordinate(end_of(clause, line, around))
        x, y = (place, y) if line is around.lines.horizontal else (x, place)
    return x, y


def end_on_lines(
    last: syntax.ReduceClause, clauses: tuple[StepClause, ...], around: StepContext
) -> tuple[int, int]:
    """The PE of the rank of its lines that a reduction ends at. On which of the lines it is, the
    last of the steps that go across them says; where none does, it is their rank 0."""
    x, y = around.lines.corner
    own = direction_of(last, around)
    along = [clause for clause in clauses if not isinstance(clause, syntax.BroadcastClause)]
    across = [clause for clause in along if direction_of(clause, around) is not own]
    for clause in (*across[-1:], last):
        line = direction_of(clause, around)
        place = _end_along(clause, line, around)
        x, y = (place, y) if line is around.lines.horizontal else (x, place)
    return x, y


def _end_along(
    clause: syntax.ReduceClause | syntax.RunClause, line: Line, around: StepContext
) -> int:
    """The coordinate along its lines that a step ends at."""
    if isinstance(clause, syntax.ReduceClause):
        return line.coordinate(end_of(clause, line, around))
    if clause.root is None:
        return line.coordinate(0)
    x, y = pe_of(clause.root, around, "to")
    return x if line is around.lines.horizontal else y


def pe_of(
    root: syntax.PeDecl | syntax.Expression, around: StepContext, word: str = "from"
) -> tuple[int, int]:
    """PE that a place means: given as such, or as a rank of the line; `word` stands before it."""
    lines, grid = around.lines, around.lines.grid
    if isinstance(root, syntax.PeDecl):
        x, y = number(root.x, around.scope), number(root.y, around.scope)
        if not (0 <= x < grid.width and 0 <= y < grid.height):
            help = f"x is 0 to {grid.width - 1}, y is 0 to {grid.height - 1}"
            message = f"PE ({x}, {y}) is not on the grid"
            near = (min(max(x, 0), grid.width - 1), min(max(y, 0), grid.height - 1))
            raise problem("C142", message, root.span, grid.declared, help=help, fix=f"{near}")
        return x, y
    rank, line = number(root, around.scope), lines.single
    if rank == 0:
        return lines.corner
    if line is None:
        help = f"write `{word} (x, y)`; only rank 0, where both orders start, has a number"
        raise problem("C142", f"a grid has no rank {rank}", root.span, grid.declared, help=help)
    return lines.place(_on_line(rank, line, root, around), line)


def _on_line(rank: int, line: Line, said: syntax.Expression, around: StepContext) -> int:
    """The rank, if a line has it; raises `ProblemError`."""
    if not 0 <= rank < line.length:
        message = f"there is no rank {rank} on a line of {line.length} PEs"
        help = f"ranks are 0 to {line.length - 1}"
        raise problem("C142", message, said.span, around.lines.grid.declared, help=help)
    return rank


# Steps.


_BY_TREES = (
    ContractKind.BROADCAST,
    ContractKind.REDUCE,
    ContractKind.ALLREDUCE,
    ContractKind.BARRIER,
)


def elaborate_steps(
    clauses: tuple[StepClause, ...], around: StepContext, problems: Problems
) -> tuple[Step, ...]:
    """Elaborate the steps in order; problems are kept, each step's and those of the whole."""
    _check_then(clauses, problems)
    reductions = tuple(c for c in clauses if isinstance(c, syntax.ReduceClause))
    broadcasts = tuple(c for c in clauses if isinstance(c, syntax.BroadcastClause))
    own = around.contract is not None and around.contract.kind is ContractKind.OWN
    runs = own or len(reductions) + len(broadcasts) < len(clauses)
    if runs:
        problems.attempt(_check_runs, around)
    elif not _deals_out_by_multicast(broadcasts, around) or len(clauses) != 1:
        problems.attempt(_check_contract, clauses, reductions, broadcasts, around)
    lines = _lines_reduced(reductions, around, problems, complete=not runs)
    steps: list[Step] = []
    for clause in clauses:
        if isinstance(clause, syntax.RunClause):
            run = problems.attempt(_run, clause, around)
            steps += [run] if run else []
        elif isinstance(clause, syntax.BroadcastClause):
            results = () if runs else reductions
            broadcast = problems.attempt(_broadcast, clause, around, results)
            steps += [broadcast] if broadcast else []
        elif clause in lines:
            problems.attempt(check_trees, clause, around)
            reduction = problems.attempt(reduction_of, clause, lines[clause], around)
            steps += [reduction] if reduction else []
    return _without_idle(tuple(steps))


def _deals_out_by_multicast(
    broadcasts: tuple[syntax.BroadcastClause, ...], around: StepContext
) -> bool:
    """Whether the slices of a scatter come to a line of ranks as the whole vector: other elements
    are work space."""
    scatters = around.contract is not None and around.contract.kind is ContractKind.SCATTER
    return scatters and bool(broadcasts) and around.lines.single is not None


def _without_idle(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Leave out reductions of one rank; if there is nothing else to reduce, the last stays."""
    reductions = [step for step in steps if isinstance(step, ReduceStep)]
    busy = [step for step in reductions if len(step.tree.children) > 1] or reductions[-1:]
    return tuple(step for step in steps if not isinstance(step, ReduceStep) or step in busy)


def combines(steps: tuple[Step, ...]) -> bool:
    """Whether any of the steps combines vectors."""
    reduced = (len(step.tree.children) > 1 for step in steps if isinstance(step, ReduceStep))
    runs = (step for step in steps if isinstance(step, RunStep))
    return any(reduced) or any(run.algorithm.combines for run in runs)


def root_of(clauses: tuple[StepClause, ...], around: StepContext) -> tuple[int, int] | None:
    """The PE a rooted contract starts from or ends at, where algorithms leave it to be said."""
    runs = [clause for clause in clauses if isinstance(clause, syntax.RunClause)]
    gaps = around.lines.path is not None and bool(around.lines.path.gaps)
    if around.contract is None or not (runs or gaps):
        return None
    kind = around.contract.kind
    said = [clause for clause in clauses if _said(clause) is not None]
    if not kind.rooted:
        wrong = next((clause for clause in runs if clause.root is not None), None)
        if wrong is not None and wrong.root is not None:
            if kind is ContractKind.OWN:
                message = f"{around.contract.name} has no root: what it promises says where"
            else:
                message = f"{_a(kind.value)} has no root: it treats all ranks alike"
            out = (Edit(tail(wrong.algorithm.span, wrong.root.span), ""),)
            raise problem("C141", message, wrong.root.span, help="leave the place out", fix=out)
        return None
    if not said:
        return around.lines.corner
    clause = said[0] if kind.root_word == "from" else said[-1]
    place = _said(clause)
    assert place is not None
    of_lines = around.lines.single is None and not isinstance(place, syntax.PeDecl)
    if isinstance(clause, syntax.ReduceClause) and of_lines:
        return end_on_lines(clause, clauses, around)
    return pe_of(place, around, kind.root_word)


def _said(clause: StepClause) -> syntax.PeDecl | syntax.Expression | None:
    return clause.to if isinstance(clause, syntax.ReduceClause) else clause.root


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] == "a" else f"a {kind}"


def _check_runs(around: StepContext) -> None:
    """Slices that change places are equal."""
    contract = around.contract
    if contract is None or contract.kind is not ContractKind.ALL_TO_ALL:
        return
    ranks = around.lines.grid.width * around.lines.grid.height
    if contract.length % ranks:
        message = f"{contract.length} elements are no {ranks} slices of equal length"
        more = ranks * (contract.length // ranks + 1)
        help = f"make the length a multiple of {ranks}, the number of ranks, such as {more}"
        fix = (Edit(contract.length_span, str(more)),) if contract.length_span else ()
        raise problem("C155", message, contract.span, help=help, fix=fix)


def _run(clause: syntax.RunClause, around: StepContext) -> RunStep:
    """An algorithm along all lines of a direction, or along the one with rank 0 of the other."""
    lines = around.lines
    line = direction(clause.lines, clause.span, "run", lines)
    axis, other = ("x", lines.vertical) if line is lines.horizontal else ("y", lines.horizontal)
    every = clause.lines is None or clause.lines.text in ("rows", "columns")
    first, last = (0, other.length - 1) if every else (other.coordinate(0),) * 2
    algorithm = around.algorithms.unfold(clause.algorithm, line.length, around.scope)
    word = lines.path.word if lines.path else line.word
    share = _share(clause, axis, around)
    wide = _is_wide(clause, algorithm, around.contract, around.target)
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


def _share(clause: syntax.RunClause, axis: str, around: StepContext) -> Share:
    """Where slices follow each other along a line of a grid, the line has a block of them. In an
    all_to_all, slices of all lines have to go to each rank of the line. `on slices` says that every
    line has the slice that the lines across have left it."""
    contract, lines = around.contract, around.lines
    if clause.on_slices is not None:
        _check_on_slices(clause, clause.on_slices, around)
        return Share.OWN_BLOCK if lines.single is None else Share.VECTOR  # one rank has all
    if contract is None or not contract.kind.by_slices or lines.single is not None:
        return Share.VECTOR
    if axis != lines.counts_along:
        return Share.VECTOR
    return Share.EVERY_BLOCK if contract.kind is ContractKind.ALL_TO_ALL else Share.OWN_BLOCK


def _check_on_slices(clause: syntax.RunClause, said: syntax.Word, around: StepContext) -> None:
    """Only in an allreduce on a grid are there slices that lines across leave and fetch again."""
    contract = around.contract
    if clause.lines is None:
        message = "there are no lines across, which would have left slices to this one"
        raise problem("C177", message, said.span, help="leave `on slices` out")
    if contract is not None and contract.kind is not ContractKind.ALLREDUCE:
        message = (
            f"{_a(contract.kind.value)} has no slices between its steps but those of its ranks"
        )
        also = (contract.span, "promised here")
        raise problem("C177", message, said.span, also, help="leave `on slices` out")


def _check_then(clauses: tuple[StepClause, ...], problems: Problems) -> None:
    for index, clause in enumerate(clauses):
        if clause.then and index == 0:
            message = "`then` joins a step to the one before, and this is the first"
            problems.add(problem("C145", message, clause.span, help="leave `then` out"))
        elif index > 0 and not clause.then:
            before = (clauses[index - 1].span, "the step before is here")
            message = "a further step begins with `then`"
            then = (Edit(head(clause.span, clause.span), "then "),)
            help = "write `then` in front of it"
            problems.add(problem("C145", message, clause.span, before, help=help, fix=then))


def _check_contract(
    clauses: tuple[StepClause, ...],
    reductions: tuple[syntax.ReduceClause, ...],
    broadcasts: tuple[syntax.BroadcastClause, ...],
    around: StepContext,
) -> None:
    """Kinds of steps, in their order, are those the contract asks for."""
    if around.contract is None:
        return
    kind = around.contract.kind
    if kind not in _BY_TREES:
        # a broadcast may keep it, but only algorithms tell where the ranks are that have slices
        message = f"{_a(kind.value)} is carried out by algorithms, and no step runs one"
        help = "write `run auto`, or run an algorithm by its name"
        also = (around.contract.span, "promised here")
        if not clauses:
            raise problem("C140", message, around.contract.span, also, help=help)
        run = (Edit(whole(clauses[0].span, clauses[-1].span), "run auto"),)
        raise problem("C140", message, clauses[0].span, also, help=help, fix=run)
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
        fix = _without(reductions[0], clauses) if broadcasts else ()
        raise problem("C140", message, reductions[0].span, promised, help=help, fix=fix)
    if kind == ContractKind.REDUCE and broadcasts:
        message = "a step broadcasts, but the contract is reduce"
        fix = _without(broadcasts[0], clauses) if reductions else ()
        raise problem("C140", message, broadcasts[0].span, promised, help=help, fix=fix)
    if kind != ContractKind.REDUCE and not broadcasts:
        raise _without_broadcast(kind, clauses, reductions, around, help)
    if len(broadcasts) > 1:
        first = (broadcasts[0].span, "the first is here")
        message, fix = "one broadcast reaches every PE", _without(broadcasts[1], clauses)
        raise problem("C140", message, broadcasts[1].span, first, help=help, fix=fix)
    if broadcasts and broadcasts[0] is not clauses[-1]:
        message = "the broadcast comes before a reduction"
        raise problem("C140", message, broadcasts[0].span, promised, help=help)


def _without_broadcast(
    kind: ContractKind,
    clauses: tuple[StepClause, ...],
    reductions: tuple[syntax.ReduceClause, ...],
    around: StepContext,
    help: str,
) -> ProblemError:
    """C140: what is to reach every PE stays where it is."""
    message, at = f"nothing broadcasts here, but the contract is {kind.value}", around.contract
    assert at is not None, "its contract asks for it"
    if not reductions:  # a broadcast without any step
        return problem("C140", message, at.span, help=help)
    last = f"then broadcast from {end_of_all(reductions, around)}"
    more = (Edit(behind(clauses[-1].span), f" {last}"),)
    return problem("C140", message, at.span, help=f"add `{last}`", fix=more)


def _without(step: StepClause, clauses: tuple[StepClause, ...]) -> tuple[Edit, ...]:
    return left_out([one.span for one in clauses], clauses.index(step))


def _lines_reduced(
    reductions: tuple[syntax.ReduceClause, ...],
    around: StepContext,
    problems: Problems,
    *,
    complete: bool,
) -> dict[syntax.ReduceClause, Line]:
    """Which direction each step reduces; if they are the `complete` collective, also that every
    direction is reduced."""
    lines: dict[syntax.ReduceClause, Line] = {}
    for clause in reductions:
        line = problems.attempt(direction, clause.lines, clause.span, "reduce", around.lines)
        if line is not None:
            lines[clause] = line
    if complete and len(lines) == len(reductions) and reductions:
        problems.attempt(_check_lines, tuple(lines.items()), around)
    return lines


def _check_lines(
    reduced: tuple[tuple[syntax.ReduceClause, Line], ...], around: StepContext
) -> None:
    first_of: dict[Line, syntax.ReduceClause] = {}
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
            help = f"add a step `reduce {line.words} by ...`"
            raise problem("C140", message, last.span, lines.grid.declared, help=help)


def _broadcast(
    clause: syntax.BroadcastClause, around: StepContext, reductions: tuple[syntax.ReduceClause, ...]
) -> BroadcastStep:
    kind = around.contract and around.contract.kind
    to_all = kind in (ContractKind.ALLREDUCE, ContractKind.BARRIER)
    if is_auto(clause.root) and to_all and reductions:
        return BroadcastStep(*end_of_all(reductions, around), clause.span)
    x, y = pe_of(clause.root, around)
    if kind == ContractKind.ALLREDUCE and reductions:
        end = end_of_all(reductions, around)
        if (x, y) != end:
            message = f"the broadcast starts at PE ({x}, {y}), but the result is at PE {end}"
            result = (reductions[-1].span, f"PE {end} ends with the result")
            help = f"write `then broadcast from {end}`"
            raise problem("C141", message, clause.root.span, result, help=help, fix=f"{end}")
    return BroadcastStep(x, y, clause.span)


_SIMD = "simd"


def _is_wide(
    clause: syntax.RunClause, algorithm: Algorithm, contract: Contract | None, target: Target
) -> bool:
    """Whether instructions take two wavelets; without a `contract` its problem has been told."""
    if clause.taken is None:
        return False
    if clause.taken.text != _SIMD:
        message = f"steps are not run in {clause.taken.text}"
        raise problem("C173", message, clause.taken.span, help=f"write `in {_SIMD}`", fix=_SIMD)
    if contract is not None:
        _check_wide(algorithm, contract, target, clause.span)
    return True


def _check_wide(algorithm: Algorithm, contract: Contract, target: Target, span: Span) -> None:
    """An instruction takes two wavelets only where it combines so many elements at once, and where
    slices have them."""
    if algorithm.combines and not takes_several(contract, target):
        assert contract.operation is not None, "what combines has an operation"
        kind = f"{contract.operation.value} of {contract.element.value}"
        message = f"{target.name} takes {kind} one element at a time, not two wavelets at once"
        raise problem("C173", message, span, help="leave `in simd` out")
    if contract.apart > 1:
        message = "elements that are not next to each other are taken one at a time"
        place = (contract.span, f"they are {contract.apart} apart")
        raise problem("C173", message, span, place, help="leave `in simd` out")
    group = WIDE * elements_of_wavelet(contract)
    many = group * (algorithm.slices if contract.names_slices else 1)
    if contract.length == 0 or contract.length % many:
        message = f"two wavelets at once are {group} elements, and slices have to be made of them"
        more = many * (contract.length // many + 1)
        help = f"make the length a multiple of {many}, such as {more}, or leave `in simd` out"
        also = (contract.span, "its vectors")
        fix = (Edit(contract.length_span, str(more)),) if contract.length_span else ()
        raise problem("C173", message, span, also, help=help, fix=fix)


# A reduction: the trees on both sides of its root, or the one of a root bypass.

LONGEST_NONCONTIGUOUS = 4096  # ranks of a tree that is carried out in steps


def check_trees(clause: ReduceClause, around: StepContext) -> None:
    """Raise `ProblemError` for a tree that there is none of, wherever the reduction ends."""
    for use in (clause.tree, clause.upper):
        if use is not None and use.name.text not in (OPTIMAL, ROOT_BYPASS):
            around.forest.tree(use.name)


def reduction_of(clause: ReduceClause, line: Line, around: StepContext) -> ReduceStep:
    """The step that reduces lines. Raises CollcError."""
    if line.ring and line.length > 1 and line.span is not None:
        message = "a tree has no use for the order ring: its vectors travel in one direction"
        help = "leave the order out, or run an algorithm"
        raise problem("C143", message, clause.span, (line.span, "the order"), help=help)
    step = _sides(clause, line, around)
    path, trees = around.lines.path, (step.tree, *((step.far,) if step.far else ()))
    branches = any(len(below) > 1 for tree in trees for below in tree.children)
    if path is not None and path.gaps and branches and line.length > LONGEST_NONCONTIGUOUS:
        message = "a tree along an order that is not contiguous has at most "
        message += f"{LONGEST_NONCONTIGUOUS} ranks"
        help = "use an order that goes from neighbour to neighbour, such as snake or hilbert"
        raise problem("C165", message, clause.span, help=help)
    return step


def _sides(clause: ReduceClause, line: Line, around: StepContext) -> ReduceStep:
    """The trees on both sides of the root."""
    root = end_of(clause, line, around)
    behind = line.length - 1 - root
    if clause.tree.name.text == ROOT_BYPASS:
        return _root_bypass(clause, line, root, around)
    lower, upper = clause.tree, clause.upper or clause.tree
    if root == 0 or behind == 0:
        tree = _tree(upper if root == 0 else lower, line.length, around)
        return ReduceStep(line.order, tree, clause.span, root)
    is_lower = clause.lower_first or root <= behind
    own, own_size, far = (lower, root + 1, upper) if is_lower else (upper, behind + 1, lower)
    return ReduceStep(
        line.order,
        _tree(own, own_size, around),
        clause.span,
        root,
        _tree(far, line.length - own_size, around),
    )


def _root_bypass(clause: ReduceClause, line: Line, root: int, around: StepContext) -> ReduceStep:
    """A tree over all ranks but a root within the line; of all ranks where the root is an end."""
    use = _base_of(clause)
    if root in (0, line.length - 1):
        return ReduceStep(line.order, _tree(use, line.length, around), clause.span, root)
    tree = _tree(use, line.length - 1, around)
    return ReduceStep(line.order, tree, clause.span, root, skips=True)


def _base_of(clause: ReduceClause) -> TreeUse:
    """`two_phase(S = 3)` of `root_bypass(two_phase(S = 3))`."""
    use = clause.tree
    if clause.upper is not None:
        message = "a root bypass has one tree, on both sides of its root"
        second = (Edit(tail(use.span, clause.upper.span), ""),)
        help = "leave the second one out"
        raise problem("C114", message, clause.upper.span, help=help, fix=second)
    if len(use.arguments) != 1 or use.arguments[0].name is not None:
        message, example = f"{ROOT_BYPASS} takes one tree, by its name", f"{ROOT_BYPASS}(chain)"
        help = f"write {example} or {ROOT_BYPASS}(two_phase(S = 4))"
        raise problem("C114", message, use.span, help=help, fix=example)
    base = use.arguments[0].value
    if isinstance(base, Call):
        return TreeUse(base.name, base.arguments, span=base.span)
    if not isinstance(base, Name):
        message = f"{ROOT_BYPASS} takes a tree, and this is none"
        help = f"write {ROOT_BYPASS}(chain)"
        raise problem("C113", message, base.span, help=help, fix="chain")
    return TreeUse(Word(base.text, base.span), (), span=base.span)


def _tree(use: TreeUse, ranks: int, around: StepContext) -> Tree:
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
    try:
        shape = forest.unfold(call, ranks)
    except TooManyRanksError as error:
        own = f"more than {_many(ranks, 'rank')}"
        raise _misfit(use, ranks, own, forest.text(call), around, error) from None
    if shape.size != ranks:
        raise _misfit(use, ranks, _many(shape.size, "rank"), forest.text(call), around)
    return Tree(forest.text(call), children_of(shape), use.span)


def _misfit(  # noqa: PLR0913, PLR0917 - the tree, the line, what is known of the misfit
    use: TreeUse,
    ranks: int,
    own: str,
    text: str,
    around: StepContext,
    error: TooManyRanksError | None = None,
) -> ProblemError:
    """C132: the tree has `own` ranks, and not as many as the line has PEs."""
    message = f"{text} has {own}, the line it is to reduce has {_many(ranks, 'PE')}"
    declaration, grid = around.forest.tree(use.name), around.lines.grid
    inside = (error.place,) if error else ()
    declared = (declaration.span, f"{use.name.text} is declared here")
    help = error.help if error else "a tree needs one rank for every PE of the line"
    return problem("C132", message, use.span, *inside, declared, grid.declared, help=help)


def _many(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
