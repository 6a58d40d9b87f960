"""Tables of cycle costs in files: every named number of a clock, for one architecture or both.

    {"wse3": {"rates": "simfabric", "constants": {"hop_cycles": 2, ...}}}

`rates` names the clock whose rates in memory hold: streams, simfabric or silicon. A number that is
missing or unknown is refused by its name, when a program is compiled with the table.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from fabsim._native import timing_numbers

#: The tables that have a name, the default first.
TIMINGS = ("simfabric", "silicon", "streams")
#: What a copy of a table is called in an output directory of `cslc`.
COPY = "timing.json"
_ARCHS = ("wse2", "wse3")


def table(timing: str) -> dict[str, Any]:
    """The content of a file for the clock of this name."""
    return {
        arch: {"rates": timing, "constants": dict(timing_numbers(timing, arch))} for arch in _ARCHS
    }


def text(content: dict[str, Any]) -> str:
    """The file of a table."""
    return json.dumps(content, indent=2) + "\n"


def read(path: str, arch: str) -> tuple[str, dict[str, int]]:
    """The clock of the rates and the numbers for an architecture. Raises ValueError."""
    if not Path(path).is_file():
        known = ", ".join(TIMINGS)
        raise ValueError(f"unknown timing {path!r}; there are {known}, and no such file")
    try:
        content = json.loads(Path(path).read_text())
    except (OSError, RecursionError, ValueError) as error:
        raise ValueError(f"{path} is no table of cycle costs: {error}") from error
    part = content.get(arch) if isinstance(content, dict) else None
    if not isinstance(part, dict):
        raise ValueError(f"{path} has no table for {arch}")
    unknown = sorted(set(part) - {"rates", "constants"})
    if unknown:
        raise ValueError(f"{path}, {arch}: there is no {unknown[0]!r}; there are rates, constants")
    rates, numbers = part.get("rates"), part.get("constants")
    if rates not in TIMINGS:
        raise ValueError(f"{path}, {arch}: rates is {rates!r}; there are {', '.join(TIMINGS)}")
    if not isinstance(numbers, dict):
        raise ValueError(f"{path}, {arch}: it lacks constants")
    for name, cycles in numbers.items():
        if type(cycles) is not int or not 0 <= cycles < 1 << 31:
            raise ValueError(f"{path}, {arch}: {name} is {cycles!r}, not a number of cycles")
    return rates, numbers


def keep(path: str, directory: Path) -> str:
    """Copies a table to an output directory, so that the program in it keeps its cycles."""
    copy = directory / COPY
    if copy.resolve() != Path(path):
        shutil.copyfile(path, copy)
    return str(copy.resolve())


def name_or_file(given: str) -> str:
    """The name of a clock, or the whole path of a file."""
    if given in TIMINGS:
        return given
    if not Path(given).is_file():
        raise argparse.ArgumentTypeError(
            f"{given!r} is no file; there are {', '.join(TIMINGS)}, and files with tables"
        )
    return str(Path(given).resolve())
