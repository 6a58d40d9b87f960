"""Phases whose colors are torn down behind them, for the next use of the color.

The last vector through a router is the last through all routers of its way (`behaviour`), so a
teardown behind each of those comes to every router once, when nothing of the phase follows. In an
exchange every lane has a way of its own, and its sender ends it.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from collc.plan import Advance, Phase, Role, SendVector, Step

LAST = frozenset((Advance.NOTHING, Advance.RESET))  # no vector follows on the color


def with_teardown(phase: Phase, colors: Set[str]) -> Phase:
    """The phase with a teardown behind the last vectors on `colors`."""
    if not colors:
        return phase
    return replace(phase, roles=tuple(_torn_down(role, colors) for role in phase.roles))


def _torn_down(role: Role, colors: Set[str]) -> Role:
    lanes = tuple(replace(lane, tears_down=lane.sends_on in colors) for lane in role.lanes)
    return replace(role, steps=tuple(_step(step, colors) for step in role.steps), lanes=lanes)


def _step(step: Step, colors: Set[str]) -> Step:
    if isinstance(step, SendVector) and step.color in colors and step.advance in LAST:
        return replace(step, advance=Advance.TEARDOWN)
    return step
