"""A lower bound on the cycles of a contract, whatever the program.

The argument is in docs/bounds.md. What is assumed of the machine: a processor puts at most one
wavelet a cycle on its ramp and takes at most one from it; a link carries one a cycle and
direction; what is sent in cycle t is used `d` hops on in cycle t + 2 ramp + d hop + 1 at the
earliest. Of the program: a wavelet tells of one word of the vector, which is one element of 32 bits
or two of 16. Start-up is left out. In reading order: `bound_of`, contracts about whole vectors,
contracts about slices, distances.
"""

from itertools import product
from math import ceil
from typing import TypeVar

import numpy as np

from collc.base.columns import Ints, repeated_rows
from collc.base.grids import Grid
from collc.base.values import dataclass
from collc.schedule import pes_of_ranks
from collc.spec import Collective, Contract, ContractKind, ElementType
from collc.spec.custom_contract import OwnContract
from collc.spec.slice_ownership import owners
from collc.target import Target


@dataclass(frozen=True)
class _Machine:
    """`visit` is the price of a processor on the way, `hop` that of a link, both in cycles."""

    visit: int
    hop: int


def bound_of(collective: Collective, home: tuple[int, int], target: Target) -> int:
    """The bound in cycles; 0 for a single PE, which has nothing to do. `home` is the PE that a
    rooted contract ends at or starts from."""
    contract, grid = collective.contract, collective.grid
    machine = _Machine(target.visit, target.hop)
    if contract.own is not None:
        return _own(collective, contract.own, machine)
    rooted = contract.kind.rooted
    at = home if rooted else (0, 0)
    beyond = _beyond(grid, *at)
    if len(beyond) < 2:
        return 0
    if contract.kind.by_slices:
        return _slices(collective, [at] if rooted else [], machine)
    words = words_of(contract)
    message = words + machine.visit + machine.hop * (len(beyond) - 1)
    if contract.kind is ContractKind.ALLREDUCE:
        message = max(message, _told(words, int(beyond[0]), machine))
    if contract.kind.reduces and words:  # the tokens of a barrier have no length
        return max(message, _reduction(words, beyond, machine))
    return message


def words_of(contract: Contract) -> int:
    """The wavelets that a vector fills."""
    return _words(contract.length, contract.element)


Count = TypeVar("Count", int, Ints)


