"""What builds ask for: on what the emitted files depend, and a file that says all is well."""

import re
from collections.abc import Iterable
from pathlib import Path

from collc.base import version
from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.files import put_text
from collc.commands.source import STANDARD_INPUT


def write_depfile(path: Path, target: Path, sources: Iterable[Path]) -> None:
    """A rule of make: `target` depends on the sources and on this version of collc. Raises
    CollcError where it cannot be written."""
    read = [one for one in sources if one != STANDARD_INPUT]
    needed = " ".join(_escaped(one) for one in (*read, Path(version.__file__)))
    _put(path, f"{_escaped(target)}: {needed}\n")


def write_stamp(path: Path) -> None:
    """A file whose time says when files were last made sure of. Raises likewise."""
    _put(path, "")


def _put(path: Path, text: str) -> None:
    try:
        put_text(path, text)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or error}"
        help = "name a file in a directory that can be written"
        raise CollcError([Diagnostic("C502", message, None, help=help)]) from error


def _escaped(path: Path) -> str:
    """A path as make and Ninja read it."""
    return re.sub(r"([ #\\])", r"\\\1", str(path)).replace("$", "$$")
