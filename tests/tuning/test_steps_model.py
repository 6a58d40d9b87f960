"""The way to the last rank of an algorithm by steps, and the sum of what cycles go into."""

from __future__ import annotations

import itertools

import pytest

from collc.cost.steps_model import Steps, follow_steps
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.tuning.cost_terms import terms_of
from collc.tuning.link_load import crowded_link
from collc.tuning.show import show_terms

TEXT = """target wse2
grid row = {pes} x 1
collective total = {contract} on row {{ run {algorithm} }}
program {{ total }}
"""


def compiled(contract: str, algorithm: str, pes: int) -> Bundle:
    return compile_text(TEXT.format(pes=pes, contract=contract, algorithm=algorithm), "f.coll", {})


def followed(bundle: Bundle) -> Steps:
    (phase,) = bundle.schedule.phases
    return follow_steps(phase, bundle.schedule.collective.contract, bundle.plan.target)


def test_a_pipeline_is_waited_for_from_its_far_end() -> None:
    bundle = compiled("reduce(x: f32[40], add)", "pipelined_reduce(c = 1)", 5)
    chain = followed(bundle).chain
    assert chain == ((0, 4, 3), (1, 3, 2), (2, 2, 1), (3, 1, 0))


def test_a_tree_of_messages_is_waited_for_along_one_of_its_branches() -> None:
    bundle = compiled("scatter(x: f32[64])", "binomial_scatter", 8)
    chain = followed(bundle).chain
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


@pytest.mark.parametrize(
    ("contract", "algorithm", "wavelets"),
    [
        ("allreduce(x: f32[64], add)", "recursive_doubling", 4 * 64),
        ("allreduce(x: f32[64], add)", "recursive_doubling in simd", 4 * 64),
        ("allreduce(x: f16[64], add)", "recursive_doubling", 4 * 32),  # two to a wavelet
        ("allreduce(x: f16[64], max)", "recursive_doubling", 4 * 64),  # taken one by one
        ("allreduce(x: f16[64], add)", "recursive_doubling in simd", 4 * 32),
    ],
)
def test_a_link_carries_a_wavelet_a_cycle_however_many_an_instruction_takes(
    contract: str, algorithm: str, wavelets: int
) -> None:
    """Between two halves of a line, for the bound as for what is lost there."""
    bundle = compiled(contract, algorithm, 8)
    (pattern,), (phase,) = bundle.schedule.phases, bundle.plan.phases
    link = crowded_link(bundle.schedule, pattern, phase, bundle.plan.target)
    assert link is not None
    assert link.elements == wavelets * (2 if phase.paired else 1)
    assert followed(bundle).link_load == wavelets + wavelets // 4  # of a link beside it
    least = terms_of(bundle.schedule, bundle.prediction.cycles, bundle.plan.target)
    assert least.bandwidth >= wavelets
    assert least.waiting >= 0
