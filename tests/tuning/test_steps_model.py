"""The way to the last rank of an algorithm by steps, and the sum of what cycles go into."""

from __future__ import annotations

import itertools

import pytest

import collc
from collc.tuning.show import show_terms
from collc.tuning.steps_model import follow_steps
from collc.tuning.terms import terms_of

TEXT = """target wse2
grid row = {pes} x 1
collective total = {contract} on row {{ run {algorithm} }}
program {{ total }}
"""


def compiled(contract: str, algorithm: str, pes: int):
    return collc.compile_text(
        TEXT.format(pes=pes, contract=contract, algorithm=algorithm), "f.coll", {}
    )


def test_a_pipeline_is_waited_for_from_its_far_end() -> None:
    bundle = compiled("reduce(x: f32[40], add)", "pipelined_reduce(c = 1)", 5)
    (phase,) = bundle.schedule.phases
    chain = follow_steps(phase, bundle.plan.target).chain
    assert chain == ((0, 4, 3), (1, 3, 2), (2, 2, 1), (3, 1, 0))


def test_a_tree_of_messages_is_waited_for_along_one_of_its_branches() -> None:
    bundle = compiled("scatter(x: f32[64])", "binomial_scatter", 8)
    (phase,) = bundle.schedule.phases
    chain = follow_steps(phase, bundle.plan.target).chain
    assert chain[0][1] == 0  # the root has it all
    for (step, _, rank), (later, source, _) in itertools.pairwise(chain):
        assert step < later and rank == source


@pytest.mark.parametrize("algorithm", ["ring_allreduce", "recursive_doubling"])
def test_what_is_shown_adds_up(algorithm: str) -> None:
    bundle = compiled("allreduce(x: f32[40], add)", algorithm, 6)
    cycles, target = bundle.prediction.cycles, bundle.plan.target
    assert terms_of(bundle.schedule, cycles, target).cycles == cycles
    shown = show_terms(bundle.schedule, bundle.plan, cycles)
    assert shown.startswith(f"  {cycles} = start-up ")
    assert "(line 3) waits for " in shown and "(line 3) is busiest at the link from PE (" in shown
