"""Collectives that are in flight at the same time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import collc
from collc.checks.program import call_streams
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text
from collc.emit.library import libraries_of
from collc.plan.plan import ProgramPlan

EXAMPLE = Path(__file__).parents[2] / "examples" / "program_together.coll"
TEXT = """target {target}
param W = 5
param H = 4
param B = 9
grid pes = W x H
grid mid = pes[1 .. W - 2, 0 .. H - 2]
collective rows = allreduce(x: f32[B], add) on each row of pes
    {{ reduce chain to 0 then broadcast from 0 }}
collective columns = reduce(y: f32[B], min) on each column of pes
    {{ reduce two_phase(S = 2) to 1 }}
collective block = broadcast(z: f32[B]) on mid {{ broadcast from (1, 1) }}
collective whole = reduce(u: i32[B], max) on each row of pes {{ reduce chain to 0 }}
collective around = allreduce(v: f32[B], add) on each column of pes
    {{ order ring run ring_allreduce }}
collective along = allreduce(w: f32[B], add) on each row of pes
    {{ order ring run ring_allreduce }}
collective again = allreduce(s: f32[B], add) on each column of pes
    {{ order ring run ring_allreduce }}
collective more = allreduce(r: f32[B], add) on each row of pes
    {{ order ring run ring_allreduce }}
collective wait = barrier() on mid
    {{ reduce columns by chain then reduce row by chain then broadcast from 0 }}
program {{ {calls} }}
"""


def compiled(calls: str, target: str = "wse2", skew: int = 0) -> Bundle:
    bundle = compile_text(TEXT.format(calls=calls, target=target), "test.coll", {}, None, skew)
    return bundle


@pytest.mark.parametrize(
    ("target", "skew", "width", "height"),
    [("wse2", 0, 8, 6), ("wse2", 100, 5, 7), ("wse3", 60, 4, 3), ("wse2", 0, 1, 2)],
)
def test_the_example_runs(target: str, skew: int, width: int, height: int) -> None:
    sizes = {"W": width, "H": height}
    report = compile_text(EXAMPLE.read_text(), EXAMPLE.name, sizes, target, skew).run(repeats=2)
    assert report.verified, report.problem


@pytest.mark.parametrize(
    ("calls", "target", "skew"),
    [
        ("rows and columns, block reconfigure teardown", "wse2", 40),
        ("repeat 2 { columns and rows, block and columns, rows }", "wse2", 80),
        ("rows and block and columns", "wse3", 50),
        ("wait and around, whole", "wse3", 30),
        ("around and along", "wse2", 20),
        ("block and columns, rows reconfigure teardown", "wse2", 30),
        ("block and wait within colors <= 6", "wse2", 30),
    ],
)
def test_what_is_in_flight_together_delivers(calls: str, target: str, skew: int) -> None:
    report = compiled(calls, target, skew).run(seed=3)
    assert report.verified, report.problem


def test_collectives_that_fit_together_with_fewer_colors_have_fewer() -> None:
    """A ring by itself relays on four colors; two of these have three each."""
    text = """target wse2
    grid pes = 6 x 5
    collective rows = allreduce(x: f32[16], add) on each row of pes {
        order ring run ring_allreduce }
    collective columns = allreduce(y: f32[16], add) on each column of pes {
        order ring run ring_allreduce }
    program { CALLS }"""
    bundles = [
        compile_text(text.replace("CALLS", calls), "test.coll", {})
        for calls in ("rows columns", "rows and columns")
    ]
    in_turn, together = (len(bundle.program.colors) for bundle in bundles)
    assert (together, in_turn) == (6, 8)
    report = bundles[1].run(repeats=2)
    assert report.verified, report.problem


def test_together_takes_less_time_than_one_after_the_other() -> None:
    together, apart = (compiled(c).run().cycles for c in ("rows and columns", "rows columns"))
    assert together < apart


def test_what_is_never_in_flight_together_is_in_one_call_stream() -> None:
    plan = compiled("rows and columns, block").program
    names = [
        [one.collective.name for one in call_stream.plans] for call_stream in plan.call_streams
    ]
    assert names == [["rows", "block"], ["columns"]]
    assert not compiled("rows columns, block").program.call_streams


def codes(plan: ProgramPlan) -> list[str]:
    return [diagnostic.code for diagnostic in call_streams(plan)]


def test_call_streams_that_have_a_number_in_common_are_refused() -> None:
    plan = compiled("rows and columns").program
    assert codes(plan) == []
    first, second = plan.call_streams
    (columns,) = second.plans
    sent_on = first.queues[1][0]
    received = replace(columns, input_queues=(sent_on, *columns.input_queues[1:]))
    for changed in (
        replace(second, colors=(first.colors[0], *second.colors[1:])),
        replace(second, plans=(received,)),
    ):
        assert "C334" in codes(replace(plan, call_streams=(first, changed)))


@pytest.mark.parametrize("limit", ["", "reserve tasks 8 .. 20", "reserve dsrs 1 .. 5"])
@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_call_streams_have_tasks_and_registers_of_their_own(target: str, limit: str) -> None:
    bundle = compiled(f"rows and columns, block {limit}", target, skew=30)
    first, second = libraries_of(bundle.program, "test.coll")
    for of in (first, second):
        assert of.task_ids and of.dsr_ids
    assert not set(first.task_ids) & set(second.task_ids)
    assert not set(first.dsr_ids) & set(second.dsr_ids)
    report = bundle.run(seed=4)
    assert report.verified, report.problem


@pytest.mark.parametrize(
    ("calls", "code"),
    [("around and along and again and more", "C334"), ("whole and columns", "C335")],
)
def test_what_cannot_be_together_is_refused(calls: str, code: str) -> None:
    with pytest.raises(collc.CollcError) as caught:
        compiled(calls)
    assert code in {diagnostic.code for diagnostic in caught.value.diagnostics}


@pytest.mark.parametrize(
    ("limit", "ledger"),
    [
        (
            "reserve tasks 8 .. 20, tasks 24 .. 25",
            "too few local task ids for what is in flight at the same time, 1 for",
        ),
        (
            "reserve dsrs 1 .. 6",
            "too few DSRs of one file for what is in flight at the same time, 1 for",
        ),
        ("reserve input_queues 3 .. 7, output_queues 3 .. 5", "1 numbers for queues, 1 of input"),
    ],
)
def test_what_is_too_little_is_said_of_each(limit: str, ledger: str) -> None:
    with pytest.raises(collc.CollcError) as caught:
        compiled(f"rows and columns {limit}")
    messages = [d.message for d in caught.value.diagnostics if d.code == "C334"]
    assert any(ledger in message for message in messages), messages
    assert all("`rows`" in message and "`columns`" in message for message in messages)


def test_a_call_back_may_run_by_itself_in_such_a_program() -> None:
    report = compiled("rows and columns, whole", skew=30).run()
    assert report.verified, report.problem
