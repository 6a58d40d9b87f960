"""The pre-order tree that reduces a line fastest under the cost model.

Let T(p) be the time, from a common start, in which rank 0 of the best tree of p ranks has combined
all vectors of B elements, and S(p) the same for a rank that sends the sum on while it takes the
last vector. The tree is `join(first, second)`: a first part of i ranks, and one whose root sends
its sum over i hops to rank 0, which takes it after all else. With v = 2 ramp + 1, the price of a
rank that passes a sum on, and `turn`, what it costs a rank to begin sending after it has stored:

    T(1) = 0
    T(p) = min over i of max(T(i) + B, arrival)
    S(p) = min over i of max(T(i) + B + (turn if i > 1), arrival)
    arrival = S(p - i) + i + v, or B + p + 2 ramp where i = p - 1: a single rank sends

The first entry of each maximum grows with i and the arrival falls, and where they cross only moves
up with p. So the crossings are followed instead of searched, and the times of all lines up to P
take O(P) steps for one B or, as arrays, for a whole sweep of B. With S(1) = B a single rank needs
no case of its own, and without `turn` there is one crossing, not two.
"""

from functools import lru_cache
from math import isqrt

import numpy as np

from collc.base.columns import Ints
from collc.base.diagnostics import Span
from collc.base.values import dataclass
from collc.language.expressions import Scope
from collc.language.kinds import OPTIMAL
from collc.language.prelude import Declared
from collc.language.problems import problem
from collc.language.syntax import Argument, Number, TreeDecl, TreeUse, Word
from collc.language.trees import Forest, children_of
from collc.spec import Tree
from collc.target import Target

Children = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best trees of 1 to P ranks for several lengths.

    `times[p, k]` is T(p) in cycles for the k-th length; `first[p, k]` and `first_sending[p, k]` are
    how many ranks the first part has, for a root and for a rank that sends.
    """

    times: Ints
    first: Ints
    first_sending: Ints

    def tree(self, ranks: int, length_index: int) -> Children:
        """For each rank of a best tree, the ranks it receives from, in order of receipt."""
        children: list[list[int]] = [[] for _ in range(ranks)]
        parts = [(0, ranks, self.first)]
        while parts:
            root, size, first = parts.pop()
            while size > 1:
                behind = int(first[size, length_index])
                children[root].append(root + behind)
                parts.append((root + behind, size - behind, self.first_sending))
                size, first = behind, self.first
            children[root].reverse()
        return tuple(map(tuple, children))


def optimum(ranks: int, lengths: Ints, ramp: int, turn: int = 0) -> Optimum:
    """The best trees of 1 to `ranks` ranks for every length in `lengths` (elements, at least 1).

    `ramp` is the cycles between a processor and its router. Of equally fast first parts the
    smaller one is taken, if it is next to the crossing.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    if len(lengths) == 1:
        return _of_one_length(ranks, int(lengths[0]), 2 * ramp + 1, turn)
    shape = (ranks + 1, len(lengths))
    times, first = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    # T(i) + B, the same with `turn`, and S(i), by i
    busy, sending = np.tile(lengths, (ranks + 1, 1)), np.tile(lengths, (ranks + 1, 1))
    turned, first_sending = (busy.copy(), first.copy()) if turn else (busy, first)
    crossings = [np.ones_like(lengths), np.ones_like(lengths)]
    for size in range(2, ranks + 1):
        found = _best_part(crossings[0], size, busy, sending, 2 * ramp + 1)
        crossings[0], first[size], times[size] = found
        if turn:
            found = _best_part(crossings[1], size, turned, sending, 2 * ramp + 1)
        crossings[1], first_sending[size], sending[size] = found
        np.add(times[size], lengths, out=busy[size])
        turned[size] = busy[size] + turn
    return Optimum(times, first, first_sending)


def _best_part(
    crossing: Ints, size: int, busy: Ints, sending: Ints, passing_on: int
) -> tuple[Ints, Ints, Ints]:
    """The crossing, moved up to the smallest first part whose root is busy until the arrival; and
    of the first parts on both sides of it the faster one, and its time."""
    count = busy.shape[1]
    columns = np.arange(count)

    def at(part: Ints) -> tuple[Ints, Ints]:
        places = part * count + columns
        return busy.take(places), sending.take(size * count + 2 * columns - places) + part

    while True:
        until, sent = at(crossing)
        arrival = sent + passing_on
        below = (crossing < size - 1) & (until < arrival)
        if not below.any():
            break
        crossing = crossing + below
    before = np.maximum(crossing - 1, 1)
    at_crossing = np.maximum(until, arrival)
    until, sent = at(before)
    at_before = np.maximum(until, sent + passing_on)
    part = np.where(at_before <= at_crossing, before, crossing)
    return crossing, part, np.minimum(at_before, at_crossing)


def _of_one_length(ranks: int, length: int, passing_on: int, turn: int) -> Optimum:
    """The same for a single length: numbers, since arrays of one cost more than they hold."""
    times, first, first_sending = [0, 0], [0, 0], [0, 0]
    busy, turned, sending = [length] * 2, [length] * 2, [length] * 2
    root = sender = 1
    for size in range(2, ranks + 1):
        root, part, time = _best_of_one(root, size, busy, sending, passing_on)
        first.append(part)
        times.append(time)
        if turn:
            sender, part, time = _best_of_one(sender, size, turned, sending, passing_on)
        first_sending.append(part)
        sending.append(time)
        busy.append(times[size] + length)
        turned.append(times[size] + length + turn)
    columns = (np.array(column[: ranks + 1])[:, None] for column in (times, first, first_sending))
    return Optimum(*columns)


def _best_of_one(
    crossing: int, size: int, busy: list[int], sending: list[int], passing_on: int
) -> tuple[int, int, int]:
    """`_best_part` for one length."""
    while crossing < size - 1 and busy[crossing] < sending[size - crossing] + crossing + passing_on:
        crossing += 1
    before = max(crossing - 1, 1)
    at_crossing = max(busy[crossing], sending[size - crossing] + crossing + passing_on)
    at_before = max(busy[before], sending[size - before] + before + passing_on)
    if at_before <= at_crossing:
        return crossing, before, at_before
    return crossing, crossing, at_crossing


# The tree `optimal`: the candidates for so many ranks and so long a vector.


def optimal_tree(use: TreeUse, ranks: int, length: int, target: Target) -> Tree:
    """The tree `optimal`: the compiler's choice for so many ranks and so long a vector.

    It is the only tree that no program can write, since it depends on the machine. The candidates
    are the optimum of the cost model for vectors of `length` wavelets, the same with what it costs
    a rank to begin sending, the prelude's trees that take no number, and two_phase; which of them
    is predicted to be the fastest, a later stage finds out.
    Also called: Auto-Gen.
    """
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
