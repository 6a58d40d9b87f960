"""What a kept result depends on, so that it is not taken for one of other texts or another tool."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
READ = (".py", ".coll", ".lark", ".j2", ".rs", ".csl", ".lock")
CRATES = ("src", "program", "lowering", "frontend", "engine", "host", "binding")
SIMULATOR = (*(f"fabsim/{crate}" for crate in CRATES), "fabsim/python", "fabsim/Cargo.lock")
DIGITS = 12


def of_tools() -> str:
    """Of the compiler with its data, and of the simulator."""
    return _of_folders("compiler", "evaluator/src", "grammar", "templates", "examples", *SIMULATOR)


@lru_cache(maxsize=1)
def of_simulator() -> str:
    """Of the simulator's text; that the one installed is made of it sees `make setup` to."""
    return _of_folders(*SIMULATOR)


def of_run(files: Mapping[str, str], *promised: object) -> str:
    """Of the emitted CSL, of what is promised of it, and of the simulator."""
    digest = hashlib.sha256(of_simulator().encode())
    digest.update(repr(promised).encode())
    for name, text in sorted(files.items()):
        if name.endswith(".csl"):
            digest.update(f"{name}\n{text}".encode())
    return digest.hexdigest()[:DIGITS]


def _of_folders(*names: str) -> str:
    digest = hashlib.sha256()
    for name in names:
        for path in sorted((ROOT / name, *(ROOT / name).rglob("*"))):
            if path.suffix in READ:
                digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:DIGITS]
