"""A changed plan is refused by a check, or fabsim gets the right result from it all the same."""

from __future__ import annotations

import os
from itertools import islice

import pytest

from collc.lowering import candidate_plans
from collc.plan import Advance
from collc.schedule import build_schedule
from collc.target import TARGETS
from mutants import exchanges, judging, programs, roots, streams, trees
from mutants.judging import RIGHT, SAME, Subject
from mutants.kinds import Kind

# every how manieth mutant is looked at; the nightly run and tests/mutation.py take them all
STRIDE = int(os.environ.get("COLLC_MUTANTS", "6"))


def check_mutants(subject: Subject, fewest_refused: int, stride: int = STRIDE) -> None:
    assert not subject.check(subject.plan)
    refused, holes = 0, []
    for mutant in islice(subject.mutants(subject.plan), 0, None, stride):
        codes, outcome = judging.judge(subject, mutant)
        refused += bool(codes)
        if outcome not in ("", SAME, RIGHT):
            holes.append(f"{mutant.what}: {outcome}")
    assert not holes, "\n".join([f"{len(holes)} holes", *holes])
    assert refused * stride > fewest_refused


@pytest.mark.parametrize("run", trees.RUNS)
def test_a_changed_tree_is_refused_or_delivers(run):
    check_mutants(judging.tree(*run), 100)


@pytest.mark.parametrize("run", trees.WRITTEN)
def test_a_changed_tree_of_pairs_or_buffers_is_refused_or_delivers(run):
    check_mutants(judging.vector(*run), 100, stride=3 * STRIDE)


@pytest.mark.parametrize("run", exchanges.RUNS)
def test_a_changed_exchange_is_refused_or_delivers(run):
    check_mutants(judging.exchange(*run), 100)


@pytest.mark.parametrize("run", streams.RUNS)
def test_a_changed_stream_is_refused_or_delivers(run):
    name, _ = run
    check_mutants(judging.stream(*run), 150, STRIDE * (6 if name in streams.LARGE else 1))


@pytest.mark.parametrize("run", roots.RUNS)
def test_a_changed_program_with_a_root_of_the_call_is_refused_or_delivers(run):
    name, _ = run
    steps = name in {"scatter", "gather"}
    check_mutants(judging.root_of_call(*run), 150, STRIDE * (12 if steps else 3))


def test_a_part_may_receive_first_where_nothing_passes_through_it():
    subject = judging.stream("allgather", "wse2")
    (mutant,) = (
        one
        for one in subject.mutants(subject.plan)
        if one.what == "part_1 lane backward kept_first True"
    )
    assert judging.judge(subject, mutant) == ((), RIGHT)


@pytest.mark.parametrize(
    ("name", "what", "code"),
    [
        ("slices", "columns_2: part_0 lane backward staged True", "C319"),
        ("slices", "rows_2: part_1 lane first advance Advance.RESET", "C319"),
        ("allgather", "part_1 lane forward advance Advance.RESET", "C321"),
        ("allgather", "part_2 lane backward advance Advance.OWN_ROUTER", "C321"),
    ],
)
def test_what_no_text_of_a_block_or_a_ring_does_is_refused(name, what, code):
    subject = judging.stream(name, "wse2")
    (mutant,) = (one for one in subject.mutants(subject.plan) if one.what == what)
    assert [problem.code for problem in subject.check(mutant.changed)] == [code]


def test_a_ring_on_a_color_without_switches_is_refused():
    subject = judging.stream("uneven_slices", "wse3")
    what = "rows_2: part_0 rows_2_2 in a ring: True"
    (mutant,) = (one for one in subject.mutants(subject.plan) if one.what == what)
    assert [problem.code for problem in subject.check(mutant.changed)] == ["C304"]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_no_switch_moves_behind_a_call_back(target):
    subject = judging.vector("pairs", target)
    changed = [
        one.changed
        for one in subject.mutants(subject.plan)
        if one.what.startswith("reduce: role link_1 with operation 0") and "OWN_ROUTER" in one.what
    ]
    codes = [{problem.code for problem in subject.check(plan)} for plan in changed]
    assert changed
    assert all("C311" in found for found in codes)


@pytest.mark.parametrize("name", [*programs.SUCCESSIONS, *programs.APART])
def test_a_changed_program_is_refused_or_delivers(name):
    check_mutants(judging.program(name), 30, stride=max(1, STRIDE // 3))


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_every_other_queue_of_a_lane_in_a_program_is_refused_or_delivers(target):
    subject = judging.program("lanes", target)
    assert not subject.plan.in_turn
    changed = [one for one in subject.mutants(subject.plan) if one.kind is Kind.NUMBERS]
    found = [judging.judge(subject, one) for one in changed]
    holes = [
        f"{one.what}: {outcome}"
        for one, (_, outcome) in zip(changed, found, strict=True)
        if outcome not in ("", SAME, RIGHT)
    ]
    assert not holes
    assert {code for codes, _ in found for code in codes} == {"C305", "C324"}
    assert sum(not codes for codes, _ in found) > 5


def test_the_two_plans_of_one_tree_differ_in_their_control_wavelets():
    schedule = build_schedule(trees.COLLECTIVES["two_phase"])
    plans = list(candidate_plans(schedule, TARGETS["wse2"]))
    advances = [
        {op.advance for role in plan.phases[0].roles for op in role.ops if op.sends}
        for plan in (plans[trees.FEWEST], plans[trees.MOST])
    ]
    assert [Advance.CONTROL in found for found in advances] == [True, False]
