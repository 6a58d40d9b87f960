"""Algorithms that keep a contract from another root than the one that is said: most of them start
or end at rank 0, and nothing in the transfers that are missing elsewhere tells so."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from collc.base.diagnostics import Diagnostic
from collc.proof.order_advice import keeping_order
from collc.proof.steps import order_of
from collc.schedule import Schedule, corner_of, home_pe, unfolded
from collc.spec import Collective, ContractKind, RunStep

_ON_LINE = {
    ContractKind.BROADCAST: "broadcast from {}",
    ContractKind.REDUCE: "reduce binomial to {}",
    ContractKind.GATHER: "run ring_allgather to {}",
}
_ON_GRID = {
    ContractKind.BROADCAST: "broadcast from {0}",
    ContractKind.REDUCE: "reduce columns by binomial to {0} then reduce row by binomial to {0}",
    ContractKind.GATHER: "run rows by ring_allgather to {0} "
    "then run columns by ring_allgather to {0}",
}
_TRIED = 64  # ranks of a line at which a contract is tried; on longer ones only rank 0


def of_other_root(schedule: Schedule, keeps: Callable[[Schedule], bool]) -> Diagnostic | None:
    """C214: a schedule that does not keep its contract would, as `keeps` finds out, if the root
    were another rank."""
    flat = unfolded(schedule)
    collective = flat.collective
    runs = [step for step in collective.steps if isinstance(step, RunStep)]
    if not runs or not collective.contract.kind.rooted:
        return None
    home = home_pe(flat)
    for rank, place in _places(collective):
        other = replace(collective, root=place)
        if place != home and keeps(Schedule(other, flat.phases)):
            begins = collective.contract.kind.root_word == "from"
            run = runs[0] if begins else runs[-1]
            wanted = _called(collective, home)
            return Diagnostic(
                "C214",
                f"`{run.algorithm.text}` {'starts' if begins else 'ends'} at rank {rank}, and the "
                f"contract {'starts' if begins else 'ends'} at {wanted}",
                run.span,
                ((collective.contract.span, f"the contract is {collective.contract.name}"),),
                _help(schedule, run, rank, home),
            )
    return None


def _places(collective: Collective) -> Iterator[tuple[int, tuple[int, int]]]:
    """Ranks that the root may be instead, with their PEs; of a grid only the corner where both
    orders start."""
    yield 0, corner_of(collective)
    grid = collective.grid
    pes = grid.width * grid.height
    if grid.is_line and pes <= _TRIED:
        for rank in range(1, pes):
            place = _line(collective)[rank]
            yield rank, (place, 0) if grid.height == 1 else (0, place)


def _line(collective: Collective) -> tuple[int, ...]:
    """Where the ranks of a line are."""
    return next(step.places for step in collective.steps if isinstance(step, RunStep))


def _called(collective: Collective, home: tuple[int, int]) -> str:
    if not collective.grid.is_line:
        return f"PE {home}"
    return f"rank {_line(collective).index(max(home))}"


def _help(schedule: Schedule, run: RunStep, rank: int, home: tuple[int, int]) -> str:
    """The place that the algorithm was told; ranks counted so that the root comes first, and
    patterns that any rank may be the root of."""
    collective = schedule.collective
    word = collective.contract.kind.root_word
    there = f"`run {run.algorithm.text} {word} {rank}`" if rank else ""
    order = _turned(collective, home) if rank == 0 else ""
    begins = f"`{word} 0`"
    found = [f"name that place: {there}"] if there else []
    found += [f"count ranks from that PE on, by {order} and {begins}"] if order else []
    patterns = " or ".join(f"`{steps}`" for steps in _from_anywhere(schedule, home))
    found += [f"write {patterns}"] if patterns else []
    return ", or ".join(found) or f"begin the order at that PE, and write {begins}"


def _turned(collective: Collective, home: tuple[int, int]) -> str:
    """An order in which a PE is rank 0; empty where it would be an order of other lines."""
    grid = collective.grid
    if collective.path is not None:
        return ""
    orders = []
    if grid.width > 1:
        orders.append("east_to_west" if home[0] else "west_to_east")
    if grid.height > 1:
        orders.append("south_to_north" if home[1] else "north_to_south")
    if home[0] in (0, grid.width - 1) and home[1] in (0, grid.height - 1):
        return f"`order {', '.join(orders)}`"
    if not grid.is_line:
        return ""
    x = f"(i + {home[0]}) mod W" if grid.width > 1 else "0"
    y = f"(i + {home[1]}) mod H" if grid.height > 1 else "0"
    return f"`order turned`, declared as `order turned(W, H) : i -> ({x}, {y})`,"


def _from_anywhere(schedule: Schedule, home: tuple[int, int]) -> tuple[str, ...]:
    flat = unfolded(schedule)
    collective = flat.collective
    wide = not collective.grid.is_line
    place = home if wide else _line(collective).index(max(home))
    around = any(isinstance(step, RunStep) and step.order == "ring" for step in collective.steps)
    kind = collective.contract.kind
    if kind is ContractKind.REDUCE and (around or order_of(flat)):
        return keeping_order(flat)
    pattern = (_ON_GRID if wide else _ON_LINE).get(kind)
    return (pattern.format(place),) if pattern else ()
