"""What a phase need not leave: slices that nobody asks for afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from collc.schedule.model import BroadcastPhase, Phase, ReducePhase, Schedule
from collc.schedule.pes import home_pe
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase

Bools = npt.NDArray[np.bool_]


def asks_own_slices(schedule: Schedule, phase: Phase) -> bool:
    """Whether nothing but its own slice is asked of a rank behind a phase along one line: nothing
    else is left of what the contract promises once the phases behind it are through."""
    contract, grid = schedule.collective.contract, schedule.collective.grid
    on_line = schedule.collective.path is not None or min(grid.width, grid.height) == 1
    if contract.own is not None or not on_line or not isinstance(phase, StepsPhase):
        return False
    at = next(index for index, one in enumerate(schedule.phases) if one is phase)
    work_space = _work_space(phase, schedule.phases[at + 1 :])
    return work_space is not None and not bool((work_space & _asked(schedule, phase)).any())


def _asked(schedule: Schedule, phase: StepsPhase) -> Bools:
    """What the contract promises of slices that are cut as the phase cuts them."""
    kind = schedule.collective.contract.kind
    asked = np.zeros((phase.ranks, phase.slicing.count), np.bool_)
    if kind is ContractKind.REDUCE_SCATTER and phase.slicing.count == phase.ranks:
        np.fill_diagonal(asked, val=True)
    elif kind is ContractKind.REDUCE and schedule.collective.path is None:
        asked[home_pe(schedule)[0 if phase.axis == "x" else 1]] = True
    else:
        asked[:] = True
    return asked


def _work_space(phase: StepsPhase, behind: Sequence[Phase]) -> Bools | None:
    """Which slices of which places have come of another slice than a rank's own, after the phases
    behind; None where they are not cut alike, or combine whole vectors."""
    ranks = phase.ranks
    if phase.slicing.count != ranks or phase.places != tuple(range(ranks)):
        return None
    found = ~np.eye(ranks, dtype=np.bool_)
    for one in behind:
        if isinstance(one, ReducePhase):
            return None
        if isinstance(one, BroadcastPhase):
            found[:] = found[one.x if phase.axis == "x" else one.y]
            continue
        if one.slicing != phase.slicing or one.places != phase.places:
            return None
        for moves in one.steps:
            each = moves.by_slice()
            arriving, into = found[each.source, each.slice], (each.destination, each.into)
            copied = ~each.combines
            found[each.destination[copied], each.into[copied]] = False
            np.logical_or.at(found, into, arriving)  # several may combine into one
    return found
