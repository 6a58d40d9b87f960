"""All transfers of a phase made of steps, as arrays, with places instead of ranks."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collc.base.memoize import by_identity
from collc.spec.exchange import Moves, StepsPhase

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LAST = 2  # phases whose traffic is held, which may be tens of megabytes


@dataclass(frozen=True, eq=False)
class Traffic:
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

    def __len__(self) -> int:
        return len(self.step)


@by_identity(LAST)
def traffic_of(phase: StepsPhase) -> Traffic:
    """The transfers of all steps; those that move no slice are left out."""
    places = np.array(phase.places, dtype=np.int64)
    steps = phase.steps
    step = np.repeat(np.arange(len(steps)), [len(moves) for moves in steps])
    all_moves = Traffic(
        step=step.astype(np.int64),
        source=places[_joined(steps, "source")],
        target=places[_joined(steps, "destination")],
        first=_joined(steps, "slice"),
        into=_joined(steps, "into"),
        count=_joined(steps, "count"),
        combines=_joined(steps, "combines").astype(np.bool_),
    )
    moves_something = all_moves.count > 0
    if moves_something.all():
        return all_moves
    return Traffic(**{name: of[moves_something] for name, of in vars(all_moves).items()})


def _joined(steps: tuple[Moves, ...], field: str) -> Ints:
    """One field of all steps, one after the other."""
    parts = [np.zeros(0, dtype=np.int64), *(getattr(moves, field) for moves in steps)]
    return np.concatenate(parts).astype(np.int64)
