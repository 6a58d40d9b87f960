"""`collc new`: the beginning of a file."""

import os
import shlex
import sys
from pathlib import Path

import click

from collc.base.diagnostics import CollcError, shown
from collc.base.version import __version__
from collc.commands.directory import write_file
from collc.commands.output import FAULT, report

_CONTRACTS = ("allreduce", "reduce", "broadcast")
_TEXT = """// What this is for.
//
//     collc run {file} -D P=32 -D B=64
requires collc >= {version}
target {target}
param P = 16  where 1 <= P <= 750   // PEs in the row
param B = 256 where 1 <= B <= 4096  // elements per PE
grid row = P x 1

collective {name} = {contract}(x: f32[B]{operation}) on row {{
{steps}}}
program {{ {name} }}
"""
_STEPS = {
    "reduce": "    reduce optimal to 0\n",
    "broadcast": "    broadcast from 0\n",
    "allreduce": "    reduce optimal to 0\n    then broadcast from 0\n",
}


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--contract", type=click.Choice(_CONTRACTS), default="allreduce", show_default=True)
@click.option("--target", type=click.Choice(["wse2", "wse3"]), default="wse2", show_default=True)
def command(file: Path, contract: str, target: str) -> None:
    """Start FILE: a program that compiles and runs, as a starting point.

    A file that is there stays as it is.
    """
    operation = "" if contract == "broadcast" else ", add"
    version = ".".join(__version__.split(".")[:2])
    words = {"contract": contract, "target": target, "operation": operation, "version": version}
    text = _TEXT.format(file=shown(file.name), name="total", steps=_STEPS[contract], **words)
    if os.path.lexists(file):  # a link that leads nowhere is there, too
        raise click.UsageError(f"{shown(file)} is there already")
    try:
        write_file(file, text)
    except CollcError as error:
        report(error.diagnostics, {})
        sys.exit(FAULT)
    click.echo(f"{shown(file)}: try `collc run {shlex.quote(shown(file))}`")
