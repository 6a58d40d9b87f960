"""The vendor's gemm-collectives_2d with its library and with examples/collectives_2d.

Both run the vendor's program; of the second one the imports of the library are changed. What is
compared is communication: all cycles, less those of a copy in which tiles are not sent.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from collc.driver.pipeline import compile_text
from peers import Measured, Point, compiled, copied, difference, numbers

NAME = "vendor's gemm-collectives_2d, its communication"
HAS = "gemm-collectives_2d/commands_wse3.sh"
DROP_IN = Path(__file__).parents[2] / "examples" / "collectives_2d"
# Rows and columns of a tile are no multiple of 8: then a PE computes longer with its own tiles, for
# which all others wait.
SIZES = ((4, 14), (4, 4), (8, 4))  # PEs of a side, rows and columns of a tile
CALLS = ("  mpi_x.broadcast(step", "  mpi_y.broadcast(step")


def points(folder: Path) -> Iterator[Point]:
    """Squares of PEs with square tiles, on both targets."""
    for target in ("wse2", "wse3"):
        for pes, tile in SIZES:
            run = partial(communication, folder, target=target, pes=pes, tile=tile)
            size, weight = f"{pes} x {pes}", pes * tile**3
            ours = {"drop-in": partial(run, drop_in=True)}
            yield Point(NAME, "GEMM", target, size, tile * tile, run, {}, weight, ours)


def communication(
    folder: Path, scratch: Path, *, target: str, pes: int, tile: int, drop_in: bool = False
) -> Measured:
    """Cycles that are not those of computing."""
    whole = _run(folder, scratch / "whole", target, pes, tile, drop_in=drop_in)
    alone = _run(folder, scratch / "alone", target, pes, tile, drop_in=drop_in, silent=True)
    return Measured(whole.cycles - alone.cycles, whole.problem)


def _run(
    folder: Path,
    scratch: Path,
    target: str,
    pes: int,
    tile: int,
    *,
    drop_in: bool,
    silent: bool = False,
) -> Measured:
    theirs = copied(folder / "gemm-collectives_2d", scratch)
    if drop_in:
        install(theirs, target, pes)
    if silent:
        _silence(theirs / "pe.csl")
    size = {"P": pes, "Mt": tile, "Kt": tile, "Nt": tile}
    simulator = compiled(theirs / "layout.csl", target, size)
    a, b = numbers(7, pes, pes, tile, tile), numbers(8, pes, pes, tile, tile)
    for name, tiles in (("A", a), ("B", b)):
        by_columns = np.ascontiguousarray(tiles.transpose(0, 1, 3, 2))
        simulator.memcpy_h2d(name, by_columns.reshape(-1), 0, 0, pes, pes, tile * tile)
    report = simulator.launch("main")
    found = simulator.memcpy_d2h("C", "float32", 0, 0, pes, pes, tile * tile)
    by_tiles = found.reshape(pes, pes, tile, tile).transpose(0, 1, 3, 2)
    wanted = np.einsum("ykij,kxjl->yxil", a.astype(np.float64), b.astype(np.float64))
    return Measured(report.cycles, "" if silent else difference(by_tiles, wanted, 1e-4))


def install(theirs: Path, target: str, pes: int) -> None:
    """Make the drop-in beside their program, for a square of PEs, and change its imports."""
    library = Path(shutil.copytree(DROP_IN, theirs / "collectives_2d"))
    text = (library / "line.coll").read_text()
    for lines, folder in (("row", "rows"), ("column", "columns")):
        order = "west_to_east" if lines == "row" else "north_to_south"
        said = text.replace("each row", f"each {lines}").replace("west_to_east", order)
        compile_text(said, "line.coll", {"P": pes}, target).write(library / folder)
    for name in ("layout.csl", "pe.csl"):
        given = (theirs / name).read_text()
        for part in ("params", "pe"):
            given = given.replace(f'"<collectives_2d/{part}>"', f'"collectives_2d/{part}.csl"')
        (theirs / name).write_text(given)


def _silence(program: Path) -> None:
    """Tasks that wait for tiles are activated instead of sending."""
    lines = program.read_text().splitlines()
    for call, task in zip(CALLS, ("x_task_id", "y_task_id"), strict=True):
        at = next(number for number, line in enumerate(lines) if line.startswith(call))
        lines[at] = f"  @activate({task});"
    program.write_text("\n".join(lines))
