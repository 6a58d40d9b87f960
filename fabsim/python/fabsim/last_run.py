"""The simulators that this process has loaded, by output directory: to look at their memory."""

from __future__ import annotations

from pathlib import Path

from fabsim import Simulator

_simulators: dict[Path, Simulator] = {}


def remember(directory: str, simulator: Simulator) -> None:
    """Take note of a simulator that has been loaded."""
    _simulators[Path(directory).resolve()] = simulator


def of(directory: str) -> Simulator | None:
    """The simulator last loaded, if this process has run the program."""
    return _simulators.get(Path(directory).resolve())
