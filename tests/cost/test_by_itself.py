"""What a collective of a program takes by itself, and what is said of what cannot be predicted."""

from importlib import import_module

import pytest

import collc
from collc.cost import predict, predict_by_itself, predict_program
from collc.lowering.by_itself import by_itself
from collc.lowering.teardown import with_teardown, without_teardown
from collc.machine.timed import StuckError
from collc.plan.one_call import adds_nothing
from collc.plan.placement import colors_of

MIXED = """target {target}
grid row = 9 x 1
collective along = reduce(a: f32[8], add) on row {{
    order west_to_east
    reduce chain to 0
}}
collective elsewhere = reduce(c: i16[8], add) on row {{
    order west_to_east
    reduce binomial to 3
}}
collective spread = broadcast(d: u32[8]) on row {{
    broadcast from 4
}}
collective around = allreduce(e: f32[9], add) on row {{
    order ring
    run ring_allreduce
}}
collective together = barrier() on row {{
    order west_to_east
    reduce chain to 0
    then broadcast from 0
}}
program {{
    repeat 2 {{ along elsewhere spread around together }}
    {within}
}}
"""


def mixed(target="wse2", within="within colors <= 3"):
    return collc.compile(text=MIXED.format(target=target, within=within), verify_text=False)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_no_phase_by_itself_is_torn_down_whatever_the_program_does(target):
    bundle = mixed(target)
    assert any(color.torn_down for color in bundle.program.colors)
    free = mixed(target, "within colors <= 24" if target == "wse2" else "")
    for plan, loose in zip(bundle.plans, free.plans, strict=True):
        own = by_itself(plan)
        assert adds_nothing(own)
        numbers = own.color_numbers
        assert len(set(numbers)) == len(numbers) == len(colors_of(plan.phases))
        if plan.phases[0].kind is loose.phases[0].kind and not any(
            color.torn_down for color in free.program.colors
        ):
            assert predict_by_itself(plan).cycles == predict_by_itself(loose).cycles


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_what_is_torn_down_again_is_as_it_was(target):
    for plan in mixed(target).plans:
        for phase in plan.phases:
            bare = without_teardown(phase)
            torn = {name for role in phase.roles for lane in role.lanes for name in lane.tears_down}
            assert torn
            assert bare != phase
            assert with_teardown(bare, torn) == phase
            assert without_teardown(bare) is bare


def test_a_collective_that_is_alone_takes_by_itself_what_it_takes():
    alone = MIXED[: MIXED.index("collective elsewhere")].format(target="wse2")
    alone += "program { along }"
    plan = collc.compile(text=alone, verify_text=False).plan
    (along, *_) = mixed().plans
    assert predict_by_itself(along).cycles == predict(plan).cycles


def test_a_prediction_that_gets_stuck_is_a_note_with_the_bound(monkeypatch):
    def stuck(*_):
        raise StuckError("PE (3, 0) never ends")

    program = mixed().program
    monkeypatch.setattr(import_module("collc.cost.predict"), "clocked", stuck)
    found = predict_program(program)
    assert found.cycles == found.bound > 0
    assert "PE (3, 0) never ends; please report this" in found.note


def test_more_words_than_are_followed_are_a_note_with_the_bound():
    bundle = mixed()
    found = predict_program(bundle.program, most=10)
    assert found.cycles == found.bound
    assert "only the bound is known: more than 10 words" in found.note
