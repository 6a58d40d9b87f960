"""What a phase need not leave: slices that nobody asks for afterwards."""

from __future__ import annotations

from collc.schedule.model import Phase, Schedule
from collc.spec import ContractKind


def asks_own_slices(schedule: Schedule, phase: Phase) -> bool:
    """Whether nothing but its own slice is asked of a rank behind a phase: that of the last phase
    of a reduce_scatter along one line."""
    contract, grid = schedule.collective.contract, schedule.collective.grid
    on_line = schedule.collective.path is not None or min(grid.width, grid.height) == 1
    last = phase is schedule.phases[-1]
    return (
        contract.kind is ContractKind.REDUCE_SCATTER and contract.own is None and on_line and last
    )
