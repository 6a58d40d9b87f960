"""Steps of several kinds one after the other that may be faster than any of them alone.

Each keeps its contract for any operation that commutes. What there is no multicast or tree for goes
by way of rank 0: slices are gathered there and multicast, or combined there and dealt out. Slices
that have been combined where they belong go to everybody, or to the root. On a grid, long vectors
are summed along the lines of one axis so that each rank has a slice, and those slices across.
"""

from __future__ import annotations

from collc.spec import Collective, ContractKind

COMPOSITIONS: dict[ContractKind, tuple[str, ...]] = {
    ContractKind.ALLGATHER: ("run linear_gather then broadcast from 0",),
    ContractKind.ALLREDUCE: ("run chain_reduce_scatter then run direct_allgather",),
    ContractKind.REDUCE: ("run chain_reduce_scatter then run linear_gather",),
    ContractKind.REDUCE_SCATTER: (
        "reduce optimal to 0 then run linear_scatter",
        "reduce optimal to 0 then run binomial_scatter",
    ),
}


def compositions(kind: ContractKind, place: str) -> tuple[str, ...]:
    """Those of a contract along a line; `place` is where it ends, which is rank 0 or there are
    none."""
    return COMPOSITIONS.get(kind, ()) if place == "0" else ()


def on_grid(collective: Collective) -> tuple[str, ...]:
    """Those on a grid: on slices of its lines, or by way of its corner."""
    if collective.contract.kind is ContractKind.ALLREDUCE:
        width, height = collective.grid.width, collective.grid.height
        return (_on_slices("rows", "columns", height), _on_slices("columns", "rows", width))
    kind, along = collective.contract.kind, collective.counts_along
    within, among = ("rows", "column") if along == "x" else ("columns", "row")
    if kind is ContractKind.ALLGATHER:
        gathered = f"run {within} by linear_gather then run {among} by linear_gather"
        return (f"{gathered} then broadcast from 0",)
    if kind is ContractKind.REDUCE_SCATTER:
        summed = "reduce columns by optimal to 0 then reduce row by optimal to 0"
        dealt = f"run {among} by linear_scatter then run {within} by linear_scatter"
        return (f"{summed} then {dealt}",)
    return ()


def _on_slices(lines: str, across: str, ranks: int) -> str:
    """Lines of one axis sum slices, those across the same slices of all of them."""
    root = (ranks - 1) // 2
    summed = f"run {across} by chain_reduce(root = {root}) on slices"
    spread = f"run {across} by direct_broadcast(root = {root}) on slices"
    return (
        f"run {lines} by chain_reduce_scatter then {summed} then {spread} "
        f"then run {lines} by direct_allgather"
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
