"""What a contract of the user's own asks of a run, computed from the contract alone.

It knows nothing of transfers: for every rank, what is promised is combined from the vectors of the
ranks that it names, in their order, and compared with what the schedule gives.
"""

import numpy as np

from collc.run.unordered_reference import in_any_order
from collc.schedule import pes_of_ranks
from collc.spec import Collective, Operation
from collc.spec.arrays import Array, Mask
from collc.spec.custom_contract import Holdings, OwnContract, dues
from collc.spec.exchange import Slicing


def promised_of(collective: Collective) -> Mask:
    """Which elements of which PEs the contract promises, [height, width, length]."""
    own = _own(collective)
    return _mask(collective, own.promised)


def given_of(collective: Collective) -> Mask:
    """Which elements of which PEs it starts from."""
    own, grid = _own(collective), collective.grid
    if own.given is None:
        return np.ones((grid.height, grid.width, collective.contract.length), np.bool_)
    return _mask(collective, own.given)


def keeps_own(collective: Collective, given: Array, wanted: Array) -> bool:
    """Whether what is promised of `wanted` is what the contract makes of the vectors `given`."""
    own, slicing = _own(collective), _slicing(collective)
    pes = pes_of_ranks(collective)
    for due in dues(own):
        there = slice(slicing.bound(due.into), slicing.bound(due.into + due.count))
        taken = slice(slicing.bound(due.slice), slicing.bound(due.slice + due.count))
        operands = np.stack([given[y, x, taken] for x, y in (pes[rank] for rank in due.whose)])
        x, y = pes[due.holder]
        if not _same(wanted[y, x, there], operands, collective):
            return False
    return True


def _same(result: Array, operands: Array, collective: Collective) -> bool:
    """Compare with operands combined in any order; rounding may differ a little."""
    if len(operands) == 1:
        bits = f"u{operands.dtype.itemsize}"
        return bool((result.view(bits) == operands[0].view(bits)).all())
    operation = collective.contract.operation
    if not isinstance(operation, Operation):
        return True  # in another order of combining it may give something else
    return bool(in_any_order(operation, operands).allows(result).all())


def _mask(collective: Collective, held: Holdings) -> Mask:
    grid, slicing = collective.grid, _slicing(collective)
    found = np.zeros((grid.height, grid.width, slicing.length), np.bool_)
    pes = pes_of_ranks(collective)
    for holder, into, count in {
        *zip(held.holder.tolist(), held.into.tolist(), held.count.tolist(), strict=True)
    }:
        x, y = pes[holder]
        found[y, x, slicing.bound(into) : slicing.bound(into + count)] = True
    return found


def _slicing(collective: Collective) -> Slicing:
    return Slicing(_own(collective).slices, collective.contract.length)


def _own(collective: Collective) -> OwnContract:
    own = collective.contract.own
    assert own is not None
    return own
