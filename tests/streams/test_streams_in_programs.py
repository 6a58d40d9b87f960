"""Programs of several streams: phases have colors of their own, on forms that are as narrow as that
asks for."""

from __future__ import annotations

import pytest
from changing import streams

from collc.driver.pipeline import compile_text
from collc.target import TARGETS

TEXT = """target {target}
grid row = 8 x 1
collective a = all_to_all(x: f32[64]) on row {{ run linear_all_to_all }}
collective b = gather(y: f32[64]) on row {{ run linear_gather }}
collective c = reduce(z: f32[64], add) on row {{ reduce optimal to 0 }}
collective d = scatter(u: f32[64]) on row {{ run linear_scatter }}
program {{ {calls} }}
"""


def bundle(calls: str, target: str = "wse2"):
    return compile_text(TEXT.format(target=target, calls=calls), "t", {})


def colors(calls: str, target: str = "wse2") -> list[int]:
    """Of the plans that stream, 0 for others."""
    return [len(plan.colors) * streams(plan) for plan in bundle(calls, target).program.plans]


def test_forms_are_as_wide_as_the_others_leave_them():
    assert colors("a") == [6]
    assert colors("a b") == [6, 1]
    assert colors("a b c") == [6, 1, 0]
    assert colors("a b c", "wse3") == [6, 1, 0]
    assert colors("a b c d", "wse3")[0] == 4


def test_four_have_forms_since_lanes_share_queues():
    assert colors("a b c d") == [6, 1, 0, 1]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("calls", ["a b", "repeat 2 { a b c }", "a b c d"])
def test_they_are_delivered_again_and_again(calls, target):
    made = bundle(calls, target)
    report = made.run(seed=1, repeats=2)
    assert report.verified, report.problem
    assert abs(made.prediction.cycles - report.cycles) <= 0.05 * report.cycles + 60


def test_pes_may_begin_late():
    made = compile_text(TEXT.format(target="wse2", calls="a b c"), "t", {}, skew=60)
    assert made.run(seed=1, repeats=3).verified
