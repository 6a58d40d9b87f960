"""A barrier ends on no PE before all have begun it, whoever is late."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from libraries import library_of

import collc
import fabsim
from collc.tuning.predicted import candidate_of

ALGORITHMS = ("linear_barrier", "binomial_barrier", "dissemination_barrier")
TREES = (
    "reduce star to 0 then broadcast from 0",
    "reduce binomial to 0 then broadcast from 0",
    "reduce chain to 1 then broadcast from auto",
)
ON_GRIDS = (
    "reduce columns by binomial to 0 then reduce row by chain to 0 then broadcast from 0",
    "reduce rows by star to 1 then reduce column by star to 0 then broadcast from auto",
    "order snake reduce optimal to 0 then broadcast from 0",
)
LATE_TRIALS = [
    *(("5 x 1", f"run {name}") for name in ALGORITHMS),
    *(("2 x 1", f"run {name}") for name in ALGORITHMS),
    *(("5 x 1", steps) for steps in TREES),
    *(("3 x 2", steps) for steps in (*ON_GRIDS, "run auto")),
]
TEXT = """target wse2
param W
param H
grid all = W x H
collective total = barrier() on all {{
    {steps}
}}
program {{ total }}
"""
# begins LATE turns of a loop later on one PE, and takes the time before and after the barrier
PARAMETERS = "param barrier_params;\n"
GIVEN = ".barrier_params = "
CALL = "fn run() void {\n  linger();\n  total.total();\n}"
LATE_CALL = """const time = @import_module("<time>");
var begun = @zeros([3]u16);
var ended = @zeros([3]u16);

fn run() void {
  time.enable_tsc();
  var turn: u16 = 0;
  while ((place == LATE_PLACE) and (turn < LATE)) { turn += 1; }
  time.get_timestamp(&begun);
  total.total();
}"""
END = "fn called() void {\n"
LATE = 2000


def program(tmp_path: Path, steps: str, target: str, width: int, height: int) -> collc.Bundle:
    source = tmp_path / "barrier.coll"
    source.write_text(TEXT.format(steps=steps))
    return collc.compile(source, target=target, W=width, H=height)


def stamps(simulator: fabsim.Simulator, name: str, width: int, height: int) -> list[int]:
    """What a stamp of each PE says, three words from the lowest on."""
    words = (
        np.frombuffer(simulator.read_variable(name, x, y), "<u2")
        for y in range(height)
        for x in range(width)
    )
    return [sum(int(word) << (16 * at) for at, word in enumerate(own)) for own in words]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("grid", "steps"), LATE_TRIALS)
def test_nobody_ends_before_the_last_has_begun(grid, steps, target, tmp_path):
    width, height = map(int, grid.split(" x "))
    program(tmp_path, steps, target, width, height).write(tmp_path)
    layout, file = tmp_path / "layout.csl", tmp_path / "pe_program.csl"
    told, text = layout.read_text(), file.read_text()
    assert GIVEN in told and all(part in text for part in (PARAMETERS, CALL, END))
    layout.write_text(
        told.replace(GIVEN, f".place = y_coordinate * {width} + x_coordinate, {GIVEN}")
    )
    for late in range(width * height):
        call = LATE_CALL.replace("LATE_PLACE", str(late)).replace("LATE", str(LATE))
        changed = text.replace(PARAMETERS, f"{PARAMETERS}param place: u16;\n").replace(CALL, call)
        file.write_text(changed.replace(END, f"{END}  time.get_timestamp(&ended);\n"))
        simulator = fabsim.Simulator(fabsim.compile(layout, arch=target, strict=True))
        simulator.launch("run")
        begun, ended = (stamps(simulator, name, width, height) for name in ("begun", "ended"))
        simulator.stop()
        assert begun[late] == max(begun) > LATE + min(begun)
        assert min(ended) > max(begun)


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 1), (8, 1), (1, 7), (5, 4), (7, 6)])
def test_the_best_barrier_is_as_fast_as_any_tree(width, height, target, tmp_path):
    best = program(tmp_path, "run auto", target, width, height)
    report = best.run(repeats=2)
    assert report.verified, report.problem
    assert abs(best.prediction.cycles - report.cycles) <= 90 + 0.02 * report.cycles
    tried = ON_GRIDS if min(width, height) > 1 else TREES[:2]
    for steps in tried:
        other = program(tmp_path, steps, target, width, height)
        assert best.prediction.cycles <= other.prediction.cycles


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("contract", ["barrier()", "allreduce(x: f32[1], add)"])
def test_one_word_takes_as_many_cycles_as_are_said_to_be_the_least(contract, target, tmp_path):
    source = tmp_path / "word.coll"
    for steps in (*TREES[:2], "reduce chain to 0 then broadcast from 0"):
        source.write_text(TEXT.format(steps=steps).replace("barrier()", contract))
        for width in (2, 3, 8, 20):
            bundle = collc.compile(source, target=target, W=width, H=1)
            candidate = candidate_of(bundle.plan.collective, bundle.plan.target)
            assert candidate.at_least <= bundle.prediction.cycles


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_tokens_come_each_time(algorithm, target, tmp_path):
    for places in (1, 2, 3, 8):
        bundle = program(tmp_path, f"run {algorithm}", target, places, 1)
        report = bundle.run(repeats=2)
        assert report.verified, report.problem
        assert report.cycles >= bundle.prediction.bound
        assert abs(bundle.prediction.cycles - report.cycles) <= 90 + 0.02 * report.cycles


def test_a_barrier_of_a_grid_goes_along_columns_then_rows(tmp_path):
    steps = "run columns by dissemination_barrier then run rows by linear_barrier"
    report = program(tmp_path, steps, "wse2", 4, 3).run()
    assert report.verified, report.problem


def test_a_barrier_has_no_buffer_in_any_file(tmp_path):
    bundle = program(tmp_path, "run linear_barrier", "wse2", 3, 1)
    texts = bundle.files
    assert "fn total() void" in library_of(texts)
    assert texts["layout.csl"].count("@export_name") == 1
    assert re.search(r"\nBUFFERS = \{[^\n]*\n\}\n", texts["run.py"])
    assert '"length": 0' in texts["manifest.json"]
    compile(texts["run.py"], "run.py", "exec")
