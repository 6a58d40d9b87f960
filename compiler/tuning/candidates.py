"""What comes into question where a program says `auto`: plans as they would be written, numbers.

Every tree and every algorithm of the prelude that keeps the contract is there, at the roots that
matter. `ALGORITHMS` names the algorithms by contract; that it names all, and that each keeps its
contract, a test finds out by proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

from collc.language.declared_names import OPTIMAL
from collc.language.names import prelude_trees
from collc.language.syntax import TreeDecl
from collc.spec import Collective, Contract, ContractKind, Gap, Undecided
from collc.spec.simd import WIDE, elements_of_wavelet, takes_several, wavelets
from collc.target import Target
from collc.tuning.compositions import compositions, lines_of_steps, on_grid
from collc.tuning.roots import commutes, roots, roots_of_line
from collc.tuning.steps_model import step_begins


@dataclass(frozen=True)
class Pattern:
    """An algorithm as it is run, and how many steps of it follow each other at least: `rounds`
    times the ranks less one, or their logarithm where it is `doubling`. `vectors` are those that
    some PE sends or takes where there are four PEs or more."""

    text: str
    rounds: int
    doubling: bool = False
    vectors: int = 0

    def at_least(self, ranks: int, length: int, target: Target) -> tuple[int, str]:
        """Cycles that it takes on a line, and what for: to begin steps, or for the elements that
        pass a PE."""
        steps = ranks.bit_length() - 1 if self.doubling else ranks - 1
        moved = self.vectors * length if ranks > 3 else 0
        return max((moved, "bandwidth"), (self.rounds * steps * step_begins(target), "start-up"))


ALGORITHMS: dict[ContractKind, tuple[Pattern, ...]] = {
    ContractKind.ALLREDUCE: (
        Pattern("ring_allreduce", 2),
        Pattern("recursive_doubling", 1, doubling=True),
        Pattern("halving_doubling", 2, doubling=True),
        Pattern("binary_blocks", 2, doubling=True),
        Pattern("butterfly(G = {group})", 1, doubling=True),
        Pattern("direct_allreduce", 0),
        Pattern("pipelined_allreduce(c = {chunks})", 2),
        Pattern("binary_tree_allreduce(c = {chunks})", 1, doubling=True, vectors=6),
        Pattern("dual_root_allreduce(c = {chunks})", 1, doubling=True, vectors=4),
    ),
    ContractKind.REDUCE: (
        Pattern("pipelined_reduce(c = {chunks})", 1),
        Pattern("binary_tree_reduce(c = {chunks})", 1, doubling=True),
        Pattern("reduce_scatter_gather", 1),
    ),
    ContractKind.BROADCAST: (
        Pattern("pipelined_broadcast(c = {chunks})", 1),
        Pattern("binary_tree_broadcast(c = {chunks})", 1, doubling=True),
        Pattern("scatter_allgather", 1),
    ),
    ContractKind.REDUCE_SCATTER: (
        Pattern("ring_reduce_scatter", 1),
        Pattern("recursive_halving_reduce_scatter", 1, doubling=True),
        Pattern("pairwise_reduce_scatter", 1),
        Pattern("direct_reduce_scatter", 0),
        Pattern("chain_reduce_scatter", 0),
    ),
    ContractKind.ALLGATHER: (
        Pattern("ring_allgather", 1),
        Pattern("recursive_doubling_allgather", 1, doubling=True),
        Pattern("direct_allgather", 0),
    ),
    ContractKind.SCATTER: (
        Pattern("linear_scatter", 0),
        Pattern("binomial_scatter", 1, doubling=True),
    ),
    ContractKind.GATHER: (
        Pattern("linear_gather", 0),
        Pattern("binomial_gather", 1, doubling=True),
    ),
    ContractKind.ALL_TO_ALL: (
        Pattern("pairwise_all_to_all", 0),
        Pattern("linear_all_to_all", 0),
        Pattern("bruck_all_to_all", 1, doubling=True),
    ),
    ContractKind.BARRIER: (
        Pattern("linear_barrier", 0),
        Pattern("binomial_barrier", 1, doubling=True),
        Pattern("dissemination_barrier", 1, doubling=True),
    ),
}
_BOTH_WAYS = (
    Pattern("ring_allreduce", 2),
    Pattern("halving_doubling", 2, doubling=True),
)
_TO_ALL = (ContractKind.ALLREDUCE, ContractKind.BARRIER)  # a sum, or a token, and back
_CHUNKS = (2, 8)
_LONGEST_PATH = 4096  # ranks of a path that is tried; its length alone costs 6 cycles a PE
_LONGEST_OF_STEPS = 64  # ranks along the axes of a grid: on more, trees are faster by far
_FEW = 16  # sizes of groups from 1 on that are all tried
_ROOTS_TRIED = 16
_MANY_ROOTS = 64  # ranks tried as the root of an algorithm where none is said: each is to be proved


@dataclass(frozen=True)
class Written:
    """A plan as text, and what is known before it is read: that it takes at least so many cycles,
    most of them for `term`, or at least as many as another plan, which has the best trees of the
    model; or that it does the same as another plan, the other axis first or by another root, and is
    worth a look only if that one is the best."""

    text: str
    at_least: int = 0
    term: str = ""
    as_many_as: str = ""
    mirrors: str = ""


def plans(collective: Collective, target: Target) -> Iterator[Written]:
    """Every plan that may be the best: its steps, and the order of the ranks where one is part of
    it. Those that reduce by trees come first."""
    undecided = collective.undecided
    assert undecided is not None
    if len(undecided.extents) == 1:
        yield from _on_line(collective, undecided, target)
    else:
        yield from _on_grid(collective, undecided, target)


_BACK = " then broadcast from auto"
_BYPASSING_BOTH = ("root_bypass(optimal)", "root_bypass(chain)")


@cache
def trees() -> tuple[str, ...]:
    """The best of all trees, and those of the prelude, with numbers that are looked for."""
    return (OPTIMAL, *(_searched(tree) for tree in prelude_trees().values()))


def _searched(tree: TreeDecl) -> str:
    """A tree of the prelude with whatever number is the best for each of its parameters."""
    given = ", ".join(f"{word.text} = auto" for word in tree.parameters[1:])
    return f"{tree.name.text}({given})" if given else tree.name.text


@cache
def _on_both() -> tuple[str, ...]:
    """The same for grids, where the numbers of both axes are a product: so they are looked for in
    the first tree that has any."""
    searched = [tree for tree in trees() if "auto" in tree]
    return tuple(tree for tree in trees() if tree not in searched[1:])


def _on_line(collective: Collective, undecided: Undecided, target: Target) -> Iterator[Written]:
    kind, ranks = collective.contract.kind, undecided.extents[0]
    place = _place(undecided)
    if kind is ContractKind.BROADCAST:
        yield Written(f"broadcast from {place}")
    elif kind is ContractKind.REDUCE:
        yield from _to_root(collective, f"reduce {{tree}} to {place}", place)
    elif kind in _TO_ALL:
        for root in roots_of_line(collective, ranks, target):
            yield from _and_back(collective, root)
    if not commutes(collective):
        yield from _in_rank_order(collective, undecided)
    elif collective.contract.run_length is None:
        yield from (Written(text, 1, "start-up") for text in compositions(kind, place))
    at = "" if undecided.root is None else f" {kind.root_word} {place}"
    for name, at_least in _algorithms(collective, ranks, target):
        for order in _orders(collective, undecided, name):
            yield Written(f"{order}run {name}{at}", *at_least)


def _in_rank_order(collective: Collective, undecided: Undecided) -> Iterator[Written]:
    """By rank 0, for an operation that does not commute: what ends within the line would combine
    the ranks before that first, and slices by algorithms begin with their own rank."""
    kind = collective.contract.kind
    if kind is ContractKind.REDUCE and undecided.root is not None:
        place = _place(undecided)
        for chunks in (1, *_CHUNKS):
            back = f" then run pipelined_broadcast(c = {chunks}) to {place}"
            yield from _with_trees(f"reduce {{tree}} to 0{back}")
            yield Written(f"run pipelined_allreduce(c = {chunks}) to {place}")
    elif kind is ContractKind.REDUCE_SCATTER:
        for dealt in ("binomial_scatter", "linear_scatter"):
            yield from _with_trees(f"reduce {{tree}} to 0 then run {dealt}")
            yield from (
                Written(f"run pipelined_reduce(c = {chunks}) then run {dealt}")
                for chunks in _CHUNKS
            )


def _and_back(collective: Collective, root: int) -> Iterator[Written]:
    """A sum at some rank, and back from there; the best of these with any other root, too."""
    for one in _to_root(collective, f"reduce {{tree}} to {root}{_BACK}", str(root)):
        yield one
        if commutes(collective):
            yield Written(one.text.replace(f" to {root} ", " to auto "), mirrors=one.text)


def _to_root(collective: Collective, text: str, root: str) -> Iterator[Written]:
    """A reduction of a line to a root: by each tree on either side of it, or by a single one that
    passes it by, which takes it one vector instead of two. The best tree of the model knows nothing
    of the place that is passed by, so it bounds none of the others there."""
    yield from _with_trees(text)
    if root != "0" and commutes(collective):
        yield from (Written(text.format(tree=f"root_bypass({tree})")) for tree in trees())


def _with_trees(text: str, among: Sequence[str] = ()) -> Iterator[Written]:
    """The same plan with each of these trees, or of all, of which the first is the best one."""
    first, *others = among or trees()
    best = text.format(tree=first)
    yield Written(best)
    yield from (Written(text.format(tree=tree), as_many_as=best) for tree in others)


def _place(undecided: Undecided) -> str:
    """Where the contract says that it starts or ends; rank 0 if it says nothing."""
    return "0" if undecided.root is None else f"({undecided.root[0]}, {undecided.root[1]})"


def _orders(collective: Collective, undecided: Undecided, name: str) -> tuple[str, ...]:
    """A ring is another order of the ranks, which are the compiler's only where nothing is said of
    them and no slice belongs to one; it serves those who send to the next one."""
    free = not undecided.ordered and collective.contract.kind is ContractKind.ALLREDUCE
    around = "ring" in name or "butterfly" in name
    return ("", "order ring ") if free and around and commutes(collective) else ("",)


def _algorithms(
    collective: Collective, ranks: int, target: Target
) -> Iterator[tuple[str, tuple[int, str]]]:
    """Algorithms with numbers for all their parameters, and what each takes at least, for what.

    In an allreduce without multicast every contribution is sent once towards the sum, and the sum
    once to everybody; each time one PE sends and one takes it.
    """
    contract = collective.contract
    if contract.run_length is not None:
        return  # for every limit all lengths would have to be evaluated, row by row
    moved, length = 0, wavelets(contract, target, combines=True)
    if contract.kind is ContractKind.ALLREDUCE:
        moved = 4 * length * (ranks - 1) // ranks
        for pattern in _wide_patterns(contract, target):
            at_least = max((moved // WIDE, "bandwidth"), pattern.at_least(ranks, 0, target))
            yield f"{pattern.text} in simd", at_least
    for pattern in ALGORITHMS.get(contract.kind, ()):
        # at least a cycle: what takes none goes by trees
        at_least = max(
            (moved, "bandwidth"), pattern.at_least(ranks, length, target), (1, "start-up")
        )
        names = [pattern.text]
        if "{group}" in pattern.text:
            groups = (g for g in range(2, ranks + 1) if _is_power(ranks, g))
            names = [pattern.text.format(group=group) for group in groups]
        elif "{chunks}" in pattern.text:
            names = [pattern.text.format(chunks=chunks) for chunks in _CHUNKS]
        yield from ((name, at_least) for name in names)


def _wide_patterns(contract: Contract, target: Target) -> tuple[Pattern, ...]:
    """Those in which PEs send and receive at once, if instructions can take two wavelets."""
    group = WIDE * elements_of_wavelet(contract)
    fits = contract.apart == 1 and contract.length % group == 0 and contract.run_length is None
    return _BOTH_WAYS if fits and takes_several(contract, target) else ()


def _is_power(number: int, base: int) -> bool:
    while number % base == 0:
        number //= base
    return number == 1


def _on_grid(collective: Collective, undecided: Undecided, target: Target) -> Iterator[Written]:
    """Along both axes, either of them first, with the same pattern; or along a path of all PEs."""
    kind = collective.contract.kind
    if kind is ContractKind.BROADCAST:
        yield Written(f"broadcast from {_place(undecided)}")
    elif kind is ContractKind.REDUCE:
        place = _place(undecided)
        yield from _along_both(collective, undecided, place, place, "")
        yield from _along_path(collective, undecided, place, "")
    elif kind in _TO_ALL:
        for x, y in _places(collective, undecided.extents, target):
            yield from _along_both(collective, undecided, str(x), str(y), _BACK)
        for root in (0, collective.grid.width * collective.grid.height // 2):
            yield from _along_path(collective, undecided, str(root), _BACK)
    if not commutes(collective):
        yield from _grid_in_rank_order(collective, undecided)
    if max(undecided.extents) <= _LONGEST_OF_STEPS:
        yield from _steps_on_grid(collective, undecided, target)


def _steps_on_grid(
    collective: Collective, undecided: Undecided, target: Target
) -> Iterator[Written]:
    """Compositions by way of the corner, and the same algorithm along both axes."""
    kind = collective.contract.kind
    if commutes(collective):
        yield from (Written(text, 1, "start-up") for text in on_grid(collective))
    across, down = (dict(_algorithms(collective, extent, target)) for extent in undecided.extents)
    at = "" if undecided.root is None else f" {kind.root_word} {_place(undecided)}"
    for name in (name for name in across if name in down):
        for order in _orders(collective, undecided, name):
            first, last = lines_of_steps(collective)
            text = f"{order}run {first} by {name}{at} then run {last} by {name}{at}"
            cycles, term = (across[name][0] + down[name][0], across[name][1])
            yield Written(text, cycles, term)


def _grid_in_rank_order(collective: Collective, undecided: Undecided) -> Iterator[Written]:
    """The same on a grid, by its first PE. Blocks of columns and rows are not combined in the order
    of the ranks, so slices are dealt out along a path."""
    kind = collective.contract.kind
    if kind is ContractKind.REDUCE and undecided.root is not None:
        on = f"pipelined_broadcast(c = 1) to {_place(undecided)}"
        back = f" then run columns by {on} then run rows by {on}"
        yield from _along_both(collective, undecided, "0", "0", back)
    short = prod(undecided.extents) <= _LONGEST_PATH
    if kind is ContractKind.REDUCE_SCATTER and short and not undecided.ordered:
        dealt = "order row_major reduce {tree} to 0 then run binomial_scatter"
        yield from _with_trees(dealt, ("optimal", "chain", "binomial"))


def _places(
    collective: Collective, extents: tuple[int, ...], target: Target
) -> Iterator[tuple[int, int]]:
    """Roots of a grid: within one axis, or the best or the middle of both."""
    across, down = (roots(collective, extent, target) for extent in extents)
    yield from dict.fromkeys(
        (x, y)
        for x in across
        for y in down
        if 0 in (x, y) or (x, y) in ((across[-1], down[-1]), (across[:2][-1], down[:2][-1]))
    )


def _along_both(
    collective: Collective, undecided: Undecided, x: str, y: str, back: str
) -> Iterator[Written]:
    """Reductions of both axes by the same kind of tree, either of them first; as `_to_root`."""
    columns_first = "reduce columns by {{down}} to {y} then reduce row by {{across}} to {x}"
    rows_first = "reduce rows by {{across}} to {x} then reduce column by {{down}} to {y}"
    text, mirrored = (order.format(x=x, y=y) + back for order in (columns_first, rows_first))
    inside = (x, y) != ("0", "0") and commutes(collective)
    for kinds in (_on_both(), _BYPASSING_BOTH) if inside else (_on_both(),):
        best = text.format(across=kinds[0], down=kinds[0])
        for tree in kinds:
            plan = text.format(across=tree, down=tree)
            yield Written(plan, as_many_as="" if plan == best else best)
            if commutes(collective):
                yield Written(mirrored.format(across=tree, down=tree), mirrors=plan)


def _along_path(
    collective: Collective, undecided: Undecided, root: str, back: str
) -> Iterator[Written]:
    """Trees along a path of all PEs, where the order of the ranks is the compiler's."""
    free = commutes(collective) and not undecided.ordered
    if free and collective.grid.width * collective.grid.height <= _LONGEST_PATH:
        yield from _with_trees(f"order snake reduce {{tree}} to {root}{back}", ("optimal", "chain"))


def values(gap: Gap, collective: Collective, target: Target) -> tuple[int, ...]:
    """The numbers that come into question for a gap, rising."""
    length, ranks = max(collective.contract.length, 1), gap.ranks
    if gap.what == "root":
        even = {ranks * step // _ROOTS_TRIED for step in range(_ROOTS_TRIED)}
        tried = {*even, *roots(collective, ranks, target), ranks - 1}
        return tuple(sorted(tried)) if commutes(collective) else (0,)
    if gap.what == "tree":  # the smallest group for every number of groups, and a last one that
        few = set(range(1, min(_FEW, ranks) + 1))  # is much smaller than the others
        return tuple(sorted(few | {-(-ranks // groups) for groups in range(1, ranks + 1)}))
    if gap.name == "root":  # of an algorithm: a rank, as its name says, and the one that is said
        return tuple(range(min(ranks, _MANY_ROOTS))) if gap.place is None else (gap.place,)
    most = max(length, ranks)
    powers = {2**k for k in range(most.bit_length()) if 2**k <= most}
    parts = {number for number in range(1, ranks + 1) if ranks % number == 0}
    return tuple(sorted(powers | parts))
