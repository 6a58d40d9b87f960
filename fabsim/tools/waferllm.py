"""Run WaferLLM's programs on fabsim by their own scripts, compare their values, and print a table.

    python fabsim/tools/waferllm.py FOLDER [--only TEXT] [--large] [--timeout SECONDS] [--page FILE]

FOLDER is a checkout of MeshInfra/WaferLLM. Each program's folder is copied and its `run_sim.sh`
runs unchanged, with fabsim's `cslc` and `cs_python` first on PATH. Products of matrices print what
they expect and what came out, without a verdict of their own: here numbers are printed in full, and
the two have to agree within what sums of 16-bit floats lose. Decode and Prefill print results
alone; they have to end.

--large adds the size in the README of the matrix product for WSE-3, which takes some minutes.
--page puts the table into a page as its section `## WaferLLM`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from conformance import last_words, made_shims, replaced, run_group

SECTION = "WaferLLM"

# Halves are rounded by at most this part of themselves.
HALF_ROUNDING = 2.0**-11

# cs_python, printing arrays whole, and keeping cycles and status of each run.
CS_PYTHON = """#!/bin/sh
{python} -m fabsim python {printing} "$@"
status=$?
echo "$status $(cat sim_stats.json)" >> "$WAFERLLM_RUNS"
exit $status
"""

PRINTING = """
import runpy, sys
import numpy
numpy.set_printoptions(threshold=sys.maxsize, linewidth=1_000_000, precision=6)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True)
class Program:
    """A program at one size: its folder and the arguments of its script."""

    folder: str
    arguments: tuple[str, ...]
    # What its script reads as config.json.
    config: dict[str, int] | None = None

    @property
    def tolerance(self) -> float:
        """What may be lost of the largest expected value, where all terms are positive, as here: a
        sum of n terms one after the other is off by some sqrt(n) roundings, twice that hardly ever
        (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019)."""
        terms = int(self.arguments[1])  # all matrices are square
        return 2 * math.sqrt(terms) * HALF_ROUNDING

    @property
    def compares(self) -> bool:
        """Whether it prints what it expects."""
        return self.folder.startswith("Mesh")


@dataclass(frozen=True)
class Outcome:
    """What came of a run; `error` is the greatest, as a part of the largest expected value."""

    verdict: str
    seconds: float
    cycles: int | None
    error: float | None


def _products(arch: str) -> list[Program]:
    """Tiles of 16 x 16 on 4 x 4 and 16 x 16 PEs; vectors are summed in two phases of groups."""
    programs = []
    for size in (4, 16):
        side = str(16 * size)
        programs.append(Program(f"MeshGEMV/{arch}", (str(size), side, side, "2")))
        programs.append(Program(f"MeshGEMM/{arch}", (str(size), side, side, side)))
    return programs


def _model(size: int, dim: int, length: int) -> dict[str, int]:
    return {
        "P": size,
        "group_num": 2,
        "bsz": 1,
        "dim": dim,
        "n_heads": 1,
        "n_kv_heads": 1,
        "head_dim": dim,
        "seq_len": length,
        "ffn_dim": dim,
    }


# Decode: the authors' test size. Prefill: the smallest at which no operation of its own goes over
# the end of an array, which it does where a PE has more positions than half its dimensions.
PROGRAMS = (
    *_products("WSE-2"),
    *_products("WSE-3"),
    Program("Decode/WSE-2", ("config.json",), _model(8, 64, 64)),
    Program("Decode/WSE-3", ("config.json",), _model(8, 64, 64)),
    Program("Prefill/WSE-2", ("config.json",), _model(4, 16, 8)),
)

# The example in its README.
LARGE = Program("MeshGEMM/WSE-3", ("64", "1024", "1024", "1024"))


