"""`collc reproduce`: the numbers of the published sources."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import track

from collc.commands.output import FAULT, print_data
from collc.reproduce import claims, reproduce, rows_as_data, summary, tables_of


@click.command()
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
@click.option("--quick", is_flag=True, help="Take some values of long ranges, not all of them.")
def command(as_data: bool, quick: bool) -> None:
    """Compute the numbers of the published sources anew, and compare."""
    progress = Console(stderr=True)
    rows = list(
        track(
            reproduce(quick=quick),
            "checking",
            total=len(claims()),
            console=progress,
            transient=True,
            disable=not progress.is_terminal,
        )
    )
    if as_data:
        print_data(rows_as_data(rows))
    else:
        console = Console()
        for table in tables_of(rows):
            console.print(table)
            console.print()
        click.echo(summary(rows))
    if not all(row.as_recorded for row in rows):
        sys.exit(FAULT)
