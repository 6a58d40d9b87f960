"""The option `-o DIRECTORY`, and writing there."""

from __future__ import annotations

from pathlib import Path

import click

from collc.diagnostics import CollcError, Diagnostic
from collc.pipeline import Bundle
from collc.programs import ProgramBundle


def directory(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    """`-o DIRECTORY`; an unset shell variable must not mean the current directory."""
    if value == "":
        raise click.BadParameter("the directory has no name")
    return Path(value) if value is not None else None


def write(bundle: Bundle | ProgramBundle, directory: Path) -> None:
    """Write the files of a bundle; raises CollcError where that cannot be done."""
    try:
        bundle.write(directory)
    except OSError as error:
        message = f"cannot write {directory}: {error.strerror or error}"
        help = "name a directory that can be written with -o"
        raise CollcError([Diagnostic("C502", message, None, help=help)]) from error
