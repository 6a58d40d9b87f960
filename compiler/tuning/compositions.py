"""Steps of several kinds one after the other that may be faster than any of them alone.

Each keeps its contract for any operation that commutes. What there is no multicast or tree for goes
by way of rank 0: slices are gathered there and multicast, or combined there and dealt out. Slices
that have been combined where they belong go to everybody, or to the root.
"""

from __future__ import annotations

from collc.spec import ContractKind

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
