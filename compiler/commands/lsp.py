"""`collc lsp`: a language server for editors."""

import sys
from typing import BinaryIO, cast

import click

from collc.commands.output import FAULT


@click.command()
@click.option("--stdio", is_flag=True, help="As always: by standard input and output.")
def command(stdio: bool) -> None:
    """Serve an editor: problems while typing, hovers, definitions, completion, renaming, style.

    It speaks the language server protocol on standard input and output; docs/editors.md says how
    editors are told of it.
    """
    if sys.stdin is None:  # as Python has it where it is closed
        raise click.UsageError("standard input is closed; editors speak to it")
    try:
        from collc.lsp.messages import Messages  # noqa: PLC0415 - an editor waits for the others
        from collc.lsp.server import make_server  # noqa: PLC0415 - pygls is an extra
    except ImportError as error:
        click.echo(f"collc: `collc lsp` needs pygls ({error}): pip install 'collc[lsp]'", err=True)
        sys.exit(FAULT)
    bounded = cast(BinaryIO, Messages(sys.stdin.buffer))  # as much of one as pygls uses
    make_server().start_io(stdin=bounded)
