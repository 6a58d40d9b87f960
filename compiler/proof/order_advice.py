"""Steps that keep a contract and combine ranks in their order: what a message advises."""

from collc.schedule import Schedule, corner_of, home_pe
from collc.spec import Collective, ContractKind, RunStep

_TREE, _STEPS = "reduce binomial to 0", "run pipelined_reduce(c = 2)"
_TREES = "reduce columns by binomial to 0 then reduce row by binomial to 0"
_USUAL = ("west_to_east", "north_to_south")


def keeping_order(schedule: Schedule) -> tuple[str, ...]:
    """Steps for the contract of a schedule whose path, if it has one, is laid out as a row, on its
    lines and to its root; none are known for a contract of the user's own."""
    collective = schedule.collective
    home, corner = home_pe(schedule), corner_of(collective)
    if not collective.grid.is_line:
        found = _on_grid(collective, "" if home == corner else f" to {home}")
    else:
        rank = _rank_of(collective, max(home))
        found = _on_line(collective, "" if rank == 0 else f" to {rank}")
    runs = (step for step in collective.steps if isinstance(step, RunStep))
    around = any(step.order == "ring" for step in runs)  # an order that trees have no use for
    return tuple(steps for steps in found if not (around and steps.startswith("reduce")))


def _rank_of(collective: Collective, coordinate: int) -> int:
    """The rank of a PE of a line."""
    first = collective.steps[0]
    if isinstance(first, RunStep):
        return first.places.index(coordinate)
    return abs(coordinate - max(corner_of(collective)))


def _on_line(collective: Collective, elsewhere: str) -> tuple[str, ...]:
    match collective.contract.kind:
        case ContractKind.REDUCE if elsewhere:
            return (
                f"{_TREE} then run pipelined_broadcast(c = 1){elsewhere}",
                f"run pipelined_allreduce(c = 2){elsewhere}",
            )
        case ContractKind.REDUCE:
            return _TREE, _STEPS
        case ContractKind.ALLREDUCE:
            named = (
                f"run {name}(c = 2)" for name in ("pipelined_allreduce", "binary_tree_allreduce")
            )
            return f"{_TREE} then broadcast from 0", *named
        case ContractKind.REDUCE_SCATTER:
            return f"{_TREE} then run binomial_scatter", f"{_STEPS} then run linear_scatter"
        case _:
            return ()


def _on_grid(collective: Collective, elsewhere: str) -> tuple[str, ...]:
    everywhere = "pipelined_allreduce(c = 2)"
    match collective.contract.kind:
        case ContractKind.REDUCE if elsewhere:
            on = _along_both(f"pipelined_broadcast(c = 1){elsewhere}")
            return f"{_TREES} then {on}", _along_both(everywhere + elsewhere)
        case ContractKind.REDUCE:
            return (_TREES,)
        case ContractKind.ALLREDUCE:
            return f"{_TREES} then broadcast from 0", _along_both(everywhere)
        case ContractKind.REDUCE_SCATTER if _counted_as_usual(collective):
            # ranks of both axes' blocks are not combined in their order, those of a path are
            return (f"order row_major {_TREE} then run binomial_scatter",)
        case _:
            return ()


def _along_both(algorithm: str) -> str:
    return f"run columns by {algorithm} then run rows by {algorithm}"


def _counted_as_usual(collective: Collective) -> bool:
    """Whether ranks have the numbers that the order row_major gives them."""
    orders = (step.order for step in collective.steps if isinstance(step, RunStep))
    return collective.counts_along == "x" and all(order in _USUAL for order in orders)
