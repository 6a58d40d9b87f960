"""Streams that have colors in turn with other phases: what is torn down, and what cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from changing import advancing_by
from programs.bare import planned
from with_schedules import check_program

from collc.base.diagnostics import CollcError
from collc.cost import choice
from collc.driver.pipeline import compile_text
from collc.lowering import sharing
from collc.plan import Advance, Phase
from collc.plan.configuration import torn_down_by
from collc.plan.form import Form, form_of
from collc.plan.plan import ProgramPlan

LINE = """target {target}
grid row = 5 x 1
collective one = {one}
collective other = reduce(y: f32[8], add) on row {{ reduce two_phase(S = 2) to 0 }}
program {{ one other one reconfigure teardown }}
"""
# Streams of which a last vector passes every router.
ALONG_A_LINE = {
    "switches that are set back": "gather(x: f32[40]) on row { run linear_gather }",
    "both ways at once": "broadcast(x: f32[40]) on row { run direct_broadcast(root = 1) from 1 }",
    "hop by hop": "reduce_scatter(x: f32[40], add) on row { run chain_reduce_scatter }",
}
ON_A_GRID = """target {target}
grid g = 4 x 3
collective total = allreduce(x: f32[768], add) on g {{
    run rows by chain_reduce_scatter
    then run columns by chain_reduce(root = 1) on slices
    then run columns by direct_broadcast(root = 1) on slices
    then run rows by direct_allgather
}}
collective go = barrier() on g {{ run rows by linear_barrier then run columns by linear_barrier }}
program {{ repeat 2 {{ go total }} }}
"""


def streams(plan: ProgramPlan, *, torn_down: bool) -> list[Phase]:
    """The streams whose colors are torn down, or are not."""
    return [
        plan.phase(use)
        for use in plan.uses
        if form_of(plan.phase(use)) is Form.STREAM and bool(torn_down_by(plan, use)) is torn_down
    ]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("one", ALONG_A_LINE.values(), ids=ALONG_A_LINE)
def test_streams_are_torn_down_behind_their_last_vectors(one: str, target: str) -> None:
    bundle = compile_text(LINE.format(target=target, one=one), "t.coll", {})
    assert len(streams(bundle.program, torn_down=True)) == 1
    for skew in (0, 200):
        report = replace(bundle, most_idle=skew).run(seed=2)
        assert report.verified, report.problem
        if not skew:
            off = abs(report.cycles - bundle.prediction.cycles)
            assert off <= 60 + 0.02 * report.cycles


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_a_stream_that_hands_its_turn_over_has_colors_of_its_own(target: str) -> None:
    """Beside others that have theirs in turn: a barrier and two of the four phases of a sum."""
    bundle = compile_text(ON_A_GRID.format(target=target), "t.coll", {})
    (kept,) = streams(bundle.program, torn_down=False)
    assert any(op.advance is Advance.HAND_OVER for role in kept.roles for op in role.ops)
    assert streams(bundle.program, torn_down=True)
    for skew in (0, 300):
        report = replace(bundle, most_idle=skew).run(seed=2)
        assert report.verified, report.problem
    # by steps, which need no colors in turn, it took 5,762 cycles a round on WSE-2
    assert bundle.prediction.cycles < 2 * 4_500


def test_text_with_colors_on_one_output_queue_is_for_the_target_that_binds_none() -> None:
    bundle = compile_text(ON_A_GRID.format(target="wse2"), "t.coll", {})
    outputs = [color.queues[1] for color in bundle.program.colors]
    assert len(set(outputs)) < len(outputs)
    assert [name for name in bundle.files if name.startswith("commands")] == ["commands_wse2.sh"]


def ending(plan: ProgramPlan, advance: Advance) -> ProgramPlan:
    """The plan whose streams have something else behind their last vectors."""

    def other(one: Advance) -> Advance:
        return advance if one is Advance.TEARDOWN else one

    def of(phase: Phase) -> Phase:
        if form_of(phase) is not Form.STREAM:
            return phase
        return replace(phase, roles=tuple(map(advancing_by(other), phase.roles)))

    plans = (replace(one, phases=tuple(map(of, one.phases))) for one in plan.plans)
    return replace(plan, plans=tuple(plans))


@pytest.mark.parametrize("advance", [Advance.NOTHING, Advance.RESET])
@pytest.mark.parametrize("one", ALONG_A_LINE.values(), ids=ALONG_A_LINE)
def test_a_teardown_that_a_stream_forgets_is_told(one: str, advance: Advance) -> None:
    _, plan = planned(LINE.format(target="wse2", one=one))
    assert not check_program(plan)
    codes = {problem.code for problem in check_program(ending(plan, advance))}
    assert codes and codes <= {"C331", "C314"}  # C314: what comes next gets stuck


def test_a_stream_that_cannot_be_torn_down_is_refused_if_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (sharing, choice):
        monkeypatch.setattr(module, "can_be_torn_down", lambda _: True)
    monkeypatch.setattr(choice, "program_cycles_or_never", lambda _: 0)  # which the clock rules out
    with pytest.raises(CollcError) as caught:
        planned(ON_A_GRID.format(target="wse2"))
    codes = {problem.code for problem in caught.value.diagnostics}
    assert codes and codes <= {"C319", "C331", "C333"}
