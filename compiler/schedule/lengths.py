"""What is run for vectors of a length that is given when a program runs."""

from dataclasses import replace

from collc.schedule import Schedule
from collc.spec import Collective
from collc.spec.exchange import StepsPhase


def of_length(schedule: Schedule, length: int) -> Schedule:
    """What is run for vectors of a length: the same steps, with fewer elements."""
    phases = tuple(
        replace(phase, slicing=replace(phase.slicing, length=length))
        if isinstance(phase, StepsPhase)
        else phase
        for phase in schedule.phases
    )
    return Schedule(collective_of_length(schedule.collective, length), phases)


def collective_of_length(collective: Collective, length: int) -> Collective:
    """The collective with vectors of a length."""
    contract = replace(collective.contract, length=length)
    return replace(collective, contract=contract)
