"""How many operations it takes to add several vectors into memory."""

from __future__ import annotations

from dataclasses import replace

from collc.plan import Phase, Step, StoreVectors


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


def one_by_one(phase: Phase) -> Phase:
    """The phase with an operation for each vector that is stored: a DSD that passes over the vector
    several times has its extents when compiled, not those of a call."""

    def changed(step: Step) -> Step:
        return replace(step, rounds=step.vectors) if isinstance(step, StoreVectors) else step

    roles = (replace(role, steps=tuple(map(changed, role.steps))) for role in phase.roles)
    return replace(phase, roles=tuple(roles))
