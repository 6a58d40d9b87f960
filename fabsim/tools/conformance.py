"""Run every commands file of a folder on fabsim and print each program's own verdict.

    python fabsim/tools/conformance.py FOLDER [--only TEXT] [--timeout SECONDS] [--table FILE]

A program is a directory with files `commands_*.sh`. FOLDER is copied, so that a program finds what
lies beside it, the commands file runs unchanged with fabsim's `cslc` and `cs_python` first on PATH,
and it passes if that ends with status 0. The cycles are those of all runs of the commands file.
Packages that host scripts import and fabsim does not need (matplotlib, scipy) must be installed
beside fabsim; without one its program fails with ModuleNotFoundError.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

WIDTH = 200

# cs_python, keeping what each run leaves in sim_stats.json.
CS_PYTHON = """#!/bin/sh
rm -f sim_stats.json
{python} -m fabsim python "$@"
status=$?
if [ -f sim_stats.json ]; then cat sim_stats.json >> "$CONFORMANCE_RUNS"; fi
exit $status
"""


@dataclass(frozen=True)
class Verdict:
    """What came of one commands file; `cycles` is None if no run came to its end."""

    name: str
    passed: bool
    seconds: float
    cycles: int | None
    reason: str


def main() -> int:
    """Print one line for each commands file; the status is 0 if all of them pass."""
    options = _options()
    folder = Path(options.folder).resolve()
    commands = sorted(path for path in folder.rglob("commands*.sh") if options.only in str(path))
    verdicts = []
    with tempfile.TemporaryDirectory() as scratch:
        shims = _shims(Path(scratch))
        for path in commands:
            verdict = run(folder, path.relative_to(folder), shims, options.timeout)
            verdicts.append(verdict)
            print(_line(verdict), flush=True)
    passed = sum(verdict.passed for verdict in verdicts)
    print(f"{passed} of {len(commands)} pass")
    if options.table:
        Path(options.table).write_text(_table(verdicts))
    return 0 if passed == len(commands) else 1


def run(folder: Path, commands: Path, shims: Path, timeout: float) -> Verdict:
    """Run one commands file, given relative to the folder, in a copy of the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / folder.name)
        runs = Path(scratch) / "runs"
        environment = os.environ | {
            "PATH": f"{shims}:{os.environ['PATH']}",
            "CONFORMANCE_RUNS": str(runs),
        }
        start = time.monotonic()
        reason = _execute(copy / commands, environment, timeout).replace(f"{copy}/", "")
        seconds = time.monotonic() - start
        name = str(commands.with_suffix(""))
        return Verdict(name, not reason, seconds, _cycles(runs), reason)


def _execute(commands: Path, environment: dict[str, str], timeout: float) -> str:
    """Run a commands file in its directory; why it failed, or nothing."""
    # A group of its own, so that what it started ends with it.
    process = subprocess.Popen(
        ["bash", commands.name],
        cwd=commands.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"not done after {timeout:.0f} s"
    return "" if process.returncode == 0 else _last_words(output)


def _last_words(output: str) -> str:
    """The line of the output that says best what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    located = [line for line in lines if ": error: " in line]
    telling = [line for line in lines if "rror" in line or line.startswith("fabsim")]
    if located:
        return located[0]
    return (telling or lines or ["no output"])[-1]


def _cycles(runs: Path) -> int | None:
    """The cycles of all runs together."""
    if not runs.is_file():
        return None
    return sum(int(json.loads(line)["cycle_count"]) for line in runs.read_text().splitlines())


def _line(verdict: Verdict) -> str:
    word = "pass" if verdict.passed else "FAIL"
    cycles = "" if verdict.cycles is None else f"{verdict.cycles:,}"
    return (
        f"{word} {verdict.seconds:6.1f} s {cycles:>12}  {verdict.name:48} {verdict.reason[:WIDTH]}"
    ).rstrip()


def _table(verdicts: list[Verdict]) -> str:
    """The verdicts as a table of Markdown."""
    rows = ["| commands file | verdict | cycles | reason |", "|---|---|---|---|"]
    for verdict in verdicts:
        word = "pass" if verdict.passed else "FAIL"
        cycles = "" if verdict.cycles is None else f"{verdict.cycles:,}"
        reason = verdict.reason.replace("|", "\\|")
        rows.append(f"| {verdict.name} | {word} | {cycles} | {reason} |")
    return "\n".join(rows) + "\n"


def _shims(scratch: Path) -> Path:
    """A directory with the two commands that a commands file calls."""
    shims = scratch / "shims"
    subprocess.run([sys.executable, "-m", "fabsim", "shims", shims], check=True)
    (shims / "cs_python").write_text(CS_PYTHON.format(python=shlex.quote(sys.executable)))
    return shims


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the commands files of a folder on fabsim.")
    parser.add_argument("folder")
    parser.add_argument("--only", default="", help="commands files whose path has this text")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--table", metavar="FILE", help="write the verdicts as a Markdown table")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
