"""The simulators that this process has loaded, by output directory: to look at their memory."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from fabsim._native import Simulator

_simulators: dict[Path, Simulator] = {}
_numbers = count(1)


def next_number() -> int:
    """1 for the first simulator of this process, then 2, and so on."""
    return next(_numbers)


def remember(directory: str, simulator: Simulator) -> None:
    """Take note of a simulator that has been loaded."""
    _simulators[Path(directory).resolve()] = simulator


def of(directory: str) -> Simulator | None:
    """The simulator last loaded, if this process has run the program."""
    return _simulators.get(Path(directory).resolve())
