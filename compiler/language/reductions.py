"""A reduction: the trees on both sides of its root, or the one of a root bypass."""

from collc.base.diagnostics import Edit, tail
from collc.language.declared_names import OPTIMAL
from collc.language.forest import TooManyRanksError
from collc.language.lines import Line
from collc.language.optimal import optimal_tree
from collc.language.problems import KnownProblemError, ProblemError, problem
from collc.language.shapes import children_of
from collc.language.step_places import StepContext, end_of
from collc.language.syntax import Call, Name, ReduceClause, TreeUse, Word
from collc.spec import ReduceStep, Tree
from collc.spec.simd import wavelets
from collc.spec.steps import ROOT_BYPASS

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
