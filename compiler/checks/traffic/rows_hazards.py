"""No PE of an exchange changes elements that it is sending or receiving otherwise at the same time.

Operations of one row run beside each other, and rows of two lanes do between two ends of a step.
Of those no two may touch the same elements, unless both only read them.
"""

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from collc.base.columns import Ints
from collc.base.diagnostics import Diagnostic
from collc.base.joins import Ranges
from collc.base.memoize import memoized
from collc.checks.by_phase import in_phase
from collc.checks.step_table_entries import step_tables_of
from collc.plan import Phase, Plan, RowKind
from collc.plan.dynamic_lengths import phase_of_length
from collc.plan.unrolled import Unrolled, unrolled

SENDS, STAGES = int(RowKind.SENDS), int(RowKind.STAGES)
WRITES = int(RowKind.RECEIVES | RowKind.APPLIES)
ENDS = int(RowKind.ENDS)


def rows_hazards(plan: Plan) -> Iterator[Diagnostic]:
    """C323: elements that are changed while they are sent or received."""
    for phase in step_tables_of(plan):
        yield from _problems(phase_of_length(phase, phase.slicing.count))


@memoized
def _problems(phase: Phase) -> tuple[Diagnostic, ...]:
    rows = unrolled(phase)
    found = np.concatenate([_within_rows(rows), *_across_lanes(rows)])
    if not len(found):
        return ()
    lane = int(np.searchsorted(rows.start, found.min(), "right")) - 1
    row = int(found.min())
    elements = f"elements {rows.into_from[row]} to {rows.into_to[row] - 1}"
    problem = f"place {lane // rows.lanes} receives {elements} while it sends or receives them "
    help = "they have to be staged until the step has ended; please report this"
    return (in_phase("C323", phase, problem + "otherwise", help),)


def _within_rows(rows: Unrolled) -> Ints:
    """Rows that receive into what they send."""
    writes = ((rows.kind & WRITES) > 0) & ((rows.kind & STAGES) == 0)
    both = writes & ((rows.kind & SENDS) > 0)
    meets = (rows.into_from < rows.out_to) & (rows.out_from < rows.into_to)
    return np.flatnonzero(both & meets)


def _across_lanes(rows: Unrolled) -> Iterator[Ints]:
    """Rows that write what a row of another lane touches in the same step of a PE."""
    lane = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    ends = ((rows.kind & ENDS) > 0).astype(np.int64)
    ended: Ints = np.cumsum(ends) - ends
    before = np.concatenate((ended, [0]))[np.minimum(rows.start[:-1], len(ended))]
    step = ended - before[lane]
    key = lane // rows.lanes * (int(step.max(initial=0)) + 1) + step
    writes = ((rows.kind & WRITES) > 0) & ((rows.kind & STAGES) == 0)
    sends = (rows.kind & SENDS) > 0
    for one, other in permutations(range(rows.lanes), 2):
        writing = np.flatnonzero(writes & (lane % rows.lanes == one))
        for touching, low, high in (
            (sends, rows.out_from, rows.out_to),
            (writes, rows.into_from, rows.into_to),
        ):
            beside = np.flatnonzero(touching & (lane % rows.lanes == other))
            changed = Ranges(key[writing], rows.into_from[writing], rows.into_to[writing])
            touched = Ranges(key[beside], low[beside], high[beside])
            yield writing[changed.overlap(touched)]
