"""Slices that differ in length although vectors a little longer would take less time.

Where all slices are equal, registers go on from slice to slice by themselves, and nobody waits for
one who has more.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from collc.base.diagnostics import Diagnostic
from collc.schedule import Schedule
from collc.spec.exchange import StepsPhase
from collc.target import Target
from collc.tuning.decide import candidate_of, predicted
from collc.tuning.link_load import transfers
from collc.tuning.other_plans import MOST_HOPS, hops_of
from collc.tuning.thresholds import LONG


def uneven_slices(schedule: Schedule, cycles: int, target: Target) -> Iterator[Diagnostic]:
    """C803: slices that differ, if the next length that makes them equal takes clearly less."""
    phases = [phase for phase in schedule.phases if isinstance(phase, StepsPhase)]
    uneven = [phase for phase in phases if not phase.slicing.even and phase.blocks is None]
    contract = schedule.collective.contract
    if not uneven or contract.run_length or contract.own or hops_of(schedule) > MOST_HOPS:
        return
    phase = uneven[0]
    length = -(-contract.length // phase.slicing.count) * phase.slicing.count
    longer = replace(schedule.collective, contract=replace(contract, length=length))
    other = candidate_of(longer, target)
    limit = round((1 - LONG) * cycles)
    if other.at_least > limit:
        return
    found = predicted(other, target, [])[1]
    if found.cycles is None or found.cycles > limit:
        return
    yield Diagnostic(
        "C803",
        f"{_told(schedule, phase)}: {cycles - found.cycles} of {cycles} cycles are lost by that",
        phase.span,
        help=f"with vectors of {length} elements all slices are equal, and `{phase.algorithm}` is "
        f"predicted to take {found.cycles} cycles instead of {cycles}",
    )


def _told(schedule: Schedule, phase: StepsPhase) -> str:
    """Which slices there are, and where a longer one is sent first."""
    sizes = sorted(set(np.diff(phase.slicing.bounds).tolist()))
    both = f"{sizes[0]} and {sizes[-1]} elements"
    step, (source, target, size) = next(
        (index, found)
        for index in range(len(phase.steps))
        if len((found := transfers(phase, index))[0])
    )
    longest = int(size.argmax())
    one, other = (
        schedule.collective.pe_at(phase.axis, int(ends[longest]), phase.lines[0])
        for ends in (source, target)
    )
    first = f"as from PE {one} to PE {other} in step {step}, which takes {size[longest]}"
    return f"`{phase.algorithm}` sends slices of {both}, {first}"
