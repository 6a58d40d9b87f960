"""`collc export`: a schedule in a format of other tools."""

from __future__ import annotations

from pathlib import Path

import click

from collc.commands.directory import directory, write
from collc.commands.output import print_data
from collc.commands.source import Source, reporting, source_options
from collc_research.networks.chakra import traces_of


@click.command()
@source_options
@click.option(
    "--chakra",
    "output",
    callback=directory,
    metavar="DIRECTORY",
    required=True,
    help="Write a Chakra execution trace here, NAME.RANK.et for each rank.",
)
@reporting
def command(source: Source, output: Path) -> None:
    """Write FILE's schedule for tools that simulate other networks, such as ASTRA-sim."""
    _, schedule = source.prove()
    name = schedule.collective.name
    traces = {f"{name}.{rank}.et": trace for rank, trace in enumerate(traces_of(schedule))}
    write(traces, output)
    count, size = len(traces), sum(map(len, traces.values()))
    if source.as_data:
        print_data({"directory": str(output), "name": name, "files": count, "bytes": size})
    else:
        click.echo(f"{count} files, {size} bytes: {output / name}.RANK.et")
