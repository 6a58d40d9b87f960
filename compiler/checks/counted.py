"""What phases take of the machine, counted by their operations and routers, not by the planner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collc.plan import Action, Phase


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
    storing, sending and the control wavelet; behind a multicast one."""
    if phase.exchange:
        return queues_of_phase(phase)
    ops = (op for role in phase.roles for op in role.ops)
    return 3 if any(op.action is Action.COMBINE for op in ops) else 1
