"""A barrier as an exchange: its tokens made values, so that all behind the proof can treat them.

A token is a vector of one 16-bit element, one wavelet. A PE begins with 1 and adds what it
receives, so after a run the numbers tell which tokens have come: a lost or doubled one changes
them. Nothing depends on them, and the host does not see them.
"""

from dataclasses import replace

import numpy as np

from collc.base.memoize import by_identity
from collc.schedule import Schedule, build_schedule
from collc.spec import Collective, ContractKind, ElementType, Operation
from collc.spec.exchange import Moves, Slicing, StepsPhase

TOKEN = "token"  # the name of its variable in the emitted text


@by_identity(64)  # of the collectives of a program
def schedule_of(collective: Collective) -> Schedule:
    """What a collective that has been planned does, with its tokens if it is a barrier."""
    return with_tokens(build_schedule(collective))


def with_tokens(schedule: Schedule) -> Schedule:
    """The schedule of a barrier with tokens for vectors; any other schedule as it is."""
    collective = schedule.collective
    if collective.contract.kind is not ContractKind.BARRIER:
        return schedule
    contract = replace(
        collective.contract, element=ElementType.U16, length=1, operation=Operation.ADD
    )
    phases = tuple(
        _phase_with_tokens(phase) if isinstance(phase, StepsPhase) else phase
        for phase in schedule.phases
    )
    return Schedule(replace(collective, contract=contract), phases)


def _phase_with_tokens(phase: StepsPhase) -> StepsPhase:
    return replace(phase, slicing=Slicing(1, 1), steps=tuple(map(_combining, phase.steps)))


def _combining(moves: Moves) -> Moves:
    """The same transfers, each of one token that is added."""
    none, one = np.zeros_like(moves.slice), np.ones_like(moves.count)
    return replace(moves, slice=none, into=none, count=one, combines=np.ones_like(moves.combines))
