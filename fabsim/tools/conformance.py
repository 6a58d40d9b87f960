"""Run every commands file of a folder on fabsim and print each program's own verdict.

    python fabsim/tools/conformance.py FOLDER [--only TEXT] [--timeout SECONDS]

A program is a directory with files `commands_*.sh`. It is copied, its commands file runs unchanged
with fabsim's `cslc` and `cs_python` first on PATH, and it passes if that ends with status 0.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

WIDTH = 110


@dataclass(frozen=True)
class Verdict:
    """What came of one commands file."""

    passed: bool
    seconds: float
    reason: str


def main() -> int:
    """Print one line for each commands file; the status is 0 if all of them pass."""
    options = _options()
    folder = Path(options.folder).resolve()
    commands = sorted(path for path in folder.rglob("commands*.sh") if options.only in str(path))
    passed = 0
    with tempfile.TemporaryDirectory() as scratch:
        shims = Path(scratch) / "shims"
        subprocess.run([sys.executable, "-m", "fabsim", "shims", shims], check=True)
        for index, path in enumerate(commands):
            verdict = run(path, shims, Path(scratch) / str(index), options.timeout)
            passed += verdict.passed
            word = "pass" if verdict.passed else "FAIL"
            name = str(path.relative_to(folder).with_suffix(""))
            print(f"{word} {verdict.seconds:6.1f} s  {name:58} {verdict.reason}", flush=True)
    print(f"{passed} of {len(commands)} pass")
    return 0 if passed == len(commands) else 1


def run(commands: Path, shims: Path, scratch: Path, timeout: float) -> Verdict:
    """Run one commands file in a copy of its program."""
    copy = shutil.copytree(commands.parent, scratch / commands.parent.name)
    environment = os.environ | {"PATH": f"{shims}:{os.environ['PATH']}"}
    start = time.monotonic()
    # A group of its own, so that what it started ends with it.
    process = subprocess.Popen(
        ["bash", commands.name],
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout)
        reason = "" if process.returncode == 0 else _last_words(output)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        reason = f"not done after {timeout:.0f} s"
    return Verdict(not reason, time.monotonic() - start, reason)


def _last_words(output: str) -> str:
    """The line of the output that says best what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line or line.startswith("fabsim")]
    return ((telling or lines or ["no output"])[-1])[:WIDTH]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the commands files of a folder on fabsim.")
    parser.add_argument("folder")
    parser.add_argument("--only", default="", help="commands files whose path has this text")
    parser.add_argument("--timeout", type=float, default=60.0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