def _words(elements: Count, element: ElementType) -> Count:
    """The wavelets that so many elements fill."""
    return -(-elements * element.bytes // 4)


def _told(words: int, pes: int, machine: _Machine) -> int:
    """Until the first PE knows what all have of a word, all but one have told something of it; then
    all but that one have to be told. So many wavelets are taken by all PEs together."""
    return -(-2 * (pes - 1) * words // pes) + machine.visit + machine.hop


def _reduction(words: int, beyond: Ints, machine: _Machine) -> int:
    """A PE whose word takes one visit only costs the root a wavelet of its own.

    For each d, the m PEs at least d hops away: of a word's contributions from them at most as many
    as the root receives wavelets for it come in one visit, the others in two or more.
    """
    away = beyond[1:].astype(np.float64)
    hops = np.cumsum(away[::-1])[::-1]  # of all these PEs together, less what is nearer
    mean = (hops / away + np.arange(len(away))) * machine.hop
    share = machine.visit / (words * away)
    first = machine.visit + machine.hop
    least = (words + mean + 2 * machine.visit + first * share) / (1 + share)
    return ceil(float(least.max()) - 1e-6)


def _slices(collective: Collective, roots: list[tuple[int, int]], machine: _Machine) -> int:
    """What a PE has to send, or to take, of the slices of all that are at least d hops away, for
    every d; in an all_to_all each of them has a slice for it, too, and none can be combined."""
    contract = collective.contract
    pes, elements = _owned(collective)
    by_pair = contract.kind is ContractKind.ALL_TO_ALL
    least = _crossing(collective.grid, pes, elements, contract.element, machine) if by_pair else 0
    for root in roots or _far_out(collective.grid):
        away = np.abs(pes - np.array(root)).sum(axis=1)
        due = [_words(_at_least_away(away, elements), contract.element)]
        if by_pair:
            own = _words(elements[away == 0].sum(), contract.element)
            due.append(own * _at_least_away(away, np.ones_like(elements)))
        for words in due:
            last = words + machine.hop * np.arange(len(words)) + machine.visit
            least = max(least, int(np.where(words[1:] > 0, last[1:], 0).max(initial=0)))
    return least


def _owned(collective: Collective) -> tuple[Ints, Ints]:
    """(x, y) of every PE, and how many elements it owns."""
    found = [(pe, max(0, part.stop - part.start)) for pe, part in owners(collective)]
    return np.array([pe for pe, _ in found]), np.array([elements for _, elements in found])


_ALL_LOOKED_AT = 1024  # PEs


def _far_out(grid: Grid) -> list[tuple[int, int]]:
    """The PEs that others are farthest from: the corners; where there are few PEs, all of them, as
    one with a shorter slice of its own may have more to take."""
    xs, ys = range(grid.width), range(grid.height)
    if grid.width * grid.height > _ALL_LOOKED_AT:
        xs, ys = xs[:: max(1, len(xs) - 1)], ys[:: max(1, len(ys) - 1)]
    return list(product(xs, ys))


def _at_least_away(away: Ints, number: Ints) -> Ints:
    """Entry d: the sum of `number` over the PEs at least d hops away."""
    at = np.bincount(away, weights=number)
    return np.cumsum(at[::-1])[::-1].astype(np.int64)


def _own(collective: Collective, own: OwnContract, machine: _Machine) -> int:
    """What a rank has to take of what others have, from at least d hops away, for every d."""
    contract, held = collective.contract, own.promised
    bounds = np.arange(own.slices + 1, dtype=np.int64) * contract.length // own.slices
    row, within = repeated_rows(held.count)
    into = held.into[row] + within
    pes = np.array(pes_of_ranks(collective))
    away = np.abs(pes[held.holder] - pes[held.whose]).sum(axis=1)[row]
    places, place = np.unique(
        np.stack([held.holder[row], into], axis=1), axis=0, return_inverse=True
    )
    farthest = np.zeros(len(places), np.int64)
    np.maximum.at(farthest, place.reshape(-1), away)
    least = 0
    for distance in np.unique(farthest[farthest > 0]).tolist():
        rank, slice_ = places[farthest >= distance].T
        most = np.bincount(rank, weights=bounds[slice_ + 1] - bounds[slice_]).max()
        words = _words(int(most), contract.element)
        if words:
            least = max(least, words + machine.visit + machine.hop * distance)
    return least


def _crossing(
    grid: Grid, pes: Ints, elements: Ints, element: ElementType, machine: _Machine
) -> int:
    """Slices that nobody can combine cross every cut between two columns, or two rows, over as many
    links as it is wide; the busiest has an equal part or more, and the last a visit and a hop to
    go."""
    most = 0
    for axis, (extent, links) in enumerate(((grid.width, grid.height), (grid.height, grid.width))):
        owned = np.cumsum(np.bincount(pes[:, axis], elements, extent)).astype(np.int64)[:-1]
        near = links * np.arange(1, extent)
        there = near * _words(elements.sum() - owned, element)
        back = (grid.width * grid.height - near) * _words(owned, element)
        for words in (there, back):
            most = max(most, int((-(-words // links)).max(initial=0)))
    return most + machine.visit + machine.hop if most else 0


def _beyond(grid: Grid, x: int, y: int) -> Ints:
    """Entry d: how many PEs are at least d hops from PE (x, y), for every d that occurs."""
    at = np.convolve(_distances(x, grid.width), _distances(y, grid.height))
    return np.asarray(np.cumsum(at[::-1])[::-1], dtype=np.int64)


def _distances(coordinate: int, extent: int) -> Ints:
    """How many coordinates are 0, 1, 2, ... away."""
    return np.bincount(np.abs(np.arange(extent) - coordinate)).astype(np.int64)
