"""`collc export`: a schedule in a format of other tools."""

from __future__ import annotations

from pathlib import Path

import click

from collc.commands.output import print_data
from collc.commands.source import Source, reporting, source_options
from collc.networks.chakra import traces_of


@click.command()
@source_options
@click.option(
    "--chakra",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Write a Chakra execution trace here, NAME.RANK.et for each rank.",
)
@reporting
def command(source: Source, directory: Path) -> None:
    """Write FILE's schedule for tools that simulate other networks, such as ASTRA-sim."""
    _, schedule = source.prove()
    name, traces = schedule.collective.name, list(traces_of(schedule))
    directory.mkdir(parents=True, exist_ok=True)
    for rank, trace in enumerate(traces):
        (directory / f"{name}.{rank}.et").write_bytes(trace)
    count, size = len(traces), sum(map(len, traces))
    if source.as_data:
        print_data({"directory": str(directory), "name": name, "files": count, "bytes": size})
    else:
        click.echo(f"{count} files, {size} bytes: {directory / name}.RANK.et")
