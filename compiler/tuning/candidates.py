"""What comes into question where a program says `auto`: plans as they would be written, numbers.

Every tree and every algorithm of the prelude that keeps the contract is there, at the roots that
matter.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from math import prod

import numpy as np

from collc.language.clauses import Place, Use, broadcast, bypassing, order, reduce, run
from collc.language.expressions import AUTO
from collc.language.kinds import OPTIMAL
from collc.language.optimal_tree import optimum
from collc.language.prelude import Declared
from collc.language.syntax import TreeDecl
from collc.spec import Collective, ContractKind, Gap, Undecided
from collc.spec.simd import wavelets
from collc.target import Target
from collc.tuning.algorithms import (
    CHUNKS,
    ONLY_BY_STEPS,
    algorithms,
    by_sides,
    compositions,
    lines_of_steps,
    on_grid,
    on_slices,
)
from collc.tuning.written import Clauses, Written, written

_TO_ALL = (ContractKind.ALLREDUCE, ContractKind.BARRIER)  # a sum, or a token, and back
_LONGEST_PATH = 4096  # ranks of a path that is tried; its length alone costs 6 cycles a PE
_LONGEST_OF_STEPS = 64  # ranks along the axes of a grid: on more, steps along both take far longer
_FEW = 16  # sizes of groups from 1 on that are all tried
_EVENLY = 16  # roots, and sizes of groups, that are tried at even distances, whatever the line
_MANY_ROOTS = 64  # ranks tried as the root of an algorithm where none is said: each is to be proved


def plans(collective: Collective, target: Target) -> Iterator[Written]:
    """Every plan that may be the best: its steps, and the order of the ranks where one is part of
    it. Those that reduce by trees come first."""
    undecided = collective.undecided
    assert undecided is not None
    if collective.one_by_one:
        yield from _one_by_one(collective, undecided)
    elif len(undecided.extents) == 1:
        yield from _on_line(collective, undecided, target)
    else:
        yield from _on_grid(collective, undecided, target)


def _one_by_one(collective: Collective, undecided: Undecided) -> Iterator[Written]:
    """Along a line with a fixed order: every rank sends to the first one, or each what it has of
    all before it to the next; from where that ends, to where it is due. Which of them the
    operation allows, its proof knows."""
    kind, last = collective.contract.kind, prod(undecided.extents) - 1
    place = _place(undecided)
    star, root = reduce(Use("star"), 0), (("root", last),)
    at = place if kind is ContractKind.REDUCE else None
    onward = run(Use("chain_reduce", root), at), run(Use("direct_broadcast", root), at)
    if kind is ContractKind.REDUCE:
        yield from (written((reduce(Use(tree), place),)) for tree in ("star", "chain"))
        yield from (written((star, *_sent_on(chunks, place))) for chunks in (1, *CHUNKS))
    elif kind is ContractKind.REDUCE_SCATTER:
        yield from (written((star, run(Use(name)))) for name in _SCATTERED)
    else:
        yield written((star, broadcast(0)))
        yield written((reduce(Use("chain"), last), broadcast(last)))
    yield written(onward)


_SCATTERED = ("linear_scatter", "binomial_scatter")


_BACK = (broadcast(AUTO),)
_BEST = Use(OPTIMAL)
_BYPASSING_BOTH = (bypassing(_BEST), bypassing(Use("chain")))


@cache
def trees() -> tuple[Use, ...]:
    """The best of all trees, and those of the prelude, with numbers that are looked for."""
    return (
        _BEST,
        *(
            Use(name, tuple((word.text, AUTO) for word in tree.parameters[1:]))
            for name, tree in Declared(TreeDecl).items()
        ),
    )


@cache
def _on_both() -> tuple[Use, ...]:
    """The same for grids, where the numbers of both axes are a product: so they are looked for in
    the first tree that has any."""
    searched = [tree for tree in trees() if tree.numbers]
    return tuple(tree for tree in trees() if tree not in searched[1:])


def _on_line(collective: Collective, undecided: Undecided, target: Target) -> Iterator[Written]:
    kind, ranks = collective.contract.kind, undecided.extents[0]
    place = _place(undecided)
    if kind is ContractKind.BROADCAST:
        yield written((broadcast(place),))
    elif kind is ContractKind.REDUCE:
        yield from (one for _, one in _to_root(collective, place))
    elif kind in _TO_ALL:
        for root in _roots_of_line(collective, ranks, target):
            yield from _and_back(collective, root)
    if not commutes(collective):
        yield from _in_rank_order(collective, undecided)
    elif collective.contract.run_length is None or kind in ONLY_BY_STEPS:
        yield from (written(steps, 1, "start-up") for steps in compositions(kind, place))
    yield from (written(steps, 1, "start-up") for steps in by_sides(collective, place))
    at = None if undecided.root is None else place
    for one, at_least in algorithms(collective, ranks, target):
        step = run(one.use, at, kind.root_word, simd=one.simd)
        for before in _orders(collective, undecided, one.use):
            yield written((*before, step), *at_least)


def _in_rank_order(collective: Collective, undecided: Undecided) -> Iterator[Written]:
    """By rank 0, for an operation that does not commute: what ends within the line would combine
    the ranks before that first, and slices by algorithms begin with their own rank."""
    kind = collective.contract.kind
    if kind is ContractKind.REDUCE and undecided.root is not None:
        place = _place(undecided)
        for chunks in (1, *CHUNKS):
            yield from _with_trees(lambda tree: (reduce(tree, 0),), _sent_on(chunks, place))
            yield written((run(Use("pipelined_allreduce", (("c", chunks),)), place),))
    elif kind is ContractKind.REDUCE_SCATTER:
        for dealt in (run(Use("binomial_scatter")), run(Use("linear_scatter"))):
            yield from _with_trees(lambda tree: (reduce(tree, 0),), (dealt,))
            for chunks in CHUNKS:
                yield written((run(Use("pipelined_reduce", (("c", chunks),))), dealt))


def _sent_on(chunks: int, place: Place, *lines: str) -> Clauses:
    """A pipeline from rank 0 to a place, along the line or one after the other along these."""
    pipelined = Use("pipelined_broadcast", (("c", chunks),))
    return tuple(run(pipelined, place, along=along) for along in lines or ("",))


def _and_back(collective: Collective, root: int) -> Iterator[Written]:
    """A sum at some rank, and back from there; the best of these with any other root, too."""
    for tree, one in _to_root(collective, root, _BACK):
        yield one
        if commutes(collective):
            yield written((reduce(tree, AUTO), *_BACK), mirrors=one.text)


def _to_root(
    collective: Collective, root: Place, back: Clauses = ()
) -> Iterator[tuple[Use, Written]]:
    """A reduction of a line to a root: by each tree on either side of it, or by a single one that
    passes it by, which takes it one vector instead of two. The best tree of the model is the best
    on one side: it knows nothing of a place that is passed by, nor of the vectors that come from
    the other side. So it bounds the others at the first rank alone."""
    best = ""
    for tree in trees():
        one = written((reduce(tree, root), *back), as_many_as=best)
        yield tree, one
        best = best or (one.text if root == 0 else "")
    if root != 0 and commutes(collective):
        for tree in map(bypassing, trees()):
            yield tree, written((reduce(tree, root), *back))


def _with_trees(
    reduced: Callable[[Use], Clauses], back: Clauses, among: Sequence[Use] = ()
) -> Iterator[Written]:
    """The same plan with each of these trees, or of all, of which the first is the best one."""
    first, *others = among or trees()
    best = written((*reduced(first), *back))
    yield best
    yield from (written((*reduced(tree), *back), as_many_as=best.text) for tree in others)


def _place(undecided: Undecided) -> Place:
    """Where the contract says that it starts or ends; rank 0 if it says nothing."""
    return 0 if undecided.root is None else undecided.root


def _orders(collective: Collective, undecided: Undecided, algorithm: Use) -> tuple[Clauses, ...]:
    """A ring is another order of the ranks, which are the compiler's only where nothing is said of
    them and no slice belongs to one; it serves those who send to the next one."""
    free = not undecided.ordered and collective.contract.kind is ContractKind.ALLREDUCE
    around = "ring" in algorithm.name or "butterfly" in algorithm.name
    return ((), (order("ring"),)) if free and around and commutes(collective) else ((),)


def _on_grid(collective: Collective, undecided: Undecided, target: Target) -> Iterator[Written]:
    """Along both axes, either of them first, with the same pattern; or along a path of all PEs."""
    kind = collective.contract.kind
    if kind is ContractKind.BROADCAST:
        yield written((broadcast(_place(undecided)),))
    elif kind is ContractKind.REDUCE:
        place = _place(undecided)
        yield from _along_both(collective, (place, place), ())
        yield from _along_path(collective, undecided, place, ())
    elif kind in _TO_ALL:
        for root in _places(collective, undecided.extents, target):
            yield from _along_both(collective, root, _BACK)
        for rank in (0, collective.grid.width * collective.grid.height // 2):
            yield from _along_path(collective, undecided, rank, _BACK)
    if not commutes(collective):
        yield from _grid_in_rank_order(collective, undecided)
    else:
        for steps, at_least in on_slices(collective, target):
            yield written(steps, at_least, "bandwidth")
    if kind in ONLY_BY_STEPS or max(undecided.extents) <= _LONGEST_OF_STEPS:
        yield from _steps_on_grid(collective, undecided, target)


def _steps_on_grid(
    collective: Collective, undecided: Undecided, target: Target
) -> Iterator[Written]:
    """Compositions by way of the corner, and the same algorithm along both axes."""
    kind = collective.contract.kind
    if commutes(collective):
        yield from (written(steps, 1, "start-up") for steps in on_grid(collective))
    sides = by_sides(collective, _place(undecided))
    yield from (written(steps, 1, "start-up") for steps in sides)
    across, down = (dict(algorithms(collective, extent, target)) for extent in undecided.extents)
    at = None if undecided.root is None else _place(undecided)
    for one in (one for one in across if one in down):
        steps = tuple(
            run(one.use, at, kind.root_word, along=along, simd=one.simd)
            for along in lines_of_steps(collective)
        )
        cycles, term = (across[one][0] + down[one][0], across[one][1])
        for before in _orders(collective, undecided, one.use):
            yield written((*before, *steps), cycles, term)


def _grid_in_rank_order(collective: Collective, undecided: Undecided) -> Iterator[Written]:
    """The same on a grid, by its first PE. Blocks of columns and rows are not combined in the order
    of the ranks, so slices are dealt out along a path."""
    kind = collective.contract.kind
    if kind is ContractKind.REDUCE and undecided.root is not None:
        back = _sent_on(1, _place(undecided), "columns", "rows")
        yield from _along_both(collective, (0, 0), back)
    short = prod(undecided.extents) <= _LONGEST_PATH
    if kind is ContractKind.REDUCE_SCATTER and short and not undecided.ordered:
        among = (_BEST, Use("chain"), Use("binomial"))
        dealt = (run(Use("binomial_scatter")),)
        yield from _with_trees(lambda tree: (order("row_major"), reduce(tree, 0)), dealt, among)


def _places(
    collective: Collective, extents: tuple[int, ...], target: Target
) -> Iterator[tuple[int, int]]:
    """Roots of a grid: within one axis, or the best or the middle of both."""
    across, down = (_roots(collective, extent, target) for extent in extents)
    yield from dict.fromkeys(
        (x, y)
        for x in across
        for y in down
        if 0 in (x, y) or (x, y) in ((across[-1], down[-1]), (across[:2][-1], down[:2][-1]))
    )


def _along_both(
    collective: Collective, root: tuple[Place, Place], back: Clauses
) -> Iterator[Written]:
    """Reductions of both axes by the same kind of tree, either of them first, to a place on each;
    as `_to_root`."""
    x, y = root
    inside = root != (0, 0) and commutes(collective)
    for kinds in (_on_both(), _BYPASSING_BOTH) if inside else (_on_both(),):
        best = ""
        for tree in kinds:
            columns_first = (reduce(tree, y, "columns"), reduce(tree, x, "row"))
            plan = written((*columns_first, *back), as_many_as=best)
            yield plan
            best = best or plan.text
            if commutes(collective):
                rows_first = (reduce(tree, x, "rows"), reduce(tree, y, "column"))
                yield written((*rows_first, *back), mirrors=plan.text)


def _along_path(
    collective: Collective, undecided: Undecided, root: Place, back: Clauses
) -> Iterator[Written]:
    """Trees along a path of all PEs, where the order of the ranks is the compiler's."""
    free = commutes(collective) and not undecided.ordered
    if free and collective.grid.width * collective.grid.height <= _LONGEST_PATH:
        among = (_BEST, Use("chain"))
        yield from _with_trees(lambda tree: (order("snake"), reduce(tree, root)), back, among)


