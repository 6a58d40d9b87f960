"""Relays that cannot win are not lowered, and the choice is the same."""

from __future__ import annotations

import pytest

from collc.cost import cycles_of
from collc.cost.choice import build_plan, relays_take
from collc.cost.relays import relays_at_least
from collc.driver.pipeline import compile_text
from collc.language import parse_source
from collc.schedule import Schedule, build_schedule
from collc.spec.exchange import StepsPhase
from collc.target import TARGETS
from collc.tuning import predicted

WSE2 = TARGETS["wse2"]


def text(contract: str, steps: str, ranks: int = 12) -> str:
    return (
        f"target wse2\ngrid row = {ranks} x 1\n"
        f"collective total = {contract} on row {{ {steps} }}\nprogram {{ total }}\n"
    )


def schedule_of(contract: str, steps: str) -> Schedule:
    return build_schedule(parse_source(text(contract, steps), {}, file="a.coll").collectives[0])


def test_what_relays_alone_can_do_takes_what_they_take_at_least() -> None:
    schedule = schedule_of("all_to_all(x: f32[144])", "run bruck_all_to_all")
    (phase,) = schedule.phases
    assert isinstance(phase, StepsPhase)
    least = relays_at_least(schedule, phase, WSE2)
    assert relays_take(schedule, WSE2, least) == least
    assert relays_take(schedule, WSE2, least + 1) == 0
    assert least <= cycles_of(build_plan(schedule, WSE2))


def test_what_can_stream_is_not_ruled_out() -> None:
    schedule = schedule_of("all_to_all(x: f32[144])", "run linear_all_to_all")
    assert relays_take(schedule, WSE2, 1) == 0
    assert cycles_of(build_plan(schedule, WSE2, 1)) <= cycles_of(build_plan(schedule, WSE2))


@pytest.mark.parametrize(
    ("contract", "ranks"),
    [
        ("all_to_all(x: f32[144])", 12),
        ("all_to_all(x: f32[24])", 24),
        ("allreduce(x: f32[96], add)", 24),
        ("allgather(x: f32[64])", 16),
    ],
)
def test_the_choice_is_the_same(contract: str, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []
    for long in (256, 1):
        monkeypatch.setattr(predicted, "_LONG", long)
        (decision,) = compile_text(text(contract, "run auto", ranks), "a.coll", {}).decisions
        chosen.append((decision.chosen.text, decision.chosen.cycles))
        ruled_out = [one for one in decision.lost if one.cycles is None and not one.refused]
        assert all(one.at_least >= (decision.chosen.cycles or 0) for one in ruled_out)
        assert all(sum(n for _, n in one.terms) == one.at_least for one in ruled_out)
    assert chosen[0] == chosen[1]
