"""Run the programs of spcl/spatial-collectives on fabsim by their own scripts, beside collc's.

    python fabsim/tools/spatial_collectives.py FOLDER [--pes 4 8] [--elements 256] [--page FILE]

FOLDER is a copy of the artifact; it is copied once more, since scripts write into it. Each program
is compiled and run as the artifact's commands files do, at sizes that fit: `cslc`, then its own
host script, whose cycles (last end minus first start, clocks aligned by the script) are read from
the file the script writes. The script compares no values, so the program is run once more and the
result of PE (0, 0) compared with the sum. collc's cycles are those of a launch, of the same
pattern where it has it.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from conformance import replaced

import fabsim
from fabsim import cslc

# The artifact's patterns by number; the last one is a star in a row and a snake on a grid.
ALGORITHMS = ("chain", "two_phase", "binomial")

ROW = """target wse2
grid row = {P} x 1
collective total = {what}(x: f32[{B}], add) on row {{
    order west_to_east
    reduce {pattern} to 0
{then}}}
program {{ total }}
"""
GRID = """target wse2
grid all = {P} x {P}
collective total = {what}(x: f32[{B}], add) on all {{
    order north_to_south, west_to_east
    reduce row by {pattern} to 0
    then reduce columns by {pattern} to 0
{then}}}
program {{ total }}
"""
# What collc finds best: pre-order trees were found by a search, too.
AUTO = """target wse2
grid all = {P} x {H}
collective total = reduce(x: f32[{B}], add) on all {{ run auto }}
program {{ total }}
"""
SNAKE = """target wse2
grid all = {P} x {P}
collective total = {what}(x: f32[{B}], add) on all {{
    order snake
    reduce chain to 0
{then}}}
program {{ total }}
"""
BROADCAST = """target wse2
grid row = {P} x 1
collective spread = broadcast(x: f32[{B}]) on row {{
    order west_to_east
    broadcast from 0
}}
program {{ spread }}
"""


@dataclass(frozen=True)
class Case:
    """One program of the artifact at one size; `ours` is the same for collc."""

    what: str
    layout: str
    script: str
    results: str
    params: str
    pes: int
    expected: float
    ours: str
    generates: bool = False


def reductions(pes: int, elements: int, is_allreduce: bool) -> Iterator[Case]:
    """The fixed patterns in a row and on a grid."""
    step = math.isqrt(pes)
    what = "allreduce" if is_allreduce else "reduce"
    rows = [(f"two_phase(S = {step})" if name == "two_phase" else name, ROW) for name in ALGORITHMS]
    patterns = {
        1: [*rows, ("star", ROW)],
        2: [(name, GRID) for name, _ in rows] + [("snake", SNAKE)],
    }
    for dim, height in ((1, 1), (2, pes)):
        then = f"    then broadcast from {0 if dim == 1 else (0, 0)}\n" if is_allreduce else ""
        for number, (pattern, text) in enumerate(patterns[dim]):
            yield Case(
                f"{what} {dim}-D {pattern.partition('(')[0]}",
                f"layout_{dim}d_test_inc.csl",
                "run_2d_specific_pe_test.py",
                "data_2d.csv",
                f"Nx_start:{elements},Pw:{pes},Ph:{height},Algo:{number},is_allred:{int(is_allreduce)},step:{step}",
                pes,
                float(pes * height),
                text.format(P=pes, B=elements, what=what, pattern=pattern, then=then),
            )


def cases(pes: int, elements: int) -> Iterator[Case]:
    """What is run on that many PEs a row, with that many elements a PE."""
    yield from reductions(pes, elements, is_allreduce=False)
    yield from reductions(pes, elements, is_allreduce=True)
    # On a grid the warm-up uses the vector itself: two sums, then reduce and broadcast twice.
    sums = {1: float(pes), 2: 3.0 * float(pes**2) ** 3}
    for dim, height in ((1, 1), (2, pes)):
        yield Case(
            f"reduce {dim}-D pre-order",
            f"layout_{dim}d_pre_order_test.csl",
            "run_2d_specific_pe_test.py",
            "data_2d.csv",
            f"Nx_start:{elements},Pw:{pes},Ph:{height},Algo:0,is_allred:0,step:{math.isqrt(pes)}",
            pes,
            sums[dim],
            AUTO.format(P=pes, H=height, B=elements),
            generates=True,
        )
    yield Case(
        "broadcast",
        "layout_broadcast.csl",
        "run_bcast.py",
        "data_bcast.csv",
        f"Nx:{elements},Pw:{pes},Algo:0,is_allred:0,step:0",
        pes,
        1.0,
        BROADCAST.format(P=pes, B=elements),
    )


def run(case: Case, folder: Path, elements: int) -> str:
    """One row of the table; says what went wrong where something did."""
    if case.generates:
        arguments = ["generate_pre_order_2d.py", str(case.pes), str(elements), "x"]
        _call([sys.executable, *arguments], folder)
    (folder / case.results).unlink(missing_ok=True)
    dims = ["--fabric-dims=519,514", "--fabric-offsets=4,1", "--memcpy", "--channels=1"]
    program = [sys.executable, "-m", "fabsim"]
    said = _call([*program, "cslc", case.layout, *dims, f"--params={case.params}"], folder)
    said = said or _call([*program, "python", case.script, "--name", "out"], folder)
    if said:
        return f"| {case.what} | {case.pes} | {elements} | | | {said} |"
    theirs = _cycles(folder / case.results)
    result = _result(folder, elements)
    right = "right" if np.all(result == np.float32(case.expected)) else f"WRONG: {result[0]}"
    ours = _collc(case, folder)
    return f"| {case.what} | {case.pes} | {elements} | {theirs:,} | {ours} | {right} |"


def _call(command: list[str], folder: Path) -> str:
    """Run a command in a folder; its last line if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "rror" in line]
    return (lines or ["no output"])[-1].replace("|", "\\|")


def _cycles(path: Path) -> int:
    """The time of the first run that a script has written down."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    return int(float(rows[1][rows[0].index("time")]))


def _result(folder: Path, elements: int) -> np.ndarray:
    """What PE (0, 0) has after one run, from memory as it was compiled."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        simulator = fabsim.Simulator(cslc.load("out"))
        simulator.launch("f_sync", 1)
        return simulator.memcpy_d2h("x", "float32", 0, 0, 1, 1, elements)
    finally:
        os.chdir(before)


def _collc(case: Case, folder: Path) -> str:
    path = folder / "ours.coll"
    path.write_text(case.ours)
    collc = Path(sys.executable).with_name("collc")
    done = subprocess.run([collc, "run", path], capture_output=True, text=True, check=False)
    found = re.search(r"cycles\s+(\d+)", done.stdout)
    if not found:
        print(done.stdout + done.stderr, file=sys.stderr)
    return f"{int(found[1]):,}" if found else "?"


def main() -> int:
    """Print the table, or put it into a page; the status is 0 if every result is right."""
    options = _options()
    rows = ["| program | P | B | theirs | collc | result |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(options.folder, Path(scratch) / "artifact"))
        for pes in options.pes:
            for case in cases(pes, options.elements):
                rows.append(run(case, folder, options.elements))
                print(rows[-1], flush=True)
    if options.page:
        page = Path(options.page)
        page.write_text(replaced(page.read_text(), {"spatial-collectives": "\n".join(rows)}))
    return 0 if all(row.endswith("right |") for row in rows[2:]) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="spcl/spatial-collectives beside collc.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pes", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--elements", type=int, default=256)
    parser.add_argument("--page", metavar="FILE", help="put the table into this page")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
