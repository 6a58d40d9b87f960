"""How many operations it takes to add several vectors into memory."""

from __future__ import annotations

from dataclasses import replace

from collc.plan import Phase, Step, StoreVectors
from collc.target import Target


def few(target: Target) -> int:
    """Up to how many vectors have an operation each, where the length is given at run time. One for
    a single vector is sooner begun, by a register and the choice of an operand, but behind it a
    task begins; of two vectors the first mostly comes much earlier."""
    code = target.code
    again = target.cycles.engine.task_start + code.next_round
    return 2 if code.store_by_length > code.store_one + again else 1


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
