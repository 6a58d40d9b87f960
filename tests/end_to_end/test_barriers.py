"""A barrier ends on no PE before all have begun it, whoever is late."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import collc
import fabsim

ALGORITHMS = ("linear_barrier", "binomial_barrier", "dissemination_barrier")
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
CALL = "fn run() void {\n  total.run();\n}"
LATE_CALL = """const time = @import_module("<time>");
var begun = @zeros([3]u16);
var ended = @zeros([3]u16);

fn run() void {
  time.enable_tsc();
  var turn: u16 = 0;
  while ((total_params.exchange.place == LATE_PLACE) and (turn < LATE)) { turn += 1; }
  time.get_timestamp(&begun);
  total.run();
}"""
END = "task finished() void {\n"
LATE = 2000


def program(tmp_path: Path, steps: str, target: str, width: int, height: int) -> collc.Bundle:
    source = tmp_path / "barrier.coll"
    source.write_text(TEXT.format(steps=steps))
    return collc.compile(source, target=target, W=width, H=height)


def stamps(simulator: fabsim.Simulator, name: str, places: int) -> list[int]:
    """What a stamp of each PE says, three words from the lowest on."""
    words = (
        np.frombuffer(simulator.read_variable(name, place, 0), "<u2") for place in range(places)
    )
    return [sum(int(word) << (16 * at) for at, word in enumerate(own)) for own in words]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("places", [2, 5])
def test_nobody_ends_before_the_last_has_begun(algorithm, places, target, tmp_path):
    program(tmp_path, f"run {algorithm}", target, places, 1).write(tmp_path)
    file = tmp_path / "pe_program.csl"
    text = file.read_text()
    assert CALL in text and END in text
    for late in range(places):
        call = LATE_CALL.replace("LATE_PLACE", str(late)).replace("LATE", str(LATE))
        changed = text.replace(CALL, call).replace(END, f"{END}  time.get_timestamp(&ended);\n")
        file.write_text(changed)
        simulator = fabsim.Simulator(fabsim.compile(tmp_path / "layout.csl", arch=target))
        simulator.launch("run")
        begun, ended = (stamps(simulator, name, places) for name in ("begun", "ended"))
        simulator.stop()
        assert begun[late] == max(begun) > LATE + min(begun)
        assert min(ended) > max(begun)


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
    assert "fn run() void" in texts["total_pe.csl"]
    assert texts["layout.csl"].count("@export_name") == 1
    assert "memcpy_h2d" not in texts["run.py"] and "numpy" not in texts["run.py"]
    assert '"length": 0' in texts["manifest.json"]
    compile(texts["run.py"], "run.py", "exec")
