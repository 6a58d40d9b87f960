"""Steps of several kinds one after the other that may be faster than any of them alone.

Each keeps its contract for any operation that commutes. What there is no multicast or tree for goes
by way of rank 0: slices are gathered there and multicast, or combined there and dealt out. Slices
that have been combined where they belong go to everybody, or to the root. On a grid, long vectors
are summed along the lines of one axis so that each rank has a slice, and those slices across.
"""

from collc.language.declared_names import OPTIMAL
from collc.spec import Collective, ContractKind
from collc.tuning.written import Piece, Pieces, Place, Use, broadcast, reduce, run


def _run(name: str, along: str = "") -> Piece:
    return run(Use(name), along=along)


COMPOSITIONS: dict[ContractKind, tuple[Pieces, ...]] = {
    ContractKind.ALLGATHER: ((_run("linear_gather"), broadcast(0)),),
    ContractKind.ALLREDUCE: ((_run("chain_reduce_scatter"), _run("direct_allgather")),),
    ContractKind.REDUCE: ((_run("chain_reduce_scatter"), _run("linear_gather")),),
    ContractKind.REDUCE_SCATTER: (
        (reduce(Use(OPTIMAL), 0), _run("linear_scatter")),
        (reduce(Use(OPTIMAL), 0), _run("binomial_scatter")),
    ),
}


def compositions(kind: ContractKind, place: Place) -> tuple[Pieces, ...]:
    """Those of a contract along a line; `place` is where it ends, which is rank 0 or there are
    none."""
    return COMPOSITIONS.get(kind, ()) if place == 0 else ()


def on_grid(collective: Collective) -> tuple[Pieces, ...]:
    """Those on a grid: on slices of its lines, or by way of its corner."""
    if collective.contract.kind is ContractKind.ALLREDUCE:
        width, height = collective.grid.width, collective.grid.height
        return (_on_slices("rows", "columns", height), _on_slices("columns", "rows", width))
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


def _on_slices(lines: str, across: str, ranks: int) -> Pieces:
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
