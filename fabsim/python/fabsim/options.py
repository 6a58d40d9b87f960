"""What a run is asked for beyond the host script: limits, checks, reports, traces.

Options stand before the script of `fabsim python`, or in the environment variable FABSIM_OPTIONS
where a command line cannot be reached; those of the command line win.
"""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabsim.arguments import Parser

VARIABLE = "FABSIM_OPTIONS"


@dataclass(frozen=True)
class RunOptions:
    """The options of every simulator that a host script loads."""

    max_cycles: int
    max_seconds: int | None
    max_memory: float
    threads: int | None
    reference: bool
    lenient: bool
    strict: bool
    check_uninitialized: bool
    progress: bool
    report: bool
    report_json: str | None
    trace: str | None
    trace_form: Literal["text", "binary"]
    trace_region: tuple[int, int, int, int] | None
    trace_window: tuple[int, int] | None
    trace_limit: float | None
    late_starts: tuple[int, int] | None

    @property
    def counts(self) -> bool:
        """Whether the use of PEs, links and queues has to be counted."""
        return self.report or self.report_json is not None


def take(arguments: list[str]) -> tuple[RunOptions, list[str]]:
    """The options in front of a script, and the rest; what runs in this process sees them, too.

    Exits on wrong usage.
    """
    parser = _parser("fabsim python", "Run a host script against fabsim's SdkRuntime.")
    parser.add_argument("script", nargs=argparse.REMAINDER, metavar="SCRIPT.py ...")
    found = parser.parse_args(arguments)
    script: list[str] = found.script
    given = arguments[: len(arguments) - len(script)]
    given = [argument for argument in given if argument != "--"]
    joined = [*shlex.split(os.environ.get(VARIABLE, "")), *given]
    os.environ[VARIABLE] = shlex.join(joined)
    return current(), script


def current() -> RunOptions:
    """The options in force. Exits on wrong usage."""
    words = shlex.split(os.environ.get(VARIABLE, ""))
    found = _parser(f"fabsim: {VARIABLE}", "").parse_args(words)
    return RunOptions(**vars(found))


def numbered(path: str, number: int) -> str:
    """The file of the simulator with this number in a process: only later ones carry it."""
    if number == 1:
        return path
    whole = Path(path)
    return str(whole.with_name(f"{whole.stem}-{number}{whole.suffix}"))


def region(text: str) -> tuple[int, int, int, int]:
    """`X,Y,WIDTH,HEIGHT`. Raises argparse.ArgumentTypeError."""
    x, y, width, height = _numbers(text, 4, "a region is X,Y,WIDTH,HEIGHT")
    return x, y, width, height


def late_starts(text: str) -> tuple[int, int]:
    """`CYCLES` or `CYCLES:SEED`. Raises argparse.ArgumentTypeError."""
    with_seed = text if ":" in text else f"{text}:1"
    cycles, seed = _numbers(with_seed.replace(":", ","), 2, "late starts are CYCLES or CYCLES:SEED")
    return cycles, seed


def window(text: str) -> tuple[int, int]:
    """`FIRST:LAST`, both cycles included. Raises argparse.ArgumentTypeError."""
    first, last = _numbers(text.replace(":", ","), 2, "a window is FIRST:LAST")
    if last < first:
        raise argparse.ArgumentTypeError(f"the window {text} ends before it begins")
    return first, last


def _numbers(text: str, count: int, form: str) -> list[int]:
    parts = text.split(",")
    if len(parts) != count or not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise argparse.ArgumentTypeError(f"{form}, found {text!r}")
    return [int(part) for part in parts]


def positive(text: str) -> int:
    """An integer above 0. Raises argparse.ArgumentTypeError."""
    if not text.isdecimal() or not 0 < int(text) < 1 << 63:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)


def _gigabytes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of gigabytes")
    return value


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = Parser(prog=name, description=description, allow_abbrev=False)
    limits = parser.add_argument_group("limits")
    limits.add_argument(
        "--max-cycles",
        type=positive,
        default=1_000_000_000,
        metavar="N",
        help="give a command up after N cycles (1000000000)",
    )
    limits.add_argument(
        "--max-seconds",
        type=positive,
        metavar="N",
        help="give a program up N seconds after it was loaded (no limit)",
    )
    limits.add_argument(
        "--max-memory",
        type=_gigabytes,
        default=16.0,
        metavar="GB",
        help="refuse programs that need more to be simulated (16)",
    )
    limits.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="use up to N processors; nothing comes out differently (FABSIM_THREADS, else by size)",
    )
    limits.add_argument(
        "--reference",
        action="store_true",
        help="tile by tile and cycle by cycle, without what only makes it fast (FABSIM_REFERENCE)",
    )
    checks = parser.add_argument_group("checks")
    checks.add_argument(
        "--lenient", action="store_true", help="report what is undefined and go on where possible"
    )
    checks.add_argument(
        "--strict", action="store_true", help="wavelets left at the end are an error, no warning"
    )
    checks.add_argument(
        "--check-uninitialized",
        action="store_true",
        help="reading memory that nobody has written is an error",
    )
    checks.add_argument(
        "--late-starts",
        type=late_starts,
        metavar="CYCLES[:SEED]",
        help="PEs begin launches late, each differently, by so many cycles at most",
    )
    reports = parser.add_argument_group("reports and traces")
    reports.add_argument(
        "--progress",
        action="store_true",
        help="tell how far a long run has got, also where standard error is no terminal",
    )
    reports.add_argument(
        "--report", action="store_true", help="print where the cycles went to standard error"
    )
    reports.add_argument("--report-json", metavar="FILE", help="write where the cycles went")
    reports.add_argument("--trace", metavar="FILE", help="write a trace")
    reports.add_argument("--trace-form", choices=("text", "binary"), default="text")
    reports.add_argument("--trace-region", type=region, metavar="X,Y,WIDTH,HEIGHT")
    reports.add_argument("--trace-window", type=window, metavar="FIRST:LAST")
    reports.add_argument(
        "--trace-limit",
        type=_gigabytes,
        metavar="GB",
        help="end the trace where it has grown to so many gigabytes (no limit; a word at 0.5)",
    )
    return parser
