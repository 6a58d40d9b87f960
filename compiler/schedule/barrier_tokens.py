"""A barrier as an exchange: its tokens made values, so that all behind the proof can treat them.

A token is a vector of one 16-bit element, one wavelet. A PE begins with 1 and adds what it
receives, so after a run the numbers tell which tokens have come: a lost or doubled one changes
them. Nothing depends on them, and the host does not see them.
"""

from dataclasses import replace

import numpy as np

from collc.base.memoize import by_identity
from collc.schedule import Schedule
from collc.spec import Collective, ContractKind, ElementType, Operation
from collc.spec.exchange import Moves, Slicing, StepsPhase

TOKEN = "token"  # the name of its variable in the emitted text


def collective_with_tokens(collective: Collective) -> Collective:
    """A barrier as plans have it, with a token for a vector; any other collective as it is."""
    if collective.contract.kind is not ContractKind.BARRIER:
        return collective
    contract = replace(
        collective.contract, element=ElementType.U16, length=1, operation=Operation.ADD
    )
    return replace(collective, contract=contract)


@by_identity(64)  # of the collectives of a program
def with_tokens(schedule: Schedule) -> Schedule:
    """The schedule of a barrier with tokens for vectors; any other schedule as it is."""
    if schedule.collective.contract.kind is not ContractKind.BARRIER:
        return schedule
    phases = tuple(
        _phase_with_tokens(phase) if isinstance(phase, StepsPhase) else phase
        for phase in schedule.phases
    )
    return Schedule(collective_with_tokens(schedule.collective), phases)


def _phase_with_tokens(phase: StepsPhase) -> StepsPhase:
    return replace(phase, slicing=Slicing(1, 1), steps=tuple(map(_combining, phase.steps)))


def _combining(moves: Moves) -> Moves:
    """The same transfers, each of one token that is added."""
    none, one = np.zeros_like(moves.slice), np.ones_like(moves.count)
    return replace(moves, slice=none, into=none, count=one, combines=np.ones_like(moves.combines))
