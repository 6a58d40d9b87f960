"""`collc list`: the patterns that come with the compiler."""

from __future__ import annotations

import click

from collc.commands.output import print_data
from collc.patterns import all_patterns, as_data, facts_of, show_page, show_table


@click.command()
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object.")
@click.option("--page", is_flag=True, help="Print the page docs/patterns.md.")
@click.argument("names", nargs=-1)
def command(as_json_: bool, page: bool, names: tuple[str, ...]) -> None:
    """List the patterns that come with the compiler, or those with NAMES, with what is known of
    each: contract, operand order, colors, the model's formula, limits."""
    known = {pattern.name: pattern for pattern in all_patterns()}
    for name in names:
        if name not in known:
            raise click.UsageError(f"there is no pattern called {name}")
    found = [facts_of(known[name]) for name in dict.fromkeys(names or known)]
    if as_json_:
        print_data({"patterns": [as_data(facts) for facts in found]})
    else:
        click.echo((show_page if page else show_table)(found), nl=False)
