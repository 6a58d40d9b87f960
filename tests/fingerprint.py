"""What a kept result depends on, so that it is not taken for one of other texts or another tool."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import fabsim

ROOT = Path(__file__).parents[1]
READ = (".py", ".coll", ".lark", ".j2", ".so")


def of_tools() -> str:
    """Of the compiler with its data, and of the simulator."""
    folders = (ROOT / name for name in ("compiler", "grammar", "templates", "examples"))
    return _of_folders(*folders, Path(fabsim.__file__).parent)


@lru_cache(maxsize=1)
def of_simulator() -> str:
    """Of the installed simulator."""
    return _of_folders(Path(fabsim.__file__).parent)


def of_run(files: Mapping[str, str], *promised: object) -> str:
    """Of the emitted CSL, of what is promised of it, and of the simulator."""
    digest = hashlib.sha256(of_simulator().encode())
    digest.update(repr(promised).encode())
    for name, text in sorted(files.items()):
        if name.endswith(".csl"):
            digest.update(f"{name}\n{text}".encode())
    return digest.hexdigest()


def _of_folders(*folders: Path) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in READ:
                digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
