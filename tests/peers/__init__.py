"""Programs of others that do what collc's do, to be run beside them: `tests/versus.py`.

A module for each source of programs. None of their text is here: a module finds it in folders that
the user names, writes a driver around it where it is a library, and yields points.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import fabsim


@dataclass(frozen=True)
class Measured:
    """Cycles of one run, and what is wrong with its result; empty where nothing is."""

    cycles: int
    problem: str = ""


@dataclass(frozen=True)
class Point:
    """One program of others at one size, and a `.coll` text that keeps the same contract.

    `run` compiles theirs in the folder that it is given, which is its own, runs it and compares the
    result. `what` is their pattern; `ours` maps what a column of ours is called to its text, and
    `runs` are columns that are no `.coll` texts. `weight` is a guess of how long theirs takes to
    simulate, to begin with the short ones.
    """

    source: str
    what: str
    target: str
    size: str
    length: int
    run: Callable[[Path], Measured]
    ours: Mapping[str, str]
    weight: int = 0
    runs: Mapping[str, Callable[[Path], Measured]] = field(default_factory=dict)


def copied(sources: Path, folder: Path) -> Path:
    """A copy of a folder of theirs, since some programs are written into."""
    return Path(shutil.copytree(sources, folder / "theirs", dirs_exist_ok=True))


def compiled(layout: Path, target: str, params: Mapping[str, int]) -> fabsim.Simulator:
    """Their program, loaded."""
    program = fabsim.compile(str(layout), arch=target, params=dict(params))
    return fabsim.Simulator(program)


def difference(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], tolerance: float) -> str:
    """What is wrong with a result, relative to the largest number wanted; empty if nothing is."""
    off = np.abs(found.astype(np.float64) - wanted.astype(np.float64))
    limit = tolerance * max(1.0, float(np.abs(wanted).max()))
    worst = np.unravel_index(int(off.argmax()), off.shape)
    if off[worst] <= limit:
        return ""
    return f"WRONG: {found[worst]} at {tuple(map(int, worst))}, not {wanted[worst]}"


def numbers(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    """Random numbers from 0 to 1, f32."""
    return np.random.default_rng(seed).random(shape, dtype=np.float32)