def values(gap: Gap, collective: Collective, target: Target) -> tuple[int, ...]:
    """The numbers that come into question for a gap, rising."""
    length, ranks = max(collective.contract.length, 1), gap.ranks
    even = {ranks * step // _EVENLY for step in range(_EVENLY)}
    if gap.what == "root":
        tried = {*even, *_roots(collective, ranks, target), ranks - 1}
        return tuple(sorted(tried)) if commutes(collective) else (0,)
    if gap.what == "tree":  # the smallest group for every number of groups, and a last one that
        few = range(1, min(_FEW, ranks) + 1)  # is much smaller than the others
        groups = {-(-ranks // groups) for groups in range(1, ranks + 1)}
        return tuple(sorted({*few, *groups, *even} - {0}))
    if gap.name == "root":  # of an algorithm: a rank, as its name says, and the one that is said
        return tuple(range(min(ranks, _MANY_ROOTS))) if gap.place is None else (gap.place,)
    most = max(length, ranks)
    powers = {2**k for k in range(most.bit_length()) if 2**k <= most}
    parts = {number for number in range(1, ranks + 1) if ranks % number == 0}
    return tuple(sorted(powers | parts))


_FEW_RANKS = 64  # of a line on which more roots are tried


def commutes(collective: Collective) -> bool:
    """Whether ranks may be combined in any order."""
    operation = collective.contract.operation
    return operation is None or operation.commutative


def _roots(collective: Collective, ranks: int, target: Target) -> tuple[int, ...]:
    """Rank 0, the middle and the root that the model says is best; rank 0 alone where ranks are
    combined in their order."""
    if not commutes(collective):
        return (0,)
    length = wavelets(collective.contract, target, combines=True) or 1  # the token of a barrier
    best = _best_root(ranks, length, target)
    return tuple(dict.fromkeys((0, best, ranks // 2)))


def _roots_of_line(collective: Collective, ranks: int, target: Target) -> tuple[int, ...]:
    """Those, and on short lines the ends of the first third and quarter: there a start-up that the
    model does not know decides."""
    few = (ranks // 3, ranks // 4) if commutes(collective) and ranks <= _FEW_RANKS else ()
    return tuple(dict.fromkeys((*_roots(collective, ranks, target), *few)))


@lru_cache(maxsize=256)
def _best_root(ranks: int, length: int, target: Target) -> int:
    """Where an allreduce along a line should meet: the best trees of the model on both sides, and
    the longer way back."""
    through = target.visit
    times = optimum(ranks, np.array([length]), target.ramp).times[:, 0]
    root = np.arange((ranks + 1) // 2)
    behind = ranks - 1 - root
    own = times[root + 1] + np.where(root > 0, length, 0)
    meets = np.maximum(own, times[behind] + through + 1)
    meets[0] = times[ranks]
    return int((meets + behind).argmin())
