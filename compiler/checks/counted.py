"""What phases take of the machine, counted by their operations and routers, not by the planner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collc.plan import Action, Advance, Phase


def colors_of(phases: Iterable[Phase]) -> tuple[str, ...]:
    """The colors that some router has a route for, phase by phase, sorted within a phase."""
    found: dict[str, None] = {}
    for phase in phases:
        found |= dict.fromkeys(sorted({use.color for role in phase.roles for use in role.colors}))
    return tuple(found)


def switched_colors(phases: Sequence[Phase]) -> frozenset[str]:
    """The colors that have more than one position at some router."""
    uses = (use for phase in phases for role in phase.roles for use in role.colors)
    return frozenset(use.color for use in uses if len(use.positions) > 1)


def queues_of_phase(phase: Phase) -> int:
    """Input queues, and output queues, that a PE has bound at a time: one for each lane."""
    return len({lane.name for role in phase.roles for lane in role.lanes})


def tasks_of_phase(phase: Phase) -> int:
    """Local tasks: one for each lane of step tables; where vectors are combined three, behind
    storing, sending and the control wavelet; behind a multicast one. Of a stream one that joins
    operations, one for control wavelets, and one for each lane whose words go through a PE."""
    if phase.streams:
        return 1 + _any_reset(phase) + _lanes_through(phase)
    if phase.exchange:
        return queues_of_phase(phase)
    ops = (op for role in phase.roles for op in role.ops)
    return 3 if any(op.action is Action.COMBINE for op in ops) else 1


def _any_reset(phase: Phase) -> int:
    """1 if some PE sets switches back."""
    return int(any(op.advance is Advance.RESET for role in phase.roles for op in role.ops))


def _lanes_through(phase: Phase) -> int:
    """Lanes on which an operation goes from color to color."""
    lanes = (lane for role in phase.roles for lane in role.lanes)
    return len({lane.name for lane in lanes if any(op.combines_from for op in lane.ops)})
