"""`collc reproduce --figures DIR`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from collc.diagnostics import CollcError
from collc.plot.draw import require
from collc.reproduce.figure_points import left_out, measured, page, wanted, write
from collc.run import RunError
from collc.show import render


def reproduce_figures(directory: Path, *, quick: bool) -> None:
    """Measure and write all figures; say what was left out. Ends the process where that fails."""
    console = Console(stderr=True)
    work = wanted(quick=quick)
    try:
        require()
        shown = track(
            measured(work),
            "simulating",
            len(work),
            console=console,
            disable=not console.is_terminal,
        )
        places = list(shown)
        written = write(places, directory)
        (directory / "figures.md").write_text(page(places), encoding="utf-8")
    except CollcError as error:
        click.echo("\n".join(render(d, {}) for d in error.diagnostics), err=True, nl=False)
        sys.exit(1)
    except RunError as error:
        click.echo(f"collc: the run failed: {error}", err=True)
        sys.exit(3)
    count = sum(place.simulated > 0 for place in places)
    click.echo(f"{count} points simulated, {len(written)} files and figures.md in {directory}")
    if missing := left_out(places):
        click.echo(f"by formula only: {missing}", err=True)
