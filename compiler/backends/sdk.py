"""Where a local SDK is: its two commands, found in the order option, environment, PATH.

Stand-ins of fabsim's, which `fabsim shims` writes, are recognised by what they call: they carry
the same names, and a run on them says nothing about the vendor's tools.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from collc.backends.interface import UnavailableError

VARIABLE = "COLLC_SDK"
NAMES = ("cslc", "cs_python")


@dataclass(frozen=True)
class Tools:
    """What begins the command lines of a compiler and of a Python for host scripts; both for
    people."""

    cslc: tuple[str, ...]
    cs_python: tuple[str, ...]
    told: str


def find_tools(given: Path | None, environment: Mapping[str, str]) -> Tools:
    """The commands of a local SDK. Raises UnavailableError, which says where they are not."""
    place, where = _search_path(given, environment)
    found = {name: shutil.which(name, path=place) for name in NAMES}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise UnavailableError(f"no {' and no '.join(missing)} {where}")
    for name, path in found.items():
        if is_stand_in(Path(str(path))):
            raise UnavailableError(f"{name} {where} is fabsim's stand-in ({path}), no SDK")
    cslc, cs_python = (os.path.abspath(str(found[name])) for name in NAMES)
    return Tools((cslc,), (cs_python,), f"{cslc}, {cs_python}")


def _search_path(given: Path | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """The folders to look into, as PATH has them, and where that is, in words."""
    if given is not None:
        return _folders(str(given)), f"in {given} (--sdk)"
    if named := environment.get(VARIABLE):
        return _folders(named), f"in {named} ({VARIABLE})"
    return environment.get("PATH", ""), f"on PATH (nor is --sdk or {VARIABLE} given)"


def _folders(sdk: str) -> str:
    return os.pathsep.join((sdk, os.path.join(sdk, "bin")))


def is_stand_in(path: Path) -> bool:
    """Whether a command is one of those that `fabsim shims` writes, or a link or a copy of it."""
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return head.startswith(b"#!") and b"fabsim" in head
