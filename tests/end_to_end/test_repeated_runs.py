"""A plan runs again and again, also one that moves switches: it sets them back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fabsim
from building import broadcast, chain, line_reduce, star
from collc.base.files import write_files
from collc.run.expected import expected, make_input
from collc.schedule import build_schedule
from collc.spec import Collective
from emitting import files_of


def simulator_of(what: Collective, directory: Path) -> fabsim.Simulator:
    write_files(directory, files_of(what))
    return fabsim.Simulator(fabsim.compile(str(directory / "layout.csl"), arch="wse2", strict=True))


def run_once(simulator: fabsim.Simulator, what: Collective, seed: int) -> np.ndarray:
    given = make_input(what, seed)
    area = (0, 0, what.grid.width, what.grid.height, what.contract.length)
    simulator.memcpy_h2d("x", given.reshape(-1), *area)
    simulator.launch("run")
    found = simulator.memcpy_d2h("x", given.dtype, *area).reshape(given.shape)
    wanted = expected(build_schedule(what), given)
    return found[0, 0] == wanted[0, 0]


@pytest.mark.parametrize(
    "what", [line_reduce(chain(6)), broadcast(4, 3, 1, 2), line_reduce(star(6))]
)
def test_a_plan_serves_any_number_of_runs(what: Collective, tmp_path: Path) -> None:
    simulator = simulator_of(what, tmp_path)
    for seed in range(5):
        assert run_once(simulator, what, seed).all()
    simulator.stop()
