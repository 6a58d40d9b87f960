"""Queues of a program: whichever two colors share a number, a PE that needs both refuses it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from programs.bare import planned

from collc.checks.program import PROGRAM_CHECKS
from collc.plan import Role
from collc.plan.plan import ProgramPlan

TEXT = """target {target}
grid row = 8 x 1
collective half = allreduce(c: f32[16], add) on row {{ run halving_doubling }}
collective late = allreduce(d: f32[16], add) on row {{ reduce chain to 3 then broadcast from 3 }}
program {{ half late }}
"""


def found(plan: ProgramPlan) -> bool:
    return any(problem.code == "C324" for problem in PROGRAM_CHECKS["microthreads"](plan))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_one_microthread_is_not_asked_to_send_and_to_receive_at_once(target: str) -> None:
    """Of an exchange, whose PEs do both on lanes beside each other; of the first of its roles, of
    the last, of one between."""
    _, plan = planned(TEXT.format(target=target))
    (use, *_) = plan.uses
    places = dict(use.positions)

    def both(role: Role, into: int, out: int) -> bool:
        lanes = [
            ({places[c] for c in lane.receives}, {places[c] for c in lane.sends})
            for lane in role.lanes
        ]
        return any(into in one[0] and out in other[1] for one, other in permutations(lanes, 2))

    apart = [
        replace(color, input_queue=10 + 2 * k, output_queue=11 + 2 * k)
        for k, color in enumerate(plan.colors)
    ]
    roles = plan.phase(use).roles
    refused = set()
    for into, out in permutations(range(len(apart)), 2):
        colors = list(apart)
        colors[into] = replace(apart[into], input_queue=apart[out].output_queue)
        users = {k for k, role in enumerate(roles) if both(role, into, out)}
        assert found(replace(plan, colors=tuple(colors))) == bool(users)
        refused |= {frozenset(users)}
    assert frozenset() in refused
    assert any(users and 0 not in users for users in refused)
    assert any(0 in users for users in refused)
