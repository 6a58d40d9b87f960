"""What relays take at least, by which they are ruled out before they are lowered."""

from __future__ import annotations

from itertools import product

import pytest
from stream_forms import CONTRACTS, text_of

from collc.cost import cycles_of
from collc.cost.choice import build_plan
from collc.cost.predict import unprinted
from collc.cost.relays import relays_at_least
from collc.driver.pipeline import prove_text
from collc.lowering import Alternative, alternatives_of, candidate_plans, planned_by
from collc.plan.one_call import of_one_call
from collc.schedule import Schedule
from collc.target import TARGETS


def relays(schedule: Schedule, target: str) -> list[tuple[int, int]]:
    """What the relays of a schedule of one phase take at least, and what they are predicted to;
    those that can be printed."""
    (phase,), (alternatives,) = schedule.phases, alternatives_of(schedule, TARGETS[target])
    plans = (planned_by((one,), schedule, TARGETS[target]) for one in alternatives if one.relays)
    least = relays_at_least(schedule, phase, TARGETS[target])
    return [(least, cycles_of(plan)) for plan in plans if not unprinted(of_one_call(plan))]


@pytest.mark.parametrize("element", ["f32", "f16"])  # one to a wavelet, and two
@pytest.mark.parametrize(("name", "target"), list(product(CONTRACTS, TARGETS)))
@pytest.mark.parametrize(("ranks", "length"), [(4, 64), (9, 9), (12, 240)])
def test_no_relays_take_less(name, target, ranks, length, element):
    _, schedule = prove_text(text_of(name, element), "t", {"P": ranks, "B": length}, target)
    found = relays(schedule, target)
    # all at once each rank's slice goes both ways: on more ranks there are too few registers
    assert found or (name == "allgather" and ranks > 4)
    assert all(0 < least <= cycles for least, cycles in found)


@pytest.mark.parametrize("by", ["", " in simd"])
@pytest.mark.parametrize("order", ["", "order ring"])
@pytest.mark.parametrize("name", ["ring_allreduce", "halving_doubling", "direct_allreduce"])
def test_nor_do_those_of_two_wavelets_at_a_time(name, order, by):
    text = "target wse3\nparam P\nparam B\ngrid row = P x 1\n"
    text += f"collective c = allreduce(x: f32[B], add) on row {{ {order} run {name}{by} }}\n"
    _, schedule = prove_text(text + "program { c }", "t", {"P": 8, "B": 256})
    found = relays(schedule, "wse3")
    assert all(0 < least <= cycles for least, cycles in found)


def test_relays_that_take_more_than_a_stream_are_not_lowered(monkeypatch: pytest.MonkeyPatch):
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 64, "B": 64}, "wse2")
    best = min(cycles_of(one) for one in candidate_plans(schedule, TARGETS["wse2"]))
    lowered = []

    def counted(chosen, *given, **how):
        lowered.extend(chosen)
        return planned_by(chosen, *given, **how)

    monkeypatch.setattr("collc.cost.choice.planned_by", counted)
    assert cycles_of(build_plan(schedule, TARGETS["wse2"])) == best
    assert lowered
    assert not any(one.relays for one in lowered)


def test_relays_that_may_be_faster_are_looked_at(monkeypatch: pytest.MonkeyPatch):
    _, schedule = prove_text(text_of("all_to_all"), "t", {"P": 64, "B": 64}, "wse2")
    lowered: list[Alternative] = []

    def counted(chosen, *given, **how):
        lowered.extend(chosen)
        return planned_by(chosen, *given, **how)

    monkeypatch.setattr("collc.cost.choice.planned_by", counted)
    monkeypatch.setattr("collc.cost.choice.relays_at_least", lambda *given: 1)
    build_plan(schedule, TARGETS["wse2"])
    assert any(one.relays for one in lowered)
