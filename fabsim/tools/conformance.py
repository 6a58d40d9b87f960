"""Run every commands file of some folders on fabsim and print each program's own verdict.

    python fabsim/tools/conformance.py FOLDER... [--only TEXT] [--timeout SECONDS] [--table FILE]
                                                 [--page FILE] [--layout-programs]

A program is a directory with files `commands_*.sh`. Its FOLDER is copied, so that a program finds
what lies beside it, the commands file runs unchanged with fabsim's `cslc` and `cs_python` first on
PATH, and it passes if that ends with status 0. The cycles are those of all runs of the file.

A commands file may hold lines `%python_sdk_paint ARGUMENTS`: they stand for running the layout
program beside it, `run.py`, with the Python of the vendor's kit. Bash cannot run them, so such a
file fails as it is. With --layout-programs each of these lines is replaced by `cs_python run.py
ARGUMENTS`, and a star behind the verdict says so.

--page replaces the tables of these folders in a page, one section `## NAME` for each, and leaves
the others there; a line in a section that begins with "Why:" is kept.

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

# What stands for running a layout program in a commands file, and what does so here.
PLACEHOLDER, IN_ITS_PLACE = "%python_sdk_paint", "cs_python run.py"

# cs_python, keeping what a run leaves in sim_stats.json, here or where the script went.
CS_PYTHON = """#!/bin/sh
rm -f sim_stats.json */sim_stats.json
{python} -m fabsim python "$@"
status=$?
cat sim_stats.json */sim_stats.json >> "$CONFORMANCE_RUNS" 2> /dev/null
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
    # The commands file was changed: a placeholder in it was replaced.
    changed: bool = False

    @property
    def word(self) -> str:
        """The verdict in a word; a star marks a changed commands file."""
        return ("pass" if self.passed else "FAIL") + ("*" if self.changed else "")


def main() -> int:
    """Print one line for each commands file; the status is 0 if all of them pass."""
    options = _options()
    verdicts: list[Verdict] = []
    sections: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        shims = _shims(Path(scratch))
        for folder in (Path(name).resolve() for name in options.folders):
            found = _run_folder(folder, shims, options)
            verdicts += found
            sections[folder.name] = f"{_sum(found)}\n\n{_table(found)}"
    if any(verdict.changed for verdict in verdicts):
        print(f"* with {IN_ITS_PLACE!r} in place of {PLACEHOLDER!r}")
    if options.table:
        Path(options.table).write_text(_table(verdicts))
    if options.page:
        page = Path(options.page)
        page.write_text(replaced(page.read_text(), sections))
    return 0 if all(verdict.passed for verdict in verdicts) else 1


def _run_folder(folder: Path, shims: Path, options: argparse.Namespace) -> list[Verdict]:
    """The verdicts of a folder, printed as they come."""
    commands = sorted(path for path in folder.rglob("commands*.sh") if options.only in str(path))
    verdicts = []
    for path in commands:
        name = path.relative_to(folder)
        verdict = run(folder, name, shims, options.timeout, options.layout_programs)
        verdicts.append(verdict)
        print(_line(verdict), flush=True)
    print(f"{folder.name}: {_sum(verdicts)}")
    return verdicts


def _sum(verdicts: list[Verdict]) -> str:
    return f"{sum(verdict.passed for verdict in verdicts)} of {len(verdicts)} commands files pass."


def replaced(page: str, sections: dict[str, str]) -> str:
    """The page with these sections, by name, in the place of those it has, or at its end."""
    parts = page.split("\n## ")
    heads = [part.splitlines()[0] for part in parts]
    for name, text in sections.items():
        at = heads.index(name) if name in heads[1:] else len(parts)
        old = parts[at] if at < len(parts) else ""
        reasons = [line for line in old.splitlines() if line.startswith("Why:")]
        section = "\n\n".join([name, *reasons, text.rstrip()]) + "\n"
        parts[at : at + 1] = [section]
        heads[at : at + 1] = [name]
    return "\n## ".join(part.rstrip("\n") + "\n" for part in parts)


