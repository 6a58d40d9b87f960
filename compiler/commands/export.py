"""`collc export`: a schedule in a format of other tools."""

from pathlib import Path

import click

from collc.base.diagnostics import shown
from collc.commands.directory import directory, write
from collc.commands.output import print_data
from collc.commands.source import Source, reporting, source_options
from collc.driver.graph import as_dot, as_graphml, graph_of
from collc_research.networks.chakra import traces_of


@click.command()
@source_options
@click.option(
    "--chakra",
    "output",
    callback=directory,
    metavar="DIRECTORY",
    help="Write a Chakra execution trace here, NAME.RANK.et for each rank.",
)
@click.option("--graphml", "form", flag_value="graphml", help="Print a graph of the transfers.")
@click.option("--dot", "form", flag_value="dot", help="Print it for Graphviz.")
@reporting
def command(source: Source, output: Path | None, form: str | None) -> None:
    """Write FILE's schedule for tools that simulate other networks, such as ASTRA-sim, or as a
    graph: a node for each PE, an edge for each transfer."""
    if (output is None) == (form is None):
        raise click.UsageError("say one of --chakra DIRECTORY, --graphml and --dot")
    if output is not None:
        _write_traces(source, output)
        return
    graph = graph_of(source.prove_all()[1])
    text = as_dot(graph) if form == "dot" else as_graphml(graph)
    if source.as_data:
        print_data({"file": source.label, "format": form, "text": text})
    else:
        click.echo(text, nl=False)


def _write_traces(source: Source, output: Path) -> None:
    _, schedule = source.prove()
    name = schedule.collective.name
    traces = {f"{name}.{rank}.et": trace for rank, trace in enumerate(traces_of(schedule))}
    write(traces, output)
    count, size = len(traces), sum(map(len, traces.values()))
    if source.as_data:
        print_data({"directory": shown(output), "name": name, "files": count, "bytes": size})
    else:
        click.echo(f"{count} files, {size} bytes: {shown(output / name)}.RANK.et")
