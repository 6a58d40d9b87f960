"""Collectives on PEs apart: they share colors, queues and all else, and nothing is done between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from libraries import CODES, needed
from with_schedules import check_program

from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.lowering.show_program import show_program
from collc.plan.pe_masks import routing

TEXT = """target {target}
grid pes = 8 x 4
grid a = pes[0 .. 3, 0 .. 1]
grid b = pes[4 .. 7, 0 .. 1]
grid c = pes[0 .. 3, 2 .. 3]
grid d = pes[4 .. 7, 2 .. 3]
grid top = pes[0 .. 7, 0]
grid west = pes[0 .. 3, 0]
grid east = pes[4 .. 7, 0]
grid near = pes[3 .. 7, 0]
collective one = allreduce(m: f32[8], add) on a {{ {steps} }}
collective two = allreduce(n: f32[8], max) on b {{ {steps} }}
collective three = allreduce(o: f32[8], min) on c {{ {steps} }}
collective four = allreduce(p: f32[8], add) on d {{ {steps} }}
collective around = allreduce(q: f32[6], add) on west {{ order ring run ring_allreduce }}
collective beyond = allreduce(r: f32[6], add) on east {{ order ring run ring_allreduce }}
collective across = allreduce(s: f32[6], add) on near {{ order ring run ring_allreduce }}
collective over = allreduce(t: f32[6], add) on top {{ order ring run ring_allreduce }}
collective halves = allreduce(u: f32[6], add) on east {{ run halving_doubling }}
collective rows = reduce(v: f32[6], add) on each row of c {{ reduce chain to 0 }}
program {{ {calls} }}
"""
STEPS = "reduce columns by chain then reduce row by chain then broadcast from 0"


def compiled(calls: str, target: str = "wse2", skew: int = 0) -> Bundle:
    text = TEXT.format(target=target, steps=STEPS, calls=calls)
    bundle = compile_text(text, "test.coll", {}, None, skew)
    return bundle


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("calls", "colors"),
    [
        ("repeat 3 { around beyond } within colors <= 3", 3),
        ("repeat 2 { one two three four } within colors <= 5", 5),
        ("repeat 2 { around halves rows } within colors <= 6", 6),
    ],
)
def test_nothing_is_done_between_collectives_on_pes_apart(
    calls: str, colors: int, target: str
) -> None:
    bundle = compiled(calls, target, skew=80)
    assert len(bundle.program.colors) <= colors
    assert reconfiguration_bytes(bundle.program) == 0
    assert "have none in common" in show_program(bundle.program)
    report = bundle.run(seed=colors)
    assert report.verified, report.problem


def test_one_pe_in_common_is_enough_to_be_torn_down() -> None:
    bundle = compiled("repeat 2 { around across } within colors <= 3", skew=80)
    assert all(color.torn_down for color in bundle.program.colors)
    report = bundle.run(seed=3)
    assert report.verified, report.problem


def test_colors_that_are_not_torn_down_between_uses_that_meet_are_refused() -> None:
    plan = compiled("around across within colors <= 3").program
    kept = tuple(replace(color, torn_down=False) for color in plan.colors)
    assert "C333" in {problem.code for problem in check_program(replace(plan, colors=kept))}
    apart = compiled("around beyond within colors <= 3").program
    assert not check_program(apart)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_four_parts_in_flight_at_the_same_time_need_what_one_needs(target: str) -> None:
    joined = compiled("repeat 2 { one and two and three and four }", target, skew=50)
    alone = compiled("repeat 2 { one }", target)
    assert not joined.program.call_streams
    assert len(joined.program.colors) == len(alone.program.colors)
    for kind in CODES:
        assert needed(joined.program, kind) == needed(alone.program, kind)
    report = joined.run(seed=2)
    assert report.verified, report.problem


def test_of_joined_calls_only_those_that_meet_have_call_streams() -> None:
    bundle = compiled("repeat 2 { one and rows and over and three }", skew=50)
    names = [
        [one.collective.name for one in call_stream.plans]
        for call_stream in bundle.program.call_streams
    ]
    assert names == [["one", "rows"], ["over", "three"]]
    assert bundle.program.program.turns == ((0, 1), (2, 3))
    assert bundle.program.program.calls == ("one", "over", "rows", "three")
    report = bundle.run(seed=5)
    assert report.verified, report.problem


@pytest.mark.xfail(strict=True, reason="400 cycles together, 184 by itself")
def test_parts_take_no_more_time_together_than_the_longest_and_some_calls() -> None:
    together, alone = (compiled(calls).run().cycles for calls in ("around and beyond", "around"))
    assert together < 1.3 * alone


def test_a_leap_is_where_it_passes() -> None:
    """Routers that a collective only passes are its own meanwhile."""
    text = (
        "target wse2\ngrid pes = 5 x 2\n"
        "collective turn = reduce(x: f32[4], add) on pes { order row_major reduce chain to 0 }\n"
        "program { turn turn }"
    )
    bundle = compile_text(text, "test.coll", {})
    (plan,) = bundle.program.plans
    (phase,) = plan.phases
    (detour,) = phase.detours
    mask = routing(plan.collective, phase)[detour.color]
    passed = np.array([mask[y, x] for x, y in detour.pes])
    assert passed.all()
