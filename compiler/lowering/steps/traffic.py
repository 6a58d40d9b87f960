"""All transfers of a phase made of steps, as arrays, with places instead of ranks."""

import numpy as np

from collc.base.columns import Bools, Columns, Ints, joined
from collc.base.memoize import by_identity
from collc.base.values import dataclass
from collc.spec.exchange import NO_MOVES, StepsPhase

LAST = 2  # phases whose traffic is held, which may be tens of megabytes


@dataclass(frozen=True, eq=False)
class Traffic(Columns):
    """Transfers in the order of steps and, within a step, of their listing.

    Transfer i takes slices `first[i]` to `first[i] + count[i] - 1` of place `source[i]` to those
    from `into[i]` on of place `target[i]`.
    """

    step: Ints
    source: Ints
    target: Ints
    first: Ints
    into: Ints
    count: Ints
    combines: Bools


@by_identity(LAST)
def traffic_of(phase: StepsPhase) -> Traffic:
    """The transfers of all steps; those that move no slice are left out."""
    places = np.array(phase.places, dtype=np.int64)
    step = np.repeat(np.arange(len(phase.steps)), [len(moves) for moves in phase.steps])
    moves = joined([NO_MOVES, *phase.steps])
    first, into, count = (of.astype(np.int64) for of in (moves.slice, moves.into, moves.count))
    ends = places[moves.source], places[moves.destination]
    traffic = Traffic(step, *ends, first, into, count, moves.combines)
    return traffic if count.all() else traffic.chosen(count > 0)
