"""The algorithms of the prelude by the contract that they keep, what each takes at least, and what
is made of several of them.

That all are named, and that each keeps its contract, a test finds out by proof.
"""

from collections.abc import Iterator

from collc.base.values import dataclass
from collc.cost.steps_model import step_begins
from collc.language import syntax
from collc.language.clauses import Place, Use, broadcast, reduce, run
from collc.language.expressions import AUTO
from collc.language.kinds import OPTIMAL
from collc.spec import Collective, Contract, ContractKind
from collc.spec.simd import WIDE, elements_of_wavelet, takes_several, wavelets
from collc.target import Target
from collc.tuning.written import Clauses

CHUNKS = (2, 8)


@dataclass(frozen=True)
class Pattern:
    """An algorithm, and how many steps of it follow each other at least: `rounds` times the ranks
    less one, or their logarithm where it is `doubling`. `vectors` are those that some PE sends or
    takes where there are four PEs or more. `number` is its parameter: `c` for chunks, `G` for the
    ranks of a group."""

    name: str
    rounds: int
    number: str = ""
    doubling: bool = False
    vectors: int = 0

    def uses(self, ranks: int) -> tuple[Use, ...]:
        """The algorithm with every number that comes into question on a line of so many ranks."""
        groups = (size for size in range(2, ranks + 1) if _is_power(ranks, size))
        numbers = {"": (), "c": CHUNKS, "G": tuple(groups)}[self.number]
        return tuple(self.use(number) for number in numbers) if self.number else (Use(self.name),)

    def use(self, number: int) -> Use:
        """The algorithm with a number, if it has a parameter."""
        return Use(self.name, ((self.number, number),) if self.number else ())

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
        Pattern("butterfly", 1, "G", doubling=True),
        Pattern("direct_allreduce", 0),
        Pattern("pipelined_allreduce", 2, "c"),
        Pattern("binary_tree_allreduce", 1, "c", doubling=True, vectors=6),
        Pattern("dual_root_allreduce", 1, "c", doubling=True, vectors=4),
    ),
    ContractKind.REDUCE: (
        Pattern("pipelined_reduce", 1, "c"),
        Pattern("binary_tree_reduce", 1, "c", doubling=True),
        Pattern("reduce_scatter_gather", 1),
    ),
    ContractKind.BROADCAST: (
        Pattern("pipelined_broadcast", 1, "c"),
        Pattern("binary_tree_broadcast", 1, "c", doubling=True),
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
# Contracts that no tree and no multicast keeps, so that there is nothing but steps.
ONLY_BY_STEPS = (
    ContractKind.REDUCE_SCATTER,
    ContractKind.ALLGATHER,
    ContractKind.SCATTER,
    ContractKind.GATHER,
    ContractKind.ALL_TO_ALL,
)
_BOTH_WAYS = (
    Pattern("ring_allreduce", 2),
    Pattern("halving_doubling", 2, doubling=True),
)


@dataclass(frozen=True)
class Run:
    """An algorithm with its numbers, and whether its instructions take several wavelets."""

    use: Use
    simd: bool = False


def algorithms(
    collective: Collective, ranks: int, target: Target
) -> Iterator[tuple[Run, tuple[int, str]]]:
    """Algorithms with numbers for all their parameters, and what each takes at least, for what.

    In an allreduce without multicast every contribution is sent once towards the sum, and the sum
    once to everybody; each time one PE sends and one takes it.
    """
    contract = collective.contract
    if contract.run_length is not None and contract.kind not in ONLY_BY_STEPS:
        return  # for every limit all lengths would have to be evaluated, row by row
    moved, length = 0, wavelets(contract, target, combines=True)
    if contract.kind is ContractKind.ALLREDUCE:
        moved = 4 * length * (ranks - 1) // ranks
        for pattern in _wide_patterns(contract, target):
            at_least = max((moved // WIDE, "bandwidth"), pattern.at_least(ranks, 0, target))
            yield Run(Use(pattern.name), simd=True), at_least
    for pattern in ALGORITHMS.get(contract.kind, ()):
        # at least a cycle: what takes none goes by trees
        at_least = max(
            (moved, "bandwidth"), pattern.at_least(ranks, length, target), (1, "start-up")
        )
        yield from ((Run(use), at_least) for use in pattern.uses(ranks))


def _wide_patterns(contract: Contract, target: Target) -> tuple[Pattern, ...]:
    """Those in which PEs send and receive at once, if instructions can take two wavelets."""
    group = WIDE * elements_of_wavelet(contract)
    fits = contract.apart == 1 and contract.length % group == 0 and contract.run_length is None
    return _BOTH_WAYS if fits and takes_several(contract, target) else ()


def _is_power(number: int, base: int) -> bool:
    while number % base == 0:
        number //= base
    return number == 1


# Steps of several kinds one after the other that may be faster than any of them alone.
#
# Each keeps its contract for any operation that commutes. What there is no multicast or tree for
# goes by way of rank 0: slices are gathered there and multicast, or combined there and dealt out.
# Slices that have been combined where they belong go to everybody, or to the root. On a grid, long
# vectors are summed along the lines of one axis so that each rank has a slice, and those slices
# across.


def _run(name: str, along: str = "") -> syntax.RunClause:
    return run(Use(name), along=along)


_COMPOSITIONS: dict[ContractKind, tuple[Clauses, ...]] = {
    ContractKind.ALLGATHER: ((_run("linear_gather"), broadcast(0)),),
    ContractKind.ALLREDUCE: ((_run("chain_reduce_scatter"), _run("direct_allgather")),),
    ContractKind.REDUCE: ((_run("chain_reduce_scatter"), _run("linear_gather")),),
    ContractKind.REDUCE_SCATTER: (
        (reduce(Use(OPTIMAL), 0), _run("linear_scatter")),
        (reduce(Use(OPTIMAL), 0), _run("binomial_scatter")),
    ),
}


def compositions(kind: ContractKind, place: Place) -> tuple[Clauses, ...]:
    """Those of a contract along a line; `place` is where it ends, which is rank 0 or there are
    none."""
    return _COMPOSITIONS.get(kind, ()) if place == 0 else ()


def by_sides(collective: Collective, place: Place) -> tuple[Clauses, ...]:
    """Slices to a root, or from one, that is not the first rank: those of the ranks behind it, then
    of those before it, along all lines; the algorithms that are listed have rank 0 as theirs."""
    kind = collective.contract.kind
    if kind not in (ContractKind.GATHER, ContractKind.SCATTER) or place in (0, (0, 0)):
        return ()
    assert collective.undecided is not None
    on_line = len(collective.undecided.extents) == 1
    lines = ("",) if on_line else lines_of_steps(collective)
    of_line = (("root", AUTO),)
    return (
        tuple(
            run(
                Use(f"_{kind.value}_{side}", of_line),
                place,
                kind.root_word,
                along=f"{along.removesuffix('s')}s" if along else "",
            )
            for along in lines
            for side in ("behind", "before")
        ),
    )


def on_slices(collective: Collective, target: Target) -> tuple[tuple[Clauses, int], ...]:
    """Compositions of an allreduce on slices of a grid's lines, of either axis (on a square they
    take the same), and the cycles that they take at least: in the first step and in the last a PE
    receives all but its own slice, a wavelet a cycle, and wavelets pass all links of a line; in
    between a slice passes all lines."""
    if collective.contract.kind is not ContractKind.ALLREDUCE:
        return ()
    # What only moves is in pairs wherever what combines is, so neither takes fewer wavelets.
    length, grid = wavelets(collective.contract, target, combines=False), collective.grid
    either = (
        ("rows", "columns", grid.width, grid.height),
        ("columns", "rows", grid.height, grid.width),
    )
    return tuple(
        (
            _on_slices(lines, across, others),
            2 * max(length - -(-length // ranks), ranks - 1) + others - 1,
        )
        for lines, across, ranks, others in either[: 1 if grid.width == grid.height else 2]
    )


def on_grid(collective: Collective) -> tuple[Clauses, ...]:
    """Compositions on a grid by way of its corner."""
    kind, along = collective.contract.kind, collective.counts_along
    within, among = ("rows", "column") if along == "x" else ("columns", "row")
    if kind is ContractKind.ALLGATHER:
        gathered = (_run("linear_gather", along) for along in (within, among))
        return ((*gathered, broadcast(0)),)
    if kind is ContractKind.REDUCE_SCATTER:
        summed = (reduce(Use(OPTIMAL), 0, along) for along in ("columns", "row"))
        dealt = (_run("linear_scatter", along) for along in (among, within))
        return ((*summed, *dealt),)
    return ()


def _on_slices(lines: str, across: str, ranks: int) -> Clauses:
    """Lines of one axis sum slices, those across the same slices of all of them."""
    root = (("root", (ranks - 1) // 2),)
    summed, spread = Use("chain_reduce", root), Use("direct_broadcast", root)
    return (
        _run("chain_reduce_scatter", lines),
        run(summed, along=across, on_slices=True),
        run(spread, along=across, on_slices=True),
        _run("direct_allgather", lines),
    )


def lines_of_steps(collective: Collective) -> tuple[str, str]:
    """The lines of algorithms along both axes, in their order. Where a contract is about slices it
    is theirs, and among the lines of a rooted one there is only that of the root."""
    kind = collective.contract.kind
    within, among = ("rows", "column") if collective.counts_along == "x" else ("columns", "row")
    if kind is ContractKind.GATHER:
        return within, among
    if kind is ContractKind.SCATTER:
        return among, within
    if kind is ContractKind.ALLGATHER:
        return within, f"{among}s"
    return (f"{among}s", within) if kind.by_slices else ("columns", "rows")
