"""Barriers and allreduces of one element: right in every launch, whoever is late, and as fast as
predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from libraries import library_of

import fabsim
from collc.base.files import write_files
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text

BARRIER, SUM = "barrier()", "allreduce(x: f32[1], add)"
TREES = ("chain", "star", "binomial", "two_phase(S = 2)", "optimal")
ON_LINES = [
    *((f"reduce {tree} to {root} then broadcast from {root}") for tree in TREES for root in (0, 5)),
    "reduce star to 7 then broadcast from 7",
    "reduce root_bypass(binomial) to 2 then broadcast from 2",
]
ON_GRIDS = [
    "reduce columns by star to 0 then reduce row by binomial to 0 then broadcast from (0, 0)",
    "reduce rows by binomial to 3 then reduce column by star to 1 then broadcast from (3, 1)",
    "order snake reduce optimal to 0 then broadcast from 0",
    "order hilbert reduce binomial to 0 then broadcast from 0",
]
# cycles of a barrier and an allreduce on 8 PEs by the text of the first version, on this simulator
FIRST = {("wse2", BARRIER): 40, ("wse2", SUM): 43, ("wse3", BARRIER): 60, ("wse3", SUM): 63}


def compiled(contract: str, steps: str, target: str, grid: str = "8 x 1") -> Bundle:
    text = f"target {target} grid g = {grid} collective total = {contract} on g {{ {steps} }}"
    return compile_text(f"{text} program {{ total }}", "one_word.coll", {})


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("contract", [BARRIER, SUM, "allreduce(x: f16[1] by 3, mul)"])
@pytest.mark.parametrize(
    ("grid", "steps"),
    [*(("8 x 1", one) for one in ON_LINES), *(("6 x 5", one) for one in ON_GRIDS)],
)
def test_every_tree_delivers_in_every_launch(grid, steps, contract, target):
    bundle = compiled(contract, steps, target, grid)
    assert ".fixed = true" in library_of(bundle.files)  # loaded before the program begins
    report = bundle.run(repeats=3)
    assert report.verified, report.problem


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("steps", [ON_LINES[1], ON_LINES[2], ON_LINES[5]])
def test_sums_are_right_whoever_is_late(steps: str, target: str, tmp_path: Path) -> None:
    write_files(tmp_path, compiled(SUM, steps, target).files)
    program = fabsim.compile(tmp_path / "layout.csl", arch=target, strict=True)
    for seed in range(4):
        simulator = fabsim.Simulator(program, late_starts=(300, seed))
        for launch in range(5):
            given = np.random.default_rng(launch).integers(0, 99, 8).astype(np.float32)
            simulator.memcpy_h2d("x", given, 0, 0, 8, 1, 1)
            simulator.launch("run")
            got = simulator.memcpy_d2h("x", np.float32, 0, 0, 8, 1, 1)
            assert (got == given.sum()).all()
        simulator.stop()


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("contract", [BARRIER, SUM])
@pytest.mark.parametrize(
    ("grid", "steps"),
    [
        *((f"{pes} x 1", "run auto") for pes in (2, 3, 8, 16)),
        *(("8 x 1", one) for one in (ON_LINES[1], ON_LINES[4], ON_LINES[6], ON_LINES[-1])),
        *(("9 x 7", one) for one in ON_GRIDS[:2]),
        ("6 x 5", ON_GRIDS[2]),
    ],
)
def test_a_prediction_is_exact(grid, steps, contract, target):
    bundle = compiled(contract, steps, target, grid)
    assert bundle.run().cycles == bundle.prediction.cycles


@pytest.mark.parametrize(("target", "contract"), FIRST)
def test_eight_pes_take_less_than_five_sixths_of_what_they_took_at_first(target, contract):
    report = compiled(contract, "run auto", target).run()
    assert report.verified, report.problem
    assert report.cycles * 6 <= FIRST[target, contract] * 5
