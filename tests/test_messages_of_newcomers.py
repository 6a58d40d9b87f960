"""What newcomers have met, and what they are told: the place, the cause, and what helps."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from collc.base.diagnostics import CollcError, edited
from collc.cli import commands
from collc.commands.sarif import sarif_log
from collc.driver.pipeline import compile_text

ROW = "target wse2\ngrid row = 8 x 1\n"
PAIRS = "operation top(a, b: (f32, u32)) commutative = a\n"
RING = """algorithm ring(n) slices n {
    step s in 0 .. n - 2 { each r : slice (r - s) mod n  r => TO }
}
"""
TREE = "tree mine(n, S) requires S >= 1 = n <= S ? chain(n) : join(chain(S), mine(n - S, S))\n"
# What a text has beside the row, its collective; what is said; what is helped with; whether the
# help, applied, gives a program that compiles.
TOLD = {
    "colors of a ring": (
        "allreduce(x: f32[64], add) on row { run ring_allreduce within colors <= 1 }",
        "needs 3 colors",
        "allow 3 colors, or choose steps that need fewer",
        True,
    ),
    "a bound that no plan reaches": (
        "allreduce(x: f32[64], add) on row { run auto expect cycles <= bound }",
        "expected cycles <= bound",
        "`auto` has found nothing faster",
        True,
    ),
    "phases of no ranks": (
        "reduce(x: f32[64], add) on row { reduce two_phase(S = 0) to 0 }",
        "two_phase(n = 8, S = 0): the tree requires S >= 1",
        "choose S so that S >= 1",
        False,
    ),
    "phases of no ranks in a tree of one's own": (
        "reduce(x: f32[64], add) on row { reduce mine(S = 0) to 0 }",
        "mine(n = 8, S = 0): the tree requires S >= 1",
        "choose S so that S >= 1",
        False,
    ),
    "doubles": (
        "reduce(x: f64[4], add) on row { run auto }",
        "no element type called f64",
        "did you mean `f32`? Known here: ",
        True,
    ),
    "brain floats": (
        "reduce(x: bf16[4], add) on row { run auto }",
        "no element type called bf16",
        "did you mean `f32`? Known here: ",
        True,
    ),
    "a mean": (
        "allreduce(x: f32[4], avg) on row { run auto }",
        "no operation called avg",
        "for a mean combine by `add`",
        True,
    ),
    "an operation of MPI": (
        "allreduce(x: f32[4], MPI_SUM) on row { run auto }",
        "no operation called MPI_SUM",
        "did you mean `add`?",
        True,
    ),
    "slices of different lengths": (
        "alltoallv(x: f32[16]) on row { run auto }",
        "slices of different lengths: not supported yet",
        "write `all_to_all`, and make all slices as long as the longest",
        True,
    ),
    "a misspelled operation of the type": (
        "reduce(x: f32[4], ad) on row { run auto }",
        "no operation called ad",
        "did you mean `add`? Known here: add, max, min, mul",
        True,
    ),
}


def told(text: str) -> CollcError:
    with pytest.raises(CollcError) as caught:
        compile_text(text, "told.coll", {})
    return caught.value


@pytest.mark.parametrize("name", TOLD)
def test_a_newcomer_is_told_the_cause_and_what_helps(name: str) -> None:
    collective, message, help, applied = TOLD[name]
    declared = TREE if "mine" in collective else ""
    text = f"{ROW}{declared}collective c = {collective}\nprogram {{ c }}\n"
    (one,) = told(text).diagnostics
    assert message in one.message
    assert help in one.help
    assert one.at is not None and one.at.file == "told.coll"
    assert bool(one.fix) == applied
    if applied:
        compile_text(edited(text, one.fix), "told.coll", {})


def test_slices_that_go_beyond_the_last_rank_go_around() -> None:
    call = "collective c = reduce_scatter(x: f32[64], add) on row { run ring }\nprogram { c }\n"
    text = f"{ROW}{RING.replace('TO', 'r + 1')}{call}"
    (one,) = told(text).diagnostics
    assert one.help == "write `(r + 1) mod n` to go around a ring"
    assert "r => (r + 1) mod n }" in edited(text, one.fix)
    (_, *_) = told(edited(text, one.fix)).diagnostics  # a rank keeps another slice than its own
    right = text.replace("(r - s) mod n  r => r + 1", "(r - s - 1) mod n  r => (r + 1) mod n")
    compile_text(right, "told.coll", {})


def test_pairs_and_two_types_in_an_operation_are_told_of() -> None:
    (one, *_) = told(f"{ROW}{PAIRS}").diagnostics
    assert "combines numbers, not pairs" in one.help
    (one, *_) = told(f"{ROW}operation acc(a: f32, b: f16) = a + f32(b)\n").diagnostics
    assert "is written once: `operation mine(a, b: f32) = a + b`" in one.help


def test_a_loop_between_declarations_is_told_where_loops_stand() -> None:
    (one, *_) = told(f"{ROW}for i in 0 .. 3 {{ c }}\n").diagnostics
    assert one.message == "unexpected `for`, expected the next declaration"
    assert "`program { repeat 4 { total } }`" in one.help


def test_a_fix_is_in_a_sarif_log() -> None:
    collective = "reduce(x: f64[4], add) on row { run auto }"
    log = sarif_log(told(f"{ROW}collective c = {collective}\nprogram {{ c }}\n").diagnostics)
    (fix,) = log["runs"][0]["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"] == {"text": "f32"}
    assert replacement["deletedRegion"]["startColumn"] == 26


PROGRAM = """
collective total = allreduce(x: f32[16], add) on row { run auto }
collective spread = broadcast(y: f32[16]) on row { run auto }
program { repeat 3 { total spread total } }
"""


def test_the_cost_of_a_program_adds_up_and_names_what_was_chosen(tmp_path: Path) -> None:
    file = tmp_path / "p.coll"
    file.write_text(ROW + PROGRAM)
    short = CliRunner().invoke(commands, ["cost", str(file)]).stdout
    first, added, *rest = short.splitlines()
    parts, _, whole = added.partition(" = ")
    cycles = [int(part.split()[1]) for part in parts.strip().split(" + ")]
    assert sum(cycles) == int(whole) == int(first.split()[1])
    assert "total " in parts and "(6 calls)" in parts and "(3 calls)" in parts
    assert [line.partition(":")[0] for line in rest if line.startswith("chosen")] == [
        "chosen for total",
        "chosen for spread",
    ]
    assert "color 0" not in short
    assert "color 0" in CliRunner().invoke(commands, ["cost", "-v", str(file)]).stdout
