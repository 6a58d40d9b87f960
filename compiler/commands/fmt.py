"""`collc fmt`: `.coll` files in the one style."""

import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import click

from collc.base.diagnostics import CollcError, shown
from collc.commands.directory import write_file
from collc.commands.output import FAULT, report
from collc.commands.source import standard_input
from collc.format import format_text
from collc.language.source import quotable, read_source

_STANDARD = "-"  # as a file name: standard input, printed to standard output


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; name what is not formatted, status 1.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.argument("paths", nargs=-1, required=True, metavar="FILE...")
def command(check: bool, diff: bool, paths: tuple[str, ...]) -> None:
    """Bring FILEs into the one style, comments included; of a directory, all .coll files below it.

    `-` is standard input, printed to standard output. A file that does not parse stays as it is,
    and the status is 1.
    """
    files = [file for path in paths for file in _files(path)]
    good = True
    for file in files:
        try:
            changed = _format(file, check=check, diff=diff)
        except CollcError as error:
            report(error.diagnostics, {file: quotable(Path(file))})
            good = False
        else:
            good = good and not (changed and check)
    if not good:
        sys.exit(FAULT)


def _files(path: str) -> Iterator[str]:
    """What a path stands for; one that is not there is wrong usage."""
    if path == _STANDARD or Path(path).is_file():
        yield path
    elif Path(path).is_dir():
        yield from (str(file) for file in sorted(Path(path).rglob("*.coll")) if file.is_file())
    else:
        raise click.UsageError(f"there is no file {shown(path)}")


def _format(file: str, *, check: bool, diff: bool) -> bool:
    """Format one file, or say what there would be to do; whether there is anything."""
    text = standard_input() if file == _STANDARD else read_source(Path(file))
    formatted = format_text(file, text)
    if diff:
        ends = text.splitlines(keepends=True), formatted.splitlines(keepends=True)
        click.echo("".join(unified_diff(*ends, shown(file), shown(file))), nl=False)
    elif check:
        if formatted != text:
            click.echo(f"{shown(file)} is not formatted")
    elif file == _STANDARD:
        click.echo(formatted, nl=False)
    elif formatted != text:
        write_file(Path(file), formatted)
    return formatted != text
