"""`collc check`: prove programs, write nothing."""

import click

from collc.commands.output import facts_of, print_decisions, resources_of, warning_facts
from collc.commands.source import Source, Told, print_warnings, reporting_each, sources_options


@click.command()
@sources_options
@reporting_each
def command(source: Source, alone: bool) -> Told:
    """Prove each FILE's collective right and within the machine's limits; write nothing."""
    bundle = source.compile()
    if source.is_read_by_people:
        click.echo(f"{source.label}: fine. {resources_of(bundle)}")
        print_decisions(bundle)
        print_warnings(bundle.warnings, source)
    return facts_of(bundle) | warning_facts(bundle), bundle.warnings
