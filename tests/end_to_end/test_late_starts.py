"""Launches on the simulator whose PEs begin late, each differently."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fabsim
from collc.backends import Job, Settings, opened
from collc.base.files import write_files
from collc.driver.pipeline import compile_text
from collc.target import WSE2
from collc.target.fabric import fabric_of

CHAIN = Path(__file__).parents[2] / "examples" / "chain.coll"
PES, LENGTH = 6, 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sum along a row."""
    made = tmp_path_factory.mktemp("chain")
    bundle = compile_text(CHAIN.read_text(), "chain.coll", {"P": PES, "B": LENGTH}, "wse2")
    write_files(made, bundle.files)
    return made


def cycles(folder: Path, late_starts: tuple[int, int] | None) -> list[int]:
    """What three launches on one load take; their results are right."""
    program = fabsim.compile(folder / "layout.csl", arch="wse2", strict=True)
    simulator = fabsim.Simulator(program, late_starts=late_starts)
    found = []
    for launch in range(3):
        given = np.random.default_rng(launch).integers(0, 9, (PES, LENGTH)).astype(np.float32)
        simulator.memcpy_h2d("x", given.ravel(), 0, 0, PES, 1, LENGTH)
        found.append(simulator.launch("run").cycles)
        got = simulator.memcpy_d2h("x", np.float32, 0, 0, PES, 1, LENGTH)
        assert (got[:LENGTH] == given.sum(axis=0)).all()
    simulator.stop()
    return found


def test_no_lateness_changes_nothing(folder: Path) -> None:
    assert cycles(folder, (0, 7)) == cycles(folder, None)


def test_each_launch_and_each_seed_has_late_starts_of_its_own(folder: Path) -> None:
    together = cycles(folder, None)[0]
    late = cycles(folder, (500, 1))
    assert len(set(late)) == 3
    assert all(together < took <= together + 500 for took in late)
    assert cycles(folder, (500, 1)) == late
    assert cycles(folder, (500, 2)) != late


def test_host_scripts_have_them_by_option(folder: Path) -> None:
    """Also those of programs without time stamps, which cannot let their PEs begin late."""
    with opened("fabsim", Settings(late_cycles=500)) as tools:
        options = fabric_of((PES, 1), WSE2).options("wse2")
        compiled = tools.compile(Job(folder, options))
        outcome = tools.run(compiled, "run.py", ("--launches", "3"))
    assert outcome.status == 0, outcome.errors


@pytest.mark.parametrize("text", ["x", "5:", "5:1:2", "-1"])
def test_what_is_no_lateness_is_wrong_usage(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABSIM_OPTIONS", f"--late-starts={text}")
    with pytest.raises(SystemExit):
        fabsim.opened(fabsim.compile(folder / "layout.csl", arch="wse2", strict=True))
