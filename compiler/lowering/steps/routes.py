"""Circuits and relays along a path that is not contiguous, with the detours that they take through
the grid.

The wiring is that of the row that the path unfolds to, as ever. Where its routers lead is said by
detours: straight from PE to PE for every circuit, and for a hop of relays to a place that is no
neighbour. Colors are such that detours of one color meet neither on the row nor on the grid.
"""

from collections.abc import Iterable, Iterator

from collc.base.paths import Path
from collc.lowering.rank_programs import color_names
from collc.lowering.steps.traffic import Traffic
from collc.lowering.steps.wiring import (
    RELAY_LANES,
    Pair,
    Wiring,
    circuits,
    hops_of,
    relays,
)
from collc.plan import Detour
from collc.schedule import ReducePhase

Wired = tuple[Wiring, tuple[Detour, ...]]


def noncontiguous_circuits(traffic: Traffic, path: Path, axis: str, name: str) -> Wired | None:
    """A circuit for every pair; None if some PE would need too many lanes."""
    numbers: dict[Pair, int] = {}

    def numbered(pairs: list[Pair]) -> dict[Pair, int]:
        numbers.update(_numbered(pairs, path))
        return numbers

    wiring = circuits(traffic, len(path), axis, name, numbered)
    if wiring is None:
        return None
    return wiring, tuple(
        Detour(f"{name}_{number}", path.way(*pair)) for pair, number in numbers.items()
    )


def noncontiguous_relays(traffic: Traffic, path: Path, axis: str, name: str) -> Wired:
    """Lanes between places that follow each other: neighbours on the colors of relays, the others
    on further ones."""
    numbers = _numbered(_noncontiguous_hops(traffic, path), path)
    own = {pair: f"{name}_gap_{number}" for pair, number in numbers.items()}
    detours = tuple(Detour(color, path.way(*pair)) for pair, color in own.items())
    return relays(traffic, len(path), axis, name, own), detours


def noncontiguous_tree(
    phase: ReducePhase, path: Path, colored: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[Detour, ...]]:
    """The colors that ranks receive on, and detours, of a tree whose vectors pass no gap: whoever
    has its child across a gap receives on a further color than those it is `colored` with."""
    place = phase.coordinate
    ranks = {
        (place(transfer.source), place(transfer.destination)): transfer.destination
        for transfer in phase.transfers
        if path.crosses(place(transfer.source), place(transfer.destination))
    }
    received_on, first = list(colored), max(colored) + 1
    numbers = _numbered(ranks, path)
    for pair, number in numbers.items():
        received_on[ranks[pair]] = first + number
    names = color_names(max(received_on) + 1)
    detours = (
        Detour(f"{phase.name}_{names[first + n]}", path.way(*pair)) for pair, n in numbers.items()
    )
    return tuple(received_on), tuple(detours)


def _noncontiguous_hops(traffic: Traffic, path: Path) -> Iterator[Pair]:
    """The hops of relays to places that are no neighbours."""
    for sign in range(len(RELAY_LANES)):
        way = 1 - 2 * sign
        for place in hops_of(traffic, len(path), way):
            if max(place, place + way) in path.gaps:
                yield place, place + way


def _numbered(pairs: Iterable[Pair], path: Path) -> dict[Pair, int]:
    """For every pair the lowest number that none of the places on its way has yet, be it on the row
    or on the grid; short ways are numbered first."""
    taken: list[set[int]] = [set() for _ in range(len(path))]
    numbers: dict[Pair, int] = {}
    for pair in sorted(pairs, key=lambda pair: (abs(pair[0] - pair[1]), pair)):
        places = {path.place_of(pe) for pe in path.way(*pair)}
        places.update(range(min(pair), max(pair) + 1))
        used = set().union(*(taken[place] for place in places))
        numbers[pair] = next(number for number in range(len(used) + 1) if number not in used)
        for place in places:
            taken[place].add(numbers[pair])
    return numbers
