"""C805: a plan that is right, though another one takes less than half."""

from __future__ import annotations

import pytest

from collc.tuning import other_plans
from tests.tuning.warned import compiled, plans_told

SLOW = [
    ("gather(x: f32[1])", "run binomial_gather to 0", "8 x 1"),
    ("gather(x: f32[24])", "run binomial_gather to 0", "8 x 1"),
    ("allreduce(x: f32[1024], add)", "run pipelined_reduce(c = 4) then broadcast from 0", "16 x 1"),
    ("allreduce(x: f32[1024], add)", "run ring_allreduce", "16 x 1"),
    ("broadcast(x: f32[128])", "run pipelined_broadcast(c = 4)", "8 x 1"),
]


@pytest.mark.parametrize(("contract", "steps", "grid"), SLOW)
def test_a_plan_of_less_than_half_is_named_and_takes_what_is_said(contract, steps, grid):
    bundle = compiled(contract, steps, grid)
    (warning,) = bundle.warnings
    assert warning.code == "C805"
    ((text, cycles),) = plans_told(warning.help)
    other = compiled(contract, text, grid)
    assert other.prediction.cycles == cycles < bundle.prediction.cycles / 2
    assert other.run(seed=1).verified
    assert other.warnings == ()


@pytest.mark.parametrize(("length", "codes"), [(27, ["C805"]), (28, [])])
def test_a_little_more_than_half_is_not_less_than_half(length, codes):
    contract = f"gather(x: f32[{length}])"
    bundle = compiled(contract, "run binomial_gather to 0", "8 x 1")
    best = compiled(contract, "run linear_gather to 0", "8 x 1")
    assert (bundle.prediction.cycles > 2 * best.prediction.cycles) is bool(codes)
    assert 1.9 < bundle.prediction.cycles / best.prediction.cycles < 2.1
    assert [one.code for one in bundle.warnings] == codes


def test_nothing_is_tried_where_the_bound_rules_it_out(monkeypatch: pytest.MonkeyPatch):
    bundle = compiled("broadcast(x: f32[64])", "broadcast from 0", "3 x 1")
    assert bundle.prediction.cycles < 2 * bundle.prediction.bound
    monkeypatch.setattr(other_plans, "plans", lambda *_: pytest.fail("a plan was looked at"))
    assert bundle.warnings == ()


def test_what_the_compiler_has_chosen_is_not_questioned():
    assert compiled("gather(x: f32[1])", "run auto", "8 x 1").warnings == ()
