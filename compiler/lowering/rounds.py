"""How many operations it takes to add several vectors into memory."""

from __future__ import annotations

from dataclasses import replace

from collc.plan import Phase, Step, StoreVectors

# Where the length is given at run time, an operation for one vector is sooner begun than one for
# several, but behind it a task begins. Of two vectors the first mostly comes much earlier.
FEW = 2


def rounds_for(vectors: int, length: int, max_extent: int) -> int:
    """The smallest divisor k of `vectors` with `vectors / k * length <= max_extent` elements.

    If not even one vector fits, `vectors`; the check of extents refuses that plan.
    """
    fitting = (
        rounds
        for rounds in range(1, vectors + 1)
        if vectors % rounds == 0 and vectors // rounds * length <= max_extent
    )
    return next(fitting, vectors)


def one_by_one(phase: Phase, few: int) -> Phase:
    """The phase with an operation for each vector wherever up to `few` are stored."""

    def changed(step: Step) -> Step:
        if not isinstance(step, StoreVectors) or step.vectors > few:
            return step
        return replace(step, rounds=step.vectors)

    roles = (replace(role, steps=tuple(map(changed, role.steps))) for role in phase.roles)
    return replace(phase, roles=tuple(roles))
