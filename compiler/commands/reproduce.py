"""`collc reproduce`: the numbers of the published sources."""

import sys
from pathlib import Path

import click
from rich.console import Console

from collc.base.diagnostics import CollcError, shown
from collc.commands.directory import directory, write
from collc.commands.output import FAULT, WRONG_RUN, print_data, report
from collc.commands.over import with_bar
from collc.run import RunError
from collc_research.plot.draw import require
from collc_research.reproduce import claims, reproduce, rows_as_data, summary, tables_of
from collc_research.reproduce.figure_points import files_of, left_out, measured, wanted


@click.command()
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
@click.option("--quick", is_flag=True, help="Take some values of long ranges, not all of them.")
@click.option(
    "--figures",
    callback=directory,
    metavar="DIRECTORY",
    help="Also simulate the series of the thesis' figures, and put pictures and tables here.",
)
def command(as_data: bool, quick: bool, figures: Path | None) -> None:
    """Compute the numbers of the published sources anew, and compare.

    A table for each source: what it claims, its number, ours, and the verdict. The exit status is 1
    if a verdict is not the one on record. What --figures has run is kept in the user's cache
    folder, so that an interrupted run goes on where it was.
    """
    rows = list(with_bar(reproduce(quick=quick), "checking", len(claims())))
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


def _draw(into: Path, *, quick: bool) -> None:
    """Measure and write all figures; say what was left out. Ends the process where that fails."""
    work = wanted(quick=quick)
    try:
        require()
        places = list(with_bar(measured(work), "simulating", len(work)))
        made = files_of(places)
        write(made, into)
    except CollcError as error:
        report(error.diagnostics, {}, as_data=False)
        sys.exit(FAULT)
    except RunError as error:
        click.echo(f"collc: the run failed: {error}", err=True)
        sys.exit(WRONG_RUN)
    count = sum(place.simulated > 0 for place in places)
    click.echo(f"{count} points simulated; {len(made)} files in {shown(into)}", err=True)
    if missing := left_out(places):
        click.echo(f"by formula only: {missing}", err=True)
