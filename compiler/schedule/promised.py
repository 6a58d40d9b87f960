"""What the contract of a schedule says something about: elements of some PEs, or of all."""

from collections.abc import Iterator

import numpy as np

from collc.base.columns import Bools, Ints
from collc.schedule.model import Schedule
from collc.schedule.pes import home_pe, pes_of_ranks
from collc.spec import Collective, ContractKind
from collc.spec.custom_contract import Holdings
from collc.spec.exchange import Slicing
from collc.spec.slice_ownership import Pe, owners

Part = tuple[Pe, slice]  # elements of a PE


def promised(schedule: Schedule, cuts: Ints | None = None) -> Bools:
    """Which elements of which PEs the contract says something about, [height, width, length]; with
    `cuts` which ranges of elements, of whose elements it is enough if it does of one: range i is
    elements cuts[i] to cuts[i + 1] - 1, and the last axis has as many as there are ranges."""
    contract, grid = schedule.collective.contract, schedule.collective.grid
    count = contract.length if cuts is None else len(cuts) - 1
    parts = _promised_parts(schedule)
    if parts is None:
        return np.ones((grid.height, grid.width, count), np.bool_)
    found = np.zeros((grid.height, grid.width, count), np.bool_)
    for (x, y), part in parts:
        if part.start < part.stop:
            found[y, x, part if cuts is None else _ranges(part, cuts)] = True
    return found


def _ranges(part: slice, cuts: Ints) -> slice:
    """The ranges that elements of a part are in."""
    first = int(np.searchsorted(cuts, part.start, side="right")) - 1
    return slice(first, int(np.searchsorted(cuts, part.stop)))


def _promised_parts(schedule: Schedule) -> Iterator[Part] | None:
    """What is promised; None if everything is."""
    contract = schedule.collective.contract
    if contract.own is not None:
        return parts_of(schedule.collective, contract.own.promised)
    if contract.kind in (ContractKind.REDUCE, ContractKind.GATHER):
        return iter([(home_pe(schedule), slice(0, contract.length))])
    if contract.kind in (ContractKind.SCATTER, ContractKind.REDUCE_SCATTER):
        return owners(schedule.collective)
    return None


def parts_of(collective: Collective, held: Holdings) -> Iterator[Part]:
    """The elements that holdings of a contract of the user's own are, each part once."""
    own, pes = collective.contract.own, pes_of_ranks(collective)
    assert own is not None
    slicing = Slicing(own.slices, collective.contract.length)
    rows = zip(held.holder.tolist(), held.into.tolist(), held.count.tolist(), strict=True)
    for holder, into, count in dict.fromkeys(rows):
        yield pes[holder], slice(slicing.bound(into), slicing.bound(into + count))
