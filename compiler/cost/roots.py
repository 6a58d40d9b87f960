"""Calls whose root is given when the program runs: what each PE does for a root, and what it takes
to find that out, as `compiler/emit/calls.py` writes it.

A PE compares its rank with the root, and begins one of three collectives: that of PEs behind the
root, that of the root, that of PEs before it (`RootChoice.names`). The root is found by one test,
the others by two; it returns by a jump to where all do. They differ in their phases' numbers, by
which tasks that all phases have ask whose they are.
"""

from __future__ import annotations

import numpy as np

from collc.base.values import dataclass
from collc.cost.ends import parts_of
from collc.cost.predict import Times
from collc.lowering.root_of_call import planned_for, with_phases
from collc.plan.plan import ProgramPlan
from collc.spec import ContractKind, RootChoice

OWN = 1  # which of the three is the root's


@dataclass(frozen=True)
class AtRoot:
    """A plan whose first collective of a choice is the one with a root; `asked` is by PE which of
    the three it begins, `found` what finding that out takes, `returns` what its return takes more.
    """

    plan: ProgramPlan
    asked: Times
    found: Times
    returns: Times


def at_root(plan: ProgramPlan, choice: RootChoice, root: int) -> AtRoot:
    """What is called for a root."""
    index = plan.index_of(choice.name, 0)
    changed = with_phases(plan, choice, index, planned_for(plan, choice, root).phases)
    asked = _asked(plan, choice, root, index)
    engine = plan.target.cycles.engine
    holds, fails = engine.scalar + engine.no_jump, engine.scalar + engine.jump
    tests = np.array((fails + holds, holds, 2 * fails))  # the root is read before
    found, returns = engine.scalar + tests[asked], plan.target.code.jump * (asked == OWN)
    if changed.plans[index].collective.contract.kind is ContractKind.BROADCAST:
        asked = (asked == OWN) * (root == 0)  # behind the root none but the first rank could send
    return AtRoot(changed, asked, found, returns)


def _asked(plan: ProgramPlan, choice: RootChoice, root: int, index: int) -> Times:
    """By PE which of the three collectives it begins; PEs without a rank take part as rank 0."""
    grid = plan.plans[index].collective.grid
    asked = np.full((grid.whole.width, grid.whole.height), 1 if root == 0 else 2, dtype=np.int64)
    for part in parts_of(grid, asked):
        line = part[:, 0] if choice.axis == "x" else part[0, :]
        for rank, place in enumerate(choice.places):
            line[place] = 0 if rank > root else 1 if rank == root else 2
    return asked
