"""Registers for what PEs receive on the colors of a program while they send.

Where a length of the run chooses what is called, such a register is the color's: it is loaded
before the program begins, and all phases on the color use it. The registers behind it go to the
phases in turn, so none of them may be a color's.
"""

from __future__ import annotations

from collections.abc import Iterator

from collc.arithmetic import arithmetic_of
from collc.lowering.resources import source_dsrs_of_phase
from collc.plan import Phase, Plan, SendVector, StoreVectors
from collc.program import ProgramPlan, Use
from collc.spec import ContractKind

NONE = -1  # no phase needs one for this color


def color_registers(plan: ProgramPlan) -> tuple[int, ...]:
    """For each color the position of its register in `dsr_ids`, or NONE; empty where phases have
    registers of their own.

    Every color has the one with its number if those that phases take in turn are not among them.
    Else only colors that a tree receives on while it sends have any, and colors with one input
    queue, which no PE has two of, have the same.
    """
    if not plan.program.selections:
        return ()
    needed = _needing(plan)
    if _one_each(plan, needed):
        return tuple(range(len(plan.colors)))
    queues = [color.input_queue for color in plan.colors]
    used = list(dict.fromkeys(queues[k] for k in sorted(needed)))
    return tuple(used.index(q) if k in needed else NONE for k, q in enumerate(queues))


def registers_needed(plan: ProgramPlan) -> int:
    """How many registers of file src1 the colors take, with those of the phases in turn that must
    be others."""
    if not plan.program.selections:
        return 0
    if _one_each(plan, _needing(plan)):
        return len(plan.colors)
    return max(color_registers(plan), default=NONE) + 1 + _in_turn(plan)


def source_positions(plan: ProgramPlan) -> tuple[int, ...]:
    """The registers of file src1 as phases count them, as positions in `dsr_ids`: first that of
    each color, whether it has any or not, then those that are left."""
    registers = color_registers(plan)
    own = max(registers, default=NONE) + 1
    return (*(max(one, 0) for one in registers), *range(own, len(plan.dsr_ids)))


def _needing(plan: ProgramPlan) -> set[int]:
    """The colors that need a register."""
    return {k for use in plan.uses for k in _combined_on(plan, use)}


def _one_each(plan: ProgramPlan, needed: set[int]) -> bool:
    """Whether every color can have the register with its number: there are so many, and none that
    is needed is among the last ones, which phases take in turn."""
    room = len(plan.dsr_ids) - _in_turn(plan)
    return len(plan.colors) <= len(plan.dsr_ids) and max(needed, default=NONE) < room


def _combined_on(plan: ProgramPlan, use: Use) -> Iterator[int]:
    """The colors that some PE receives on by the operation with which it sends."""
    if _by_call_back(plan.plans[use.collective]):
        return
    positions = dict(use.positions)
    steps = (step for role in plan.phase(use).roles for step in role.steps)
    for step in steps:
        if isinstance(step, SendVector) and step.combines_from is not None:
            yield positions[step.combines_from]


def _in_turn(plan: ProgramPlan) -> int:
    """How many registers a phase takes beside those of colors, at most."""
    return max((_own_sources(one, phase) for one in plan.plans for phase in one.phases), default=0)


def _own_sources(plan: Plan, phase: Phase) -> int:
    if phase.exchange is not None or phase.kind is ContractKind.BROADCAST:
        return source_dsrs_of_phase(phase)
    stores = any(isinstance(step, StoreVectors) for role in phase.roles for step in role.steps)
    return int(stores and not _by_call_back(plan))


def _by_call_back(plan: Plan) -> bool:
    return arithmetic_of(plan.element, plan.operation).kind == "map"
