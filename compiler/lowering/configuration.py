"""What phases set routers to: whether two uses of a color do so alike, at every PE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from collc.grids import Grid
from collc.paths import Path
from collc.plan import Phase, Route
from collc.program import ProgramPlan, Use


@dataclass(frozen=True)
class Configuration:
    """The routers of a color in one phase, on all PEs: the distinct settings, and for each PE which
    of them it has, 0 for none. With a `path` PEs are places on it."""

    place: tuple[object, ...]
    path: Path | None
    settings: tuple[tuple[Route, ...], ...]
    of_pes: bytes


def configuration(plan: ProgramPlan, use: Use, color: str) -> Configuration:
    """How a use sets the routers of one of its symbolic colors."""
    one, phase = plan.plans[use.collective].collective, plan.phase(use)
    settings = tuple(sorted(set(_settings(phase, color)), key=str))
    lined = one.lined if phase.path else one.grid
    of_pes = np.zeros((lined.height, lined.width), dtype=np.int16)
    for region, index in phase.regions:
        for used in phase.roles[index].colors:
            if used.color == color:
                number = settings.index(used.positions) + 1
                of_pes[np.ix_(list(region.y), list(region.x))] = number
    return Configuration(_place(one.grid), phase.path, settings, of_pes.tobytes())


def _place(grid: Grid) -> tuple[object, ...]:
    """Where a grid lies, whatever it is called."""
    site = grid.site
    if site is None:
        return grid.width, grid.height
    return grid.width, grid.height, site.x, site.y, site.lines, site.copies


def torn_down_by(plan: ProgramPlan, use: Use) -> tuple[str, ...]:
    """The symbolic colors of a use that are torn down, in order."""
    return tuple(sorted(name for name, k in use.positions if plan.colors[k].torn_down))


def setters(plan: ProgramPlan) -> tuple[int, ...]:
    """For each use the first one that sets routers as it does, which may be itself: one piece of
    code for both. The order of symbolic colors is that of registers, so it has to be the same."""
    first: dict[tuple[object, ...], int] = {}
    found = []
    for index, use in enumerate(plan.uses):
        position, torn = dict(use.positions), torn_down_by(plan, use)
        sets = ((position[name], configuration(plan, use, name)) for name in torn)
        found.append(first.setdefault(tuple(sets), index) if torn else index)
    return tuple(found)


def _settings(phase: Phase, color: str) -> Iterator[tuple[Route, ...]]:
    for role in phase.roles:
        yield from (use.positions for use in role.colors if use.color == color)
