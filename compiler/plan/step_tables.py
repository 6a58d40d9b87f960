"""What the entries of step tables have alike, which the emitted code need not ask of each one.

A step table is the rows of a lane. Emission prints what is said here, the cost model counts it.
"""

from collections.abc import Iterator

import numpy as np

from collc.base.columns import Ints
from collc.base.memoize import memoized
from collc.base.values import dataclass
from collc.plan import Phase, RowKind
from collc.plan.entries import table_at
from collc.plan.form import form_of
from collc.plan.geometry import line_of

SENDS, RELAYS, RECEIVES = int(RowKind.SENDS), int(RowKind.RELAYS), int(RowKind.RECEIVES)
ENDS = int(RowKind.ENDS)


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


@memoized
def extent_of(phase: Phase) -> int:
    """How many elements every row of a phase sends and how many it receives, if that is the same
    number for all of them; else 0. What is relayed has other lengths, and so has what is cut when
    the program runs."""
    slicing = phase.slicing
    if not form_of(phase).is_cut or slicing.dynamic or not slicing.even:
        return 0
    counts = {count for found in _counts(phase) for count in found}
    slice_length = slicing.length // slicing.count
    return counts.pop() * slice_length if len(counts) == 1 else 0


def _counts(phase: Phase) -> Iterator[list[int]]:
    """The slices that rows send and receive, 0 for a relay."""
    for one in tables_by_role(phase):
        for table in one.tables:
            kind, _, out, _, into = table.transpose(1, 0, 2)
            yield np.unique(out[(kind & SENDS) > 0]).tolist()
            yield np.unique(into[(kind & RECEIVES) > 0]).tolist()
            yield [0] * int(((kind & RELAYS) > 0).any())
