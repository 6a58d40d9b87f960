"""Calls whose root is given when the program runs: what each PE does for a root, and what it takes
to find that out, as `compiler/emit/calls.py` writes it.

A PE compares its rank with the root, and begins one of three collectives: that of PEs behind the
root, that of the root, that of PEs before it (`RootChoice.names`). The root is found by one test,
the others by two; it returns by a jump to where all do. They differ in their phases' numbers, by
which tasks that all phases have ask whose they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from collc.cost.ends import parts_of
from collc.cost.predict import Times
from collc.lowering.root_of_call import chosen_roles, seen_from_the_root
from collc.plan import Phase, Region, Role, Strided
from collc.plan.program import ProgramPlan
from collc.schedule import build_schedule
from collc.spec import RootChoice

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
    emitted = seen_from_the_root(plan)
    phases = {one.collective.name: one.phases for one in emitted.plans}
    own = _phases(choice, phases, root)
    patterns = build_schedule(choice.at(root)).phases
    plans = list(plan.plans)
    plans[index] = replace(
        plans[index],
        phases=tuple(
            replace(phase, pattern=pattern) for phase, pattern in zip(own, patterns, strict=True)
        ),
    )
    asked = _asked(plan, choice, root, index)
    engine = plan.target.cycles.engine
    holds, fails = engine.scalar + engine.no_jump, engine.scalar + engine.jump
    tests = np.array((fails + holds, holds, 2 * fails))  # the root is read before
    changed = replace(plan, plans=tuple(plans))
    returns = plan.target.code.jump * (asked == OWN)
    return AtRoot(changed, asked, engine.scalar + tests[asked], returns)


def _phases(
    choice: RootChoice, phases: dict[str, tuple[Phase, ...]], root: int
) -> tuple[Phase, ...]:
    """The phases in which each PE has the part that it chooses."""
    found = []
    chosen = list(chosen_roles(choice, phases, root))
    for number, phase in enumerate(phases[choice.names[0]]):
        roles = [(choice.places[rank], role) for rank, of, role in chosen if of == number]
        different: dict[int, Role] = {id(role): role for _, role in roles}
        order = list(different)
        regions = tuple((_at(choice.axis, place), order.index(id(role))) for place, role in roles)
        found.append(replace(phase, roles=tuple(different.values()), regions=regions))
    return tuple(found)


def _at(axis: str, place: int) -> Region:
    along, across = Strided(place, place), Strided(0, 0)
    return Region(along, across) if axis == "x" else Region(across, along)


def _asked(plan: ProgramPlan, choice: RootChoice, root: int, index: int) -> Times:
    """By PE which of the three collectives it begins; PEs without a rank take part as rank 0."""
    grid = plan.plans[index].collective.grid
    asked = np.full((grid.whole.width, grid.whole.height), 1 if root == 0 else 2, dtype=np.int64)
    for part in parts_of(grid, asked):
        line = part[:, 0] if choice.axis == "x" else part[0, :]
        for rank, place in enumerate(choice.places):
            line[place] = 0 if rank > root else 1 if rank == root else 2
    return asked
