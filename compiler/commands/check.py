"""`collc check`: prove a program, write nothing."""

from __future__ import annotations

import click

from collc.commands.output import facts_of, print_data, print_decisions, resources_of, warning_facts
from collc.commands.source import Source, print_warnings, reporting, source_options


@click.command()
@source_options
@reporting
def command(source: Source) -> None:
    """Prove FILE's collective right and within the machine's limits; write nothing."""
    bundle = source.compile()
    if source.as_data:
        print_data(facts_of(bundle) | warning_facts(bundle))
    else:
        click.echo(f"{source.file}: fine. {resources_of(bundle)}")
        print_decisions(bundle)
        print_warnings(bundle.warnings, source)
