"""The command line: `main` runs the command that is asked for, a module of `collc.commands`.

Only these print, exit, or write files the user asked for. Exit status: 0 fine, 1 the program is at
fault, 2 wrong usage, 3 a run gave a wrong result or none that can be compared, or got stuck.
"""

import io
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

from collc.base.allocation import allocate_for_a_compiler
from collc.base.version import __version__
from collc.commands import streams
from collc.commands.status import FAULT, USAGE
from collc.start import INTERRUPTED, interrupts_raise

# Every command and what it does, by heading of `--help`, which imports none of them. The everyday
# ones are in the order in which a new user meets them.
_EVERYDAY = {
    "new": "Start a file.",
    "example": "Print a program that comes with collc, or list them.",
    "list": "List the patterns and orders that come with collc.",
    "check": "Prove that files are right and within the machine's limits.",
    "run": "Compile a file, run the emitted CSL, compare with NumPy.",
    "cost": "Predict a file's cycles, and say where they go.",
    "view": "Show a file in a page: routes, motion, time lines, waits.",
    "build": "Compile files to CSL.",
    "explain": "Say more about a message, or about a choice of plan.",
    "fmt": "Bring files into the one style.",
}
_ADVANCED = {
    "tune": "Find the best plan for every length.",
    "sweep": "Run a file at many sizes, here or on a cluster.",
    "plot": "Draw what patterns and files cost.",
    "export": "Write a file's schedule for other tools.",
    "probe": "Find out which rules a machine or a simulator keeps.",
    "reproduce": "Compute the numbers of the published sources anew, and compare.",
    "lsp": "Serve an editor, by the language server protocol.",
}
COMMANDS = _EVERYDAY | _ADVANCED
_PIPE_CLOSED = 141  # what a shell says of SIGPIPE


def main() -> None:
    """Entry point of the `collc` command."""
    allocate_for_a_compiler()
    streams.prepare()
    try:
        _run_commands()
    except (click.exceptions.Abort, KeyboardInterrupt, _InterruptedError):
        _stop("interrupted", INTERRUPTED)
    except _PipeClosedError:
        streams.drop(1)  # `collc ... | head`: whoever read has seen enough
        sys.exit(_PIPE_CLOSED)
    except OSError as error:
        streams.drop(1)
        _stop(_printable(f"{error.filename or 'cannot print'}: {error.strerror or error}"), FAULT)


def _run_commands() -> None:
    try:
        commands(standalone_mode=False)
    except click.ClickException as error:
        if "--json" in sys.argv:
            # of a missing argument only the formatted message says which
            _print_usage_as_data(_printable(error.format_message()))
        text = io.StringIO()
        error.show(text)
        _say(_printable(text.getvalue()))
        sys.exit(USAGE)


def _printable(message: str) -> str:
    """A message that may quote words of the command line, each of which is to be in one line."""
    from collc.base.diagnostics import printable, shown  # noqa: PLC0415 - start-up imports little

    for word in sys.argv:
        if "\n" in word:
            message = message.replace(word, shown(word))
    return printable(message)


def _print_usage_as_data(message: str) -> None:
    from collc.base.diagnostics import Diagnostic  # noqa: PLC0415 - start-up imports little
    from collc.commands.output import report  # noqa: PLC0415

    report([Diagnostic("usage", message, None)], {}, as_data=True)


def _stop(message: str, status: int) -> NoReturn:
    _say(f"collc: {message}\n")
    sys.exit(status)


def _say(text: str) -> None:
    """Say something on standard error; where that cannot be done, the status alone tells."""
    try:
        click.echo(text, err=True, nl=False)
    except OSError:
        streams.drop(2)


class _InterruptedError(Exception):
    """Ctrl-C."""


class _PipeClosedError(Exception):
    """Standard output is a pipe that nobody reads any more."""


class _Commands(click.Group):
    """The commands, each loaded from the module of its name when it is asked for.

    A closed pipe is told from a program at fault, whose status click itself would give it.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, as `--help` lists them."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What each does, whole."""
        for heading, commands_of_it in (("Everyday", _EVERYDAY), ("Advanced", _ADVANCED)):
            with formatter.section(f"{heading} commands"):
                formatter.write_dl(list(commands_of_it.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"collc.commands.{cmd_name}").command
        interrupts_raise()
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is asked for; where there is none, the nearest is named."""
        near = get_close_matches(args[0].lower(), COMMANDS, n=1)
        if near and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{near[0]}'?")
        return super().resolve_command(ctx, args)

    def make_context(self, *given: Any, **settings: Any) -> click.Context:  # noqa: ANN401 - click's
        """As click makes it; an interrupt meanwhile is like one later."""
        try:
            return super().make_context(*given, **settings)
        except KeyboardInterrupt as error:
            raise _InterruptedError from error

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click declares it
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _PipeClosedError from error
        except KeyboardInterrupt as error:
            raise _InterruptedError from error  # click itself would print an empty line first


def _print_cmake_dir(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cmake"))
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="collc")
@click.option(
    "--cmake-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_cmake_dir,
    help="Print the folder of collc's CMake package and exit.",
)
def commands() -> None:
    """Compile collectives to CSL for the Cerebras WSE, check them, predict and run them."""
