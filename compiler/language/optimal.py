"""The tree `optimal`: the compiler's choice for so many ranks and so long a vector.

It is the only tree that no program can write, since it depends on the machine. The candidates are
the optimum of the cost model, the same with what it costs a rank to begin sending, the prelude's
trees that take no number, and two_phase; which of them is predicted to be the fastest, a later
stage finds out.
Also called: Auto-Gen.
"""

from functools import lru_cache
from math import isqrt

import numpy as np

from collc.base.diagnostics import Span
from collc.language.forest import Forest
from collc.language.kinds import OPTIMAL
from collc.language.optimal_tree import Optimum, optimum
from collc.language.prelude import Declared
from collc.language.problems import problem
from collc.language.scope import Scope
from collc.language.shapes import children_of
from collc.language.syntax import Argument, Number, TreeDecl, TreeUse, Word
from collc.spec import Tree
from collc.target import Target


def optimal_tree(use: TreeUse, ranks: int, length: int, target: Target) -> Tree:
    """The model's optimum for vectors of `length` wavelets, with all its candidates."""
    if use.arguments:
        message = "the tree optimal takes no numbers: it follows from the line and the length"
        raise problem("C114", message, use.span, help="write `reduce optimal`", fix=OPTIMAL)
    return best_tree(ranks, length, target, use.span)


@lru_cache(maxsize=64)
def best_tree(ranks: int, length: int, target: Target, span: Span) -> Tree:
    """The model's optimum, with all its candidates."""
    engine = target.cycles.engine
    begins_sending = engine.task_start + engine.op_issue
    trees = [_model_tree(ranks, length, target, turn, span) for turn in (0, begins_sending)]
    trees += _prelude_trees(ranks, span)
    different = {tree.children: tree for tree in reversed(trees)}
    candidates = tuple(tree for tree in trees if different[tree.children] is tree)
    return Tree(OPTIMAL, candidates[0].children, span, candidates)


@lru_cache(maxsize=64)
def _prelude_trees(ranks: int, span: Span) -> tuple[Tree, ...]:
    """The same for all lengths."""
    trees, forest = Declared(TreeDecl), _prelude_forest().anew()
    taking_no_number = (name for name, tree in trees.items() if len(tree.parameters) == 1)
    named = (_prelude_tree(name, ranks, forest, span) for name in taking_no_number)
    return (*named, *(_two_phase(size, ranks, forest, span) for size in _group_sizes(ranks)))


@lru_cache(maxsize=1)
def _prelude_forest() -> Forest:
    """The trees of the prelude, whose shapes on one line are parts of those on longer ones."""
    return Forest(Declared(TreeDecl), {}, {}, frozenset())


def _model_tree(ranks: int, length: int, target: Target, turn: int, span: Span) -> Tree:
    return Tree(OPTIMAL, _optimum(ranks, length, target.ramp, turn).tree(ranks, 0), span)


@lru_cache(maxsize=64)
def _optimum(ranks: int, length: int, ramp: int, turn: int) -> Optimum:
    return optimum(ranks, np.array([length]), ramp, turn)


def _prelude_tree(name: str, ranks: int, forest: Forest, span: Span) -> Tree:
    call = forest.call(Word(name, span), (), (ranks,), Scope({}), span)
    return Tree(forest.text(call), children_of(forest.unfold(call, ranks)), span)


def _two_phase(size: int, ranks: int, forest: Forest, span: Span) -> Tree:
    group = Argument(Word("S", span), Number(size, span=span), span=span)
    call = forest.call(Word("two_phase", span), (group,), (ranks,), Scope({}), span)
    return Tree(forest.text(call), children_of(forest.unfold(call, ranks)), span)


def _group_sizes(ranks: int) -> list[int]:
    """The usual group, about the square root of the ranks, and the next larger one."""
    return [size for size in (isqrt(ranks), isqrt(ranks) + 1) if 1 < size < ranks]
