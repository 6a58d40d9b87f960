"""A lower bound on the cycles of a contract, whatever the algorithm.

Let PE f be farthest from PE r, D hops away, and let the contract demand that r ends with something
of f's vector in each of its B elements (one element a wavelet). f's processor puts one wavelet a
cycle on its ramp, so the last of the B contributions leaves it in cycle B at the earliest. From
there to r's processor, by whatever way, it takes two ramps, D hops and the cycle in which r uses
it: B + 2 ramp + D hop + 1 cycles. Start-up costs are left out, so the bound holds for any program.

    broadcast   f is the root and r the PE farthest from it
    reduce      r is the PE with the result and f the PE farthest from it
    allreduce   r and f are two opposite corners

Of a contract about slices some PE has to send, or to take, all slices but its own, of which the
last goes at least to a neighbour.
"""

from __future__ import annotations

from collc.schedule import Schedule, home_pe
from collc.spec import ContractKind
from collc.target import Target


def bound_of(schedule: Schedule, target: Target) -> int:
    """The bound in cycles; 0 for a single PE, which has nothing to do."""
    distance = _distance(schedule)
    if distance == 0:
        return 0
    contract, grid = schedule.collective.contract, schedule.collective.grid
    length = contract.length
    if contract.kind.by_slices:
        others = length - -(-length // (grid.width * grid.height))
        return others + 2 * target.ramp + target.hop + 1
    return length + 2 * target.ramp + distance * target.hop + 1


def _distance(schedule: Schedule) -> int:
    """The distance D of the argument above, in hops."""
    grid = schedule.collective.grid
    if schedule.collective.contract.kind is ContractKind.ALLREDUCE:
        return grid.width - 1 + grid.height - 1
    x, y = home_pe(schedule)
    return _farthest(x, grid.width) + _farthest(y, grid.height)


def _farthest(coordinate: int, extent: int) -> int:
    return max(coordinate, extent - 1 - coordinate)