def run(
    folder: Path, commands: Path, shims: Path, timeout: float, layout_programs: bool
) -> Verdict:
    """Run one commands file, given relative to the folder, in a copy of the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / folder.name)
        runs = Path(scratch) / "runs"
        environment = os.environ | {
            "PATH": f"{shims}:{os.environ['PATH']}",
            "CONFORMANCE_RUNS": str(runs),
        }
        line = _placeholder(copy / commands)
        changed = layout_programs and line is not None
        if changed:
            _replace_placeholders(copy / commands)
        start = time.monotonic()
        reason = _execute(copy / commands, environment, timeout).replace(f"{copy}/", "")
        if reason and line is not None and not changed:
            reason = f"line {line} is the placeholder {PLACEHOLDER}, which bash cannot run"
        seconds = time.monotonic() - start
        name = str(commands.with_suffix(""))
        return Verdict(name, not reason, seconds, _cycles(runs), reason, changed)


def _placeholder(commands: Path) -> int | None:
    """The first line of a commands file that is a placeholder."""
    lines = commands.read_text(errors="replace").splitlines()
    numbers = (n for n, line in enumerate(lines, start=1) if line.split()[:1] == [PLACEHOLDER])
    return next(numbers, None)


def _replace_placeholders(commands: Path) -> None:
    lines = commands.read_text(errors="replace").splitlines()
    replaced = [
        line.replace(PLACEHOLDER, IN_ITS_PLACE, 1) if line.split()[:1] == [PLACEHOLDER] else line
        for line in lines
    ]
    commands.write_text("".join(f"{line}\n" for line in replaced))


def _execute(commands: Path, environment: dict[str, str], timeout: float) -> str:
    """Run a commands file in its directory; why it failed, or nothing."""
    command = ["bash", commands.name]
    output, status = run_group(command, commands.parent, environment, timeout)
    if output is None:
        return f"not done after {timeout:.0f} s"
    return "" if status == 0 else last_words(output)


def run_group(
    command: list[str], folder: Path, environment: dict[str, str], timeout: float
) -> tuple[str | None, int]:
    """The output and the status of a command; no output if it took more than so many seconds."""
    # A group of its own, so that what it started ends with it.
    process = subprocess.Popen(
        command,
        cwd=folder,
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
        return None, process.returncode
    return output, process.returncode


def last_words(output: str) -> str:
    """The line of the output that says best what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    located = [line for line in lines if ": error: " in line]
    telling = [line for line in lines if "rror" in line or line.startswith("fabsim")]
    if located:
        return located[0]
    return (telling or lines or ["no output"])[-1]


def _cycles(runs: Path) -> int | None:
    """The cycles of all runs together."""
    lines = runs.read_text().splitlines() if runs.is_file() else []
    return sum(int(json.loads(line)["cycle_count"]) for line in lines) if lines else None


def _line(verdict: Verdict) -> str:
    cycles = "" if verdict.cycles is None else f"{verdict.cycles:,}"
    figures = f"{verdict.seconds:6.1f} s {cycles:>12}"
    reason = verdict.reason[:WIDTH]
    return f"{verdict.word:5} {figures}  {verdict.name:48} {reason}".rstrip()


def _table(verdicts: list[Verdict]) -> str:
    """The verdicts as a table of Markdown."""
    rows = ["| commands file | verdict | cycles | reason |", "|---|---|---|---|"]
    for verdict in verdicts:
        cycles = "" if verdict.cycles is None else f"{verdict.cycles:,}"
        reason = verdict.reason.replace("|", "\\|")
        rows.append(f"| {verdict.name} | {verdict.word} | {cycles} | {reason} |")
    return "\n".join(rows) + "\n"


def made_shims(scratch: Path) -> Path:
    """A directory with the commands that fabsim has in place of the vendor's."""
    shims = scratch / "shims"
    subprocess.run([sys.executable, "-m", "fabsim", "shims", shims], check=True)
    return shims


def _shims(scratch: Path) -> Path:
    shims = made_shims(scratch)
    (shims / "cs_python").write_text(CS_PYTHON.format(python=shlex.quote(sys.executable)))
    return shims


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the commands files of folders on fabsim.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--only", default="", help="commands files whose path has this text")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--table", metavar="FILE", help="write the verdicts as a Markdown table")
    parser.add_argument("--page", metavar="FILE", help="put the tables into this page")
    parser.add_argument(
        "--layout-programs",
        action="store_true",
        help=f"run run.py for lines {PLACEHOLDER.replace('%', '%%')}",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
