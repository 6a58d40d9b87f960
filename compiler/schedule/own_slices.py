"""What a phase need not leave: slices that nobody asks for afterwards."""

from collections.abc import Sequence

import numpy as np

from collc.base.columns import Bools
from collc.schedule.model import BroadcastPhase, Phase, ReducePhase, Schedule
from collc.schedule.pes import home_pe
from collc.spec import ContractKind
from collc.spec.exchange import StepsPhase


def asks_own_slices(schedule: Schedule, phase: Phase) -> bool:
    """Whether nothing but its own slice is asked of a rank behind a phase: nothing else is left of
    what the contract promises once the phases behind it are through."""
    if schedule.collective.contract.own is not None or not isinstance(phase, StepsPhase):
        return False
    behind = _behind_on_its_lines(schedule, phase)
    work_space = None if behind is None else _work_space(phase, behind)
    return work_space is not None and not bool((work_space & _asked(schedule, phase)).any())


def own_slices(phase: Phase) -> Bools | None:
    """Which slices are each rank's own: slice r is rank r's; a vector that is not cut is that of
    the rank that the last step goes to. None where slices belong to nobody."""
    if not isinstance(phase, StepsPhase):
        return None
    ranks, count = phase.ranks, phase.slicing.count
    if count == ranks:
        return np.eye(ranks, dtype=np.bool_)
    ends = np.unique(phase.steps[-1].destination)
    if count > 1 or len(ends) > 1:
        return None
    own = np.zeros((ranks, 1), np.bool_)
    own[ends] = True
    return own


def _behind_on_its_lines(schedule: Schedule, phase: StepsPhase) -> Sequence[Phase] | None:
    """The phases behind one that work on the vectors of its lines; None where lines across do, too.
    Those that run on slices take nothing but the own slice of a rank. Where slices differ in length
    they take one element of the next one as well, but what they make of that is overwritten."""
    collective, phases = schedule.collective, schedule.phases
    at = next(index for index, one in enumerate(phases) if one is phase)
    if collective.path is not None or collective.grid.is_line:
        return phases[at + 1 :]
    if collective.contract.kind is ContractKind.REDUCE_SCATTER:
        return () if _takes_own_blocks(phase, phases[at + 1 :]) else None
    if collective.contract.kind.by_slices or not any(map(works_on_blocks, phases)):
        return None
    return [one for one in phases[at + 1 :] if getattr(one, "axis", phase.axis) == phase.axis]


def _takes_own_blocks(phase: StepsPhase, behind: Sequence[Phase]) -> bool:
    """Whether each line across works on the block that is the own slice of its ranks, and nothing
    else is done behind a phase; where blocks differ in length, lines take an element of the next
    one as well, but what comes of that belongs to nobody."""
    return all(
        isinstance(one, StepsPhase)
        and one.axis != phase.axis
        and one.blocks is not None
        and len(one.blocks.lines) == phase.slicing.count == phase.ranks
        for one in behind
    )


def works_on_blocks(phase: Phase) -> bool:
    """Whether each line of a phase has a block of the vector, as those have that run on slices."""
    return isinstance(phase, StepsPhase) and phase.blocks is not None


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
    own = own_slices(phase)
    if own is None or phase.places != tuple(range(phase.ranks)):
        return None
    found = ~own
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
