"""Running a bundle on fabsim and judging the result.

fabsim gets the emitted text and nothing else. It is an optional part: without it a bundle can be
built and carried to the vendor's tools, and asking for a run says what to install.
"""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from collc.arrays import Array
from collc.diagnostics import CollcError, Diagnostic
from collc.files import write_files
from collc.schedule import Schedule
from collc.tokens import TOKEN
from collc.verify import make_input, mismatch

Progress = Callable[[int], None]


class RunError(Exception):
    """The emitted program did not compile on fabsim, got stuck, or did what is undefined."""


@dataclass(frozen=True)
class RunReport:
    """One verified or refuted run.

    `cycles` counts from the common start to the last PE's completion; `tile_cycles` is the sum
    over PEs of the cycles in which they were active; `wall_seconds` is compiling and simulating.
    `problem` is empty exactly when `verified`. `lengths` are those that were given when the program
    ran, by name, for each round.
    """

    verified: bool
    problem: str
    cycles: int
    tile_cycles: int
    wall_seconds: float
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def run_bundle(  # noqa: PLR0913 - what to run, then how
    texts: Mapping[str, str],
    schedule: Schedule,
    arch: str,
    *,
    seed: int,
    repeats: int = 1,
    progress: Progress | None = None,
) -> RunReport:
    """Compile `texts` with fabsim, run them on random input, compare with NumPy.

    `repeats` runs follow each other on one load of the program, each with input of its own; all
    have to be right, and the report is on the slowest. Raises CollcError when fabsim is not
    installed, RunError when a run does not end.
    """
    fabsim = fabsim_module()
    collective = schedule.collective
    grid, contract = collective.grid, collective.contract
    area = (0, 0, grid.width, grid.height, contract.length)
    began = time.perf_counter()
    cycles, problem = 0, ""
    try:
        with tempfile.TemporaryDirectory(prefix="collc-run-") as directory:
            write_files(Path(directory), texts)
            program = fabsim.compile(str(Path(directory) / "layout.csl"), arch=arch)
        simulator = fabsim.Simulator(program)
        for turn in range(repeats):
            given = make_input(collective, seed + turn)
            if contract.buffer:
                simulator.memcpy_h2d(contract.buffer, given.reshape(-1), *area)
            launch = simulator.launch("run", progress=progress)
            if contract.buffer:
                found = simulator.memcpy_d2h(contract.buffer, given.dtype, *area)
            else:
                found = tokens_of(simulator, collective.name, given) if schedule.phases else given
            cycles = max(cycles, launch.cycles)
            problem = problem or mismatch(schedule, given, found.reshape(given.shape))
        simulator.stop()
    except (fabsim.CslError, fabsim.SimulationError) as error:
        raise RunError(str(error)) from error
    except MemoryError as error:
        size = f"{grid.width} x {grid.height} PEs of {contract.length} elements"
        raise RunError(f"this computer's memory is too small for {size}") from error
    wall_seconds = time.perf_counter() - began
    return RunReport(
        verified=not problem,
        problem=problem,
        cycles=cycles,
        tile_cycles=launch.tile_cycles,
        wall_seconds=wall_seconds,
    )


def tokens_of(simulator: Any, module: str, given: Array) -> Array:  # noqa: ANN401 - see `fabsim_module`
    """The tokens of all PEs, [height, width, 1], after a barrier, which has no buffer to copy."""
    found = np.empty_like(given)
    for y, x in np.ndindex(given.shape[:2]):
        held = simulator.read_variable(f"{module}.{TOKEN}", x, y)
        found[y, x] = np.frombuffer(held, given.dtype)
    return found


def fabsim_module() -> Any:  # noqa: ANN401 - an optional module; fabsim.pyi types it where installed
    """The simulator; raises CollcError where it is not installed."""
    try:
        return importlib.import_module("fabsim")
    except ImportError as error:
        raise CollcError(
            [
                Diagnostic(
                    "C501",
                    f"running needs fabsim, which is not installed ({error})",
                    None,
                    help="install it from the project's folder: pip install ./fabsim "
                    "(needs a Rust toolchain)",
                )
            ]
        ) from error