def main() -> int:
    """Print a line for each program; the status is 0 if all of them are right."""
    options = _options()
    rows = ["| program | size | verdict | cycles | greatest error |", "|---|---|---|---|---|"]
    right = True
    with tempfile.TemporaryDirectory() as scratch:
        shims = _shims(Path(scratch))
        programs = (*PROGRAMS, LARGE) if options.large else PROGRAMS
        for program in (p for p in programs if options.only in p.folder):
            outcome = run(Path(options.folder), program, shims, options.timeout)
            right &= outcome.verdict == "pass"
            row = _row(program, outcome)
            rows.append(row)
            print(f"{row} {outcome.seconds:.1f} s", flush=True)
    if options.page:
        page = Path(options.page)
        page.write_text(replaced(page.read_text(), {SECTION: "\n".join(rows)}))
    return 0 if right else 1


def run(checkout: Path, program: Program, shims: Path, timeout: float) -> Outcome:
    """Run a program in a copy of its folder."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(checkout / program.folder, Path(scratch) / "program")
        if program.config is not None:
            (copy / "config.json").write_text(json.dumps(program.config))
        runs = Path(scratch) / "runs"
        environment = os.environ | {
            "PATH": f"{shims}:{os.environ['PATH']}",
            "WAFERLLM_RUNS": str(runs),
        }
        start = time.monotonic()
        command = ["bash", "run_sim.sh", *program.arguments]
        output, _ = run_group(command, copy, environment, timeout)
        seconds = time.monotonic() - start
        if output is None:
            return Outcome(f"not done after {timeout:.0f} s", seconds, None, None)
        lines = runs.read_text().splitlines() if runs.is_file() else []
        # Not the scripts' own status: one ends by removing files that only a cluster leaves.
        if not lines or any(line.split()[0] != "0" for line in lines):
            return Outcome(last_words(output), seconds, None, None)
        cycles = sum(int(json.loads(line.split(maxsplit=1)[1])["cycle_count"]) for line in lines)
        error = compared(output) if program.compares else None
        verdict = "pass" if error is None or error <= program.tolerance else "FAIL"
        return Outcome(verdict, seconds, cycles, error)


def compared(output: str) -> float:
    """The greatest difference from the expected values, as a part of the largest of them.

    A vector comes out on every row of PEs.
    """
    _, expected, actual = re.split(r"Expected result:|Actual result:", output)[:3]
    number = r"-?\d+\.?\d*(?:e[+-]?\d+)?|nan|-?inf"
    values = [
        [float(value) for value in re.findall(number, text.split("Repeat count")[0])]
        for text in (expected, actual)
    ]
    expected_values, actual_values = values
    copies, rest = divmod(len(actual_values), max(len(expected_values), 1))
    if rest or not copies:
        raise ValueError(f"{len(expected_values)} values expected, {len(actual_values)} came out")
    pairs = zip(expected_values * copies, actual_values, strict=True)
    differences = [abs(a - b) for a, b in pairs]
    # No comparison would find a NaN.
    if any(math.isnan(difference) for difference in differences):
        return math.inf
    return max(differences) / max(abs(value) for value in expected_values)


def _row(program: Program, outcome: Outcome) -> str:
    sizes = program.config or {}
    size = ", ".join(f"{name} {sizes[name]}" for name in ("P", "dim", "seq_len") if name in sizes)
    cycles = "" if outcome.cycles is None else f"{outcome.cycles:,}"
    error = "" if outcome.error is None else f"{100 * outcome.error:.2f} %"
    named = size or " ".join(program.arguments)
    return f"| {program.folder} | {named} | {outcome.verdict} | {cycles} | {error} |"


def _shims(scratch: Path) -> Path:
    shims = made_shims(scratch)
    printing = scratch / "printing.py"
    printing.write_text(PRINTING)
    text = CS_PYTHON.format(python=shlex.quote(sys.executable), printing=shlex.quote(str(printing)))
    (shims / "cs_python").write_text(text)
    return shims


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run WaferLLM's programs on fabsim.")
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--only", default="", help="programs whose folder has this text")
    parser.add_argument("--large", action="store_true", help="the README's matrix product as well")
    parser.add_argument("--timeout", type=float, default=1200.0)
    parser.add_argument("--page", metavar="FILE", help="put the table into this page")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
