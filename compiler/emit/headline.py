"""What a collective is, and what it promises, in the words of comments."""

from collc.emit.grid_places import where
from collc.language.show import show_promise
from collc.plan import Plan
from collc.spec import Collective, ContractKind


def headline(plan: Plan) -> str:
    """The contract in the words of the .coll file."""
    collective, contract = plan.collective, plan.collective.contract
    promise = show_promise(contract, contract.length)
    return f"{collective.name} = {promise} on {where(collective.grid)}"


BY_SLICES = {
    ContractKind.SCATTER: "Rank r finds slice r of the root's vector in its own slice r",
    ContractKind.GATHER: "The root finds slice r of rank r, for all ranks",
    ContractKind.ALLGATHER: "Every PE finds slice r of rank r, for all ranks",
    ContractKind.REDUCE_SCATTER: "Rank r finds slice r of the result in its own slice r",
    ContractKind.ALL_TO_ALL: "Rank r finds slice r of rank c in its own slice c, for all ranks c",
}


def promise_of(collective: Collective) -> str:
    """What a contract that is about slices promises, in words; empty for others."""
    contract, grid = collective.contract, collective.grid
    if contract.own is not None:
        return f"Rank r finds what the contract {contract.name} promises it"
    text = BY_SLICES.get(contract.kind, "")
    if not text or collective.path is not None or grid.is_line:
        return text
    lines, blocks = (
        ("row", grid.height) if collective.counts_along == "x" else ("column", grid.width)
    )
    return f"{text} (ranks {lines} by {lines}: the slices of a {lines} are one of {blocks} blocks)"
