"""What a phase of a program finds torn down, and sets; and what becomes of PEs that come to it."""

import numpy as np

from collc.base.columns import Bools
from collc.base.values import dataclass
from collc.cost.calls import Routers
from collc.cost.ends import parts_of
from collc.cost.phase_entry import places_of
from collc.cost.predict import Times
from collc.cost.processor import Piece
from collc.plan import ColorUse
from collc.plan.configuration import is_switched
from collc.plan.plan import ProgramPlan, Use


@dataclass(frozen=True)
class Switched:
    """The colors that a phase finds torn down, by name and number; by PE: which its router has,
    and what it sets."""

    colors: tuple[tuple[str, int], ...]
    used: tuple[Bools, ...]
    routers: Routers


@dataclass(frozen=True)
class Begun:
    """A phase that PEs have come to: when they have set their routers, which of them have waited
    for a teardown, and from when on the task runs that begins it there; the handlers that ran
    before, each from when to when, and those that are left."""

    at: Times
    waits: Bools
    task: Times
    handlers: tuple[tuple[Times, Times], ...]
    told: tuple[Piece, ...]


def switched_of(plan: ProgramPlan, use: Use) -> Switched:
    """What a use finds torn down."""
    grid = plan.plans[use.collective].collective.grid
    phase = plan.phase(use)
    shape = (grid.whole.width, grid.whole.height)
    of_use = ((name, plan.colors[k]) for name, k in use.positions)
    colors = tuple((name, color.number) for name, color in of_use if color.torn_down)
    names = [name for name, _ in colors]
    used = [np.zeros(shape, dtype=np.bool_) for _ in names]
    counts = np.zeros((*shape, 4), dtype=np.int64)  # arrays, outputs, switched, moving
    changing = {name for name, k in use.positions if name in names and is_switched(plan, k)}
    for count, *parts in zip(*(parts_of(grid, of) for of in (counts, *used)), strict=True):
        for region, number in phase.regions if names else ():
            places = places_of(phase, region)
            for color in phase.roles[number].colors:
                if color.color in names:
                    parts[names.index(color.color)][places] = True
                    count[places] += _counted(color, color.color in changing)
    torn: Times = np.sum(used, axis=0, dtype=np.int64) if names else counts[..., 0]
    return Switched(colors, tuple(used), Routers(torn, *np.moveaxis(counts, -1, 0)))


def _counted(use: ColorUse, switched: bool) -> tuple[int, int, int, int]:
    """What a router adds to `Routers`, but for itself."""
    outputs = len(use.positions[0].send)
    several = outputs > 1
    return several, outputs * several, switched, len(use.positions) > 1
