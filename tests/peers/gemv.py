"""The vendor's gemv-collectives_2d with its library and with examples/collectives_2d: a scatter of
each vector, a broadcast, a sum along rows and a gather, on a square of PEs.

What is compared is communication: all cycles, less those of a copy that sends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from peers import Measured, Point, compiled, copied, difference, numbers
from peers.gemm import install

NAME = "vendor's gemv-collectives_2d, its communication"
HAS = "gemv-collectives_2d/commands_wse3.sh"
SIZES = ((4, 32, 16), (8, 64, 32), (4, 128, 128))  # PEs of a side, rows and columns of the matrix
CALL = re.compile(r"mpi_[xy]\.(?:scatter|broadcast|reduce_fadds|gather)\([^;]*?(\w+)\);")


def points(folder: Path) -> Iterator[Point]:
    """Squares of PEs, on both targets."""
    for target in ("wse2", "wse3"):
        for pes, rows, columns in SIZES:
            size = (pes, rows, columns)
            run = partial(communication, folder, target=target, size=size)
            ours = {"drop-in": partial(run, drop_in=True)}
            told = f"{pes} x {pes}"
            yield Point(NAME, "GEMV", target, told, rows, run, {}, pes * rows * columns, ours)


def communication(
    folder: Path,
    scratch: Path,
    *,
    target: str,
    size: tuple[int, int, int],
    drop_in: bool = False,
) -> Measured:
    """Cycles that are not those of computing."""
    whole = _run(folder, scratch / "whole", target, size, drop_in=drop_in)
    alone = _run(folder, scratch / "alone", target, size, silent=True)
    return Measured(whole.cycles - alone.cycles, whole.problem)


def _run(
    folder: Path,
    scratch: Path,
    target: str,
    size: tuple[int, int, int],
    *,
    drop_in: bool = False,
    silent: bool = False,
) -> Measured:
    theirs = copied(folder / "gemv-collectives_2d", scratch)
    pes, rows, columns = size
    if drop_in:
        install(theirs, target, pes)
    if silent:  # tasks that wait for vectors are activated instead
        text = (theirs / "pe.csl").read_text()
        (theirs / "pe.csl").write_text(CALL.sub(r"@activate(\1);", text))
    sizes = {"kernel_rows": pes, "kernel_cols": pes, "matrix_rows": rows, "matrix_cols": columns}
    simulator = compiled(theirs / "layout.csl", target, sizes)
    a, x, b = numbers(7, rows, columns), numbers(8, columns), numbers(9, rows)
    tiles = a.reshape(pes, rows // pes, pes, columns // pes).transpose(0, 2, 1, 3)
    held = np.ascontiguousarray(tiles).reshape(-1)
    simulator.memcpy_h2d("A", held, 0, 0, pes, pes, a.size // pes**2)
    simulator.memcpy_h2d("x", x, 0, 0, 1, 1, columns)
    simulator.memcpy_h2d("b", b, 0, 0, 1, 1, rows)
    report = simulator.launch("main")
    found = simulator.memcpy_d2h("y", "float32", pes - 1, pes - 1, 1, 1, rows)
    wanted = a.astype(np.float64) @ x + b
    problem = "" if silent else difference(found.reshape(-1), wanted, 1e-4)
    return Measured(report.cycles, problem)
