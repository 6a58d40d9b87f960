"""Options that name files and directories, and writing there."""

from collections.abc import Mapping
from pathlib import Path

import click

from collc.base.diagnostics import CollcError, Diagnostic, shown
from collc.base.files import put, write_files

FILE = click.Path(path_type=Path, dir_okay=False)


def directory(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    """`-o DIRECTORY`; an unset shell variable must not mean the current directory."""
    if value == "":
        raise click.BadParameter("the directory has no name")
    return Path(value) if value is not None else None


def write(contents: Mapping[str, str | bytes], directory: Path) -> None:
    """Write files, all or none, and name what is left of an earlier bundle; raises CollcError where
    that cannot be done."""
    try:
        changed = write_files(directory, contents)
    except OSError as error:
        raise _unwritten(directory, error, "name a directory that can be written") from error
    for name in changed:
        why = "it was changed, and is no part of what is now beside it"
        click.echo(f"collc: kept {shown(directory / name)}: {why}", err=True)


def write_file(file: Path, content: str | bytes) -> None:
    """Write one file, all of it or none; raises likewise."""
    try:
        put(file, content)
    except OSError as error:
        help = "name a file in a directory that can be written"
        raise _unwritten(file, error, help) from error


def _unwritten(place: Path, error: OSError, help: str) -> CollcError:
    message = f"cannot write {shown(place)}: {error.strerror or error}"
    return CollcError([Diagnostic("C502", message, None, help=help)])
