"""Plans of large grids, phase by phase, each on one of its lines.

Lines of a phase are alike, and what PEs hold would be a number for each PE and atom, on a grid of
512 x 512 with 512 slices a gigabyte. So there each phase is followed by itself, on its first line:
whatever it begins with, it has to leave what its part of the schedule does. What phases have to do
with each other, `exclusive_receive` looks at: they have no router of a color in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from collc.base.columns import Bools
from collc.base.grids import Grid, Site
from collc.base.values import dataclass
from collc.machine import cuts
from collc.plan import Phase, Plan, Region, Strided
from collc.plan.one_word import is_one_word
from collc.schedule import BroadcastPhase, ReducePhase, Schedule
from collc.schedule.moves import left_by, moved, on_first_line
from collc.schedule.own_slices import asks_own_slices, own_slices
from collc.spec.exchange import StepsPhase

MOST_NUMBERS = 1 << 15  # PEs times atoms, up to which all phases are followed together

_HERE = Strided(0, 0)


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a plan to be followed by itself, with what it is to do. `asked` says which slices
    of which PEs count behind it, [PEs, slices]; None is what the contract promises. Its PEs may
    have other coordinates than on the grid: `named` is followed to say what is wrong."""

    plan: Plan
    schedule: Schedule
    asked: Bools | None = None
    named: Part | None = None


def parts(plan: Plan, schedule: Schedule) -> Iterator[Part]:
    """A plan as a whole, or, on a large grid, phase by phase. A word that is sent to all in the
    phase before (`collc.plan.one_word`) keeps both together."""
    collective = schedule.collective
    grid = collective.grid
    numbers = grid.width * grid.height * (len(cuts(plan)) - 1)
    if numbers <= MOST_NUMBERS or grid.is_line or collective.path or grid.site:
        yield Part(plan, schedule)
        return
    last = len(plan.phases) - (2 if is_one_word(plan) else 0)
    for phase, pattern in zip(plan.phases[:last], schedule.phases, strict=False):
        if isinstance(pattern, BroadcastPhase):
            yield _thinned(plan, schedule, phase, pattern)
        else:
            yield _on_one_line(plan, schedule, phase, pattern)
    if last < len(plan.phases):
        both = replace(plan, phases=plan.phases[last:])
        everywhere = np.ones((grid.width * grid.height, 1), np.bool_)
        yield Part(both, Schedule(collective, schedule.phases[last:]), everywhere)


def _thinned(plan: Plan, schedule: Schedule, phase: Phase, pattern: BroadcastPhase) -> Part:
    """A multicast on the first and the last row and column of each region: between them a region
    does the same everywhere. On the whole grid where regions are no stretches."""
    collective = schedule.collective
    grid, runs = (
        collective.grid,
        [run for region, _ in phase.regions for run in (region.x, region.y)],
    )
    everywhere = np.ones((grid.width * grid.height, 1), np.bool_)
    one = replace(plan, phases=(phase,))
    whole = Part(one, Schedule(collective, (pattern,)), everywhere)
    if any(run.repeats > 1 or (run.step > 1 and run.first < run.last) for run in runs):
        return whole
    columns, rows = (
        sorted({at, *(end for run in of for end in (run.first, run.last))})
        for at, of in ((pattern.x, runs[::2]), (pattern.y, runs[1::2]))
    )
    regions = tuple(
        (Region(_among(columns, region.x), _among(rows, region.y)), role)
        for region, role in phase.regions
    )
    width, height = len(columns), len(rows)
    alone = replace(collective, grid=replace(grid, width=width, height=height), root=None)
    x, y = columns.index(pattern.x), rows.index(pattern.y)
    here = replace(pattern, x=x, y=y, width=width, height=height)
    thin = replace(plan, collective=alone, phases=(replace(phase, regions=regions),))
    return Part(thin, Schedule(alone, (here,)), everywhere[: width * height], whole)


def _among(coordinates: Sequence[int], run: Strided) -> Strided:
    """The coordinates that are left of a run, by their numbers."""
    return Strided(coordinates.index(run.first), coordinates.index(run.last))


def _on_one_line(
    plan: Plan, schedule: Schedule, phase: Phase, pattern: ReducePhase | StepsPhase
) -> Part:
    """A phase on the first of its lines; that line is all there is."""
    collective, along_x = schedule.collective, pattern.axis == "x"
    grid, here = collective.grid, on_first_line(pattern)
    contract = replace(collective.contract, length=phase.slicing.length)
    line = replace(grid, height=1) if along_x else replace(grid, width=1)
    x, y = (0, pattern.lines[0]) if along_x else (pattern.lines[0], 0)
    regions = tuple(
        (Region(region.x, _HERE) if along_x else Region(_HERE, region.y), role)
        for region, role in phase.regions
    )
    on_line = replace(phase, regions=regions, blocks=None)
    asked = _asked(schedule, pattern)

    def on(grid: Grid, named: Part | None = None) -> Part:
        alone = replace(collective, grid=grid, contract=contract, root=None)
        one = replace(plan, collective=alone, phases=(on_line,))
        return Part(one, Schedule(alone, (here,)), asked, named)

    return on(line, on(replace(line, site=Site(grid, x, y))))


def _asked(schedule: Schedule, pattern: ReducePhase | StepsPhase) -> Bools:
    """What counts behind a phase, [places, slices]: anything may be left in slices that nobody asks
    for."""
    own = own_slices(pattern) if asks_own_slices(schedule, pattern) else None
    return own if own is not None else left_by(pattern, moved(schedule, pattern))
