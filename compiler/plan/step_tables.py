"""The step tables of a phase: the rows of its lanes, at all places of a role at once."""

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.plan import Phase
from collc.plan.entries import table_at
from collc.plan.geometry import line_of


def places_of(phase: Phase, role: int) -> Ints:
    """The places on a line of the PEs that play a role, by its index."""
    along = (region.sides(phase.axis)[0] for region, index in phase.regions if index == role)
    return np.array(sorted({place for run in along for place in run}), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class RoleTables:
    """The places of a role on the line, and for each of its lanes the entries of all loops there,
    [entries, FIELDS, places]."""

    places: Ints
    tables: tuple[Ints, ...]


@memoized
def tables_by_role(phase: Phase) -> tuple[RoleTables, ...]:
    """The step tables of a phase, which the planner, checks and predictions all look at."""
    found, ranks = [], line_of(phase).ranks
    for index, role in enumerate(phase.roles):
        places = places_of(phase, index)
        places = places[(places >= 0) & (places < ranks)]
        found.append(RoleTables(places, tuple(table_at(lane, places) for lane in role.lanes)))
    return tuple(found)
