"""Queues of a program: whichever two colors share a number, a PE that needs both refuses it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import pytest
from programs.bare import planned

from collc.checks.program import PROGRAM_CHECKS
from collc.plan import Role
from collc.plan.plan import ProgramPlan

TEXT = """target {target}
grid row = 8 x 1
collective half = allreduce(c: f32[16], add) on row {{ run halving_doubling }}
collective late = allreduce(d: f32[16], add) on row {{ reduce chain to 3 then broadcast from 3 }}
program {{ half late {limit} }}
"""


def found(plan: ProgramPlan) -> bool:
    return any(problem.code == "C324" for problem in PROGRAM_CHECKS["microthreads"](plan))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_one_microthread_is_not_asked_to_send_and_to_receive_at_once(target: str) -> None:
    """Of an exchange, whose PEs do both on lanes beside each other, with queues of colors; of the
    first of its roles, of the last, of one between."""
    _, plan = planned(TEXT.format(target=target, limit="within colors <= 4"))
    (use, *_) = plan.uses
    places = dict(use.positions)

    def both(role: Role, into: int, out: int) -> bool:
        lanes = [
            ({places[c] for c in lane.receives}, {places[c] for c in lane.sends})
            for lane in role.lanes
        ]
        return any(into in one[0] and out in other[1] for one, other in permutations(lanes, 2))

    apart = [replace(color, queues=(10 + 2 * k, 11 + 2 * k)) for k, color in enumerate(plan.colors)]
    roles = plan.phase(use).roles
    refused = set()
    for into, out in permutations(range(len(apart)), 2):
        colors = list(apart)
        colors[into] = replace(apart[into], queues=(11 + 2 * out, 11 + 2 * into))
        users = {k for k, role in enumerate(roles) if both(role, into, out)}
        assert found(replace(plan, colors=tuple(colors))) == bool(users)
        refused |= {frozenset(users)}
    assert frozenset() in refused
    assert any(users and 0 not in users for users in refused)
    assert any(0 in users for users in refused)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_nor_where_lanes_have_the_queues(target: str) -> None:
    """Of an exchange each lane's that the other one sends beside, and not its own, on which it
    receives first; of a tree none; and what another collective sends on has ended."""
    _, plan = planned(TEXT.format(target=target, limit=""))
    half, late = plan.plans
    assert half.phases[0].lanes == ("forward", "backward")
    apart = replace(half, input_queues=(10, 11), output_queues=(20, 21))
    for lane, other in product(range(2), repeat=2):
        inputs = list(apart.input_queues)
        inputs[lane] = apart.output_queues[other]
        changed = replace(apart, input_queues=tuple(inputs))
        assert found(replace(plan, plans=(changed, late))) == (lane != other)
    elsewhere = replace(late, input_queues=(30, 31, 32), output_queues=(30, 31, 10))
    assert not found(replace(plan, plans=(apart, elsewhere)))
