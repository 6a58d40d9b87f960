"""Random algorithms by steps: refused with a diagnostic, or right on every PE.

COLLC_CASES sets how many are drawn, five for each; transfers are between any two ranks, several
into the same slices, from slices that are sent or received in the same step, to other slices than
they come from; operations are vector instructions or call-backs. Every wiring that there is of an
algorithm is written and run twice on one load.
"""

from __future__ import annotations

import os
import random

import pytest
import steps_patterns as s
from with_schedules import check_plan

from collc.cost import predict
from collc.cost.predict import unprinted
from collc.lowering import candidate_plans
from collc.plan.one_call import of_one_call
from collc.schedule import Schedule
from collc.spec import ContractKind, ElementType, Operation
from collc.target import TARGETS

CASES = int(os.environ.get("COLLC_CASES", "300")) // 5
BATCHES = 12
LENGTHS = (1, 3, 4, 9, 40)
OPERATIONS = (
    (ElementType.F32, Operation.ADD),
    (ElementType.F32, Operation.ADD),
    (ElementType.F16, Operation.MIN),
    (ElementType.I16, Operation.ADD),
    (ElementType.U32, Operation.MAX),
)


def drawn(pick: random.Random) -> Schedule:
    """A few steps of a few transfers between a few ranks, in any order along the line."""
    ranks, slices = pick.randint(2, 9), pick.randint(1, 6)
    length = pick.choice((*LENGTHS, slices * pick.randint(1, 9)))
    element, operation = pick.choice(OPERATIONS)
    even = length % (slices * (2 if element.bytes == 2 else 1)) == 0  # pairs are cut as one
    steps = [
        [_transfer(pick, ranks, slices, even=even) for _ in range(pick.randint(1, 8))]
        for _ in range(pick.randint(1, 6))
    ]
    places = pick.choice((range(ranks), s.ring_places(ranks), pick.sample(range(ranks), ranks)))
    return s.schedule(
        [s.phase((slices, steps), ranks, length, places=list(places))],
        ranks,
        1,
        length,
        ContractKind.ALLREDUCE,
        element,
        operation,
    )


def _transfer(pick: random.Random, ranks: int, slices: int, *, even: bool) -> s.Move:
    """From any slices to the same or, where that may be, others."""
    source, target = pick.sample(range(ranks), 2)
    first = into = pick.randrange(slices)
    count = pick.randint(1, slices - first)
    if pick.random() < 0.3 and even:
        into = pick.randint(0, slices - count)
    return source, target, first, into, count, pick.random() < 0.5


@pytest.mark.parametrize("batch", range(BATCHES))
def test_any_exchange_is_refused_or_delivers(batch: int) -> None:
    refused = 0
    for seed in range(batch, CASES, BATCHES):
        schedule = drawn(random.Random(seed))
        target = ("wse2", "wse3")[seed % 2]
        for plan in candidate_plans(schedule, TARGETS[target]):
            problems = check_plan(plan) or unprinted(of_one_call(plan))
            refused += bool(problems)
            assert {problem.code for problem in problems} <= {"C302", "C305", "C307"}, seed
            if not problems:
                texts = s.texts_of(schedule, plan)
                assert not s.outcome(texts, schedule, target, runs=2)[0], seed
                assert predict(plan).cycles > 0
    assert refused * 4 <= CASES / BATCHES
