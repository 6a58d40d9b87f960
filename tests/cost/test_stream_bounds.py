"""What a stream takes at least, by which plans are ruled out before they are followed."""

from __future__ import annotations

from itertools import product

import pytest
from stream_forms import CONTRACTS, plans, text_of

from collc.cost import choice, cycles_of, cycles_or_never
from collc.cost.choice import build_plan
from collc.cost.steps_model import steps_at_least
from collc.cost.stream_bounds import streams_at_least
from collc.driver.pipeline import prove_text
from collc.lowering import candidate_plans
from collc.target import TARGETS


@pytest.mark.parametrize("element", ["f32", "f16"])  # one to a wavelet, and two
@pytest.mark.parametrize(("name", "target"), list(product(CONTRACTS, TARGETS)))
@pytest.mark.parametrize(("ranks", "length"), [(4, 64), (9, 9), (12, 240)])
def test_no_stream_takes_less(name, target, ranks, length, element):
    _, schedule = prove_text(text_of(name, element), "t", {"P": ranks, "B": length}, target)
    found = [(streams_at_least(one), one) for one in plans(schedule, target)]
    assert all(least <= cycles_of(plan) for least, plan in found)
    assert any(least > 0 for least, _ in found) == (name != "reduce_scatter")


@pytest.mark.parametrize(("name", "target"), list(product(CONTRACTS, TARGETS)))
def test_no_plan_by_steps_takes_less(name, target):
    _, schedule = prove_text(text_of(name), "t", {"P": 9, "B": 90}, target)
    found = [
        (steps_at_least(schedule, plan), cycles_or_never(plan))
        for plan in candidate_plans(schedule, TARGETS[target])
    ]
    assert all(least <= cycles for least, cycles in found)
    assert any(least > 0 for least, _ in found)


def test_words_that_nobody_needs_may_be_on_their_way_at_the_end():
    """Of several groups the colors share links, of which the bound knows nothing."""
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 128, "B": 128}, "wse2")
    for plan in plans(schedule):
        least, cycles = streams_at_least(plan), cycles_of(plan)
        assert (0.8 if len(plan.colors) <= 4 else 0.4) * cycles < least <= cycles


def test_the_choice_is_that_of_all_and_looks_at_fewer(monkeypatch: pytest.MonkeyPatch):
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 16, "B": 256}, "wse2")
    everything = list(candidate_plans(schedule, TARGETS["wse2"]))
    best = min(cycles_of(plan) for plan in everything)
    looked_at = {}

    def counted(plan):
        looked_at[id(plan)] = plan
        return cycles_of(plan)

    monkeypatch.setattr(choice, "cycles_or_never", counted)
    chosen = build_plan(schedule, TARGETS["wse2"])
    assert cycles_of(chosen) == best
    assert len(looked_at) < len(everything)
