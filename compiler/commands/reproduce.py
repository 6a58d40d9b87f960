"""`collc reproduce`: the numbers of the published sources."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from collc.commands.output import FAULT, WRONG_RUN, print_data
from collc.diagnostics import CollcError
from collc.plot.draw import require
from collc.reproduce import claims, reproduce, rows_as_data, summary, tables_of
from collc.reproduce.figure_points import left_out, measured, page, wanted, write
from collc.run import RunError
from collc.show import render


@click.command()
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
@click.option("--quick", is_flag=True, help="Take some values of long ranges, not all of them.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also simulate the series of the thesis' figures, and put pictures and tables here.",
)
def command(as_data: bool, quick: bool, figures: Path | None) -> None:
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
    if figures:
        _draw(figures, quick=quick)
    if not all(row.as_recorded for row in rows):
        sys.exit(FAULT)


def _draw(directory: Path, *, quick: bool) -> None:
    """Measure and write all figures; say what was left out. Ends the process where that fails."""
    console = Console(stderr=True)
    work = wanted(quick=quick)
    try:
        require()
        running = measured(work)
        silent = not console.is_terminal
        places = list(track(running, "simulating", len(work), console=console, disable=silent))
        written = write(places, directory)
        (directory / "figures.md").write_text(page(places), encoding="utf-8")
    except CollcError as error:
        click.echo("\n".join(render(d, {}) for d in error.diagnostics), err=True, nl=False)
        sys.exit(FAULT)
    except RunError as error:
        click.echo(f"collc: the run failed: {error}", err=True)
        sys.exit(WRONG_RUN)
    count = sum(place.simulated > 0 for place in places)
    click.echo(
        f"{count} points simulated; {len(written)} files and figures.md in {directory}", err=True
    )
    if missing := left_out(places):
        click.echo(f"by formula only: {missing}", err=True)
