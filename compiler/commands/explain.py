"""`collc explain`: what messages mean."""

from __future__ import annotations

import click

from collc.commands.output import print_data
from collc.explain import explained_codes, explanation


@click.command()
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
@click.argument("code", required=False)
def command(code: str | None, as_data: bool) -> None:
    """Explain the message with CODE, such as C101; without CODE, list them all."""
    if code is not None and explanation(code.upper()) is None:
        raise click.UsageError(f"there is no message with the code {code}")
    codes = [code.upper()] if code else explained_codes()
    pages = {code: explanation(code) or "" for code in codes}
    if as_data:
        print_data(pages)
    elif code:
        click.echo(pages[code.upper()], nl=False)
    else:
        for page in pages.values():
            click.echo(page.partition("\n")[0].removeprefix("# "))
