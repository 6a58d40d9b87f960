"""`collc probe`: which rules of docs/machine.md hold on a tool, and what its cycles come to."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path

import click

from collc.backends import BACK_ENDS, Settings, UnavailableError, opened
from collc.base.diagnostics import CollcError, printable
from collc.commands.directory import FILE, write_file
from collc.commands.fabric import fabric_options
from collc.commands.output import FAULT
from collc.commands.run_on import TOOL_OPTIONS
from collc.probe.fabsim import Fabsim
from collc.probe.job import Tool
from collc.probe.program import ARCHS, NEWEST
from collc.probe.report import as_json, as_text, table_of
from collc.probe.survey import Progress, survey
from collc.probe.tools import Tools
from collc.target.fabric import MACHINES, Wanted

_SECONDS = 600  # for a command where no --timeout is given: a probe may stand still


def _tool_options(command: Callable[..., None]) -> Callable[..., None]:
    """Those of `collc run`."""
    return reduce(lambda made, option: option(made), reversed(TOOL_OPTIONS), command)


@click.command()
@click.option(
    "--on",
    "where",
    type=click.Choice(sorted(BACK_ENDS)),
    required=True,
    help="The tools to look at: a local SDK's simulator, the appliance, a CS system, or fabsim.",
)
@click.option("-o", "output", type=FILE, help="Write the report (JSON).")
@click.option(
    "--timing",
    "timing",
    type=FILE,
    help="Write the fitted constants, for `fabsim cslc --timing FILE`.",
)
@click.option(
    "--arch",
    "archs",
    type=click.Choice(ARCHS),
    multiple=True,
    help="Only this architecture; both unless given.",
)
@click.option(
    "--rules",
    "asked",
    multiple=True,
    metavar="PATTERN",
    help="Only rules such as M3.9-4 or 'M2.3-*'; several times for several.",
)
@click.option(
    "--release",
    default=NEWEST,
    show_default=True,
    help="The release of the SDK: probes of other ones are left out.",
)
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Probes at a time."
)
@fabric_options
@_tool_options
def command(  # noqa: PLR0913, PLR0917 - as many as there are options
    where: str,
    output: Path | None,
    timing: Path | None,
    archs: tuple[str, ...],
    asked: tuple[str, ...],
    release: str,
    jobs: int,
    wanted: Wanted,
    sdk: Path | None,
    client_python: str | None,
    cmaddr: str | None,
    keep: Path | None,
    timeout: float | None,
) -> None:
    """Run small programs on tools that take CSL, and say rule by rule of docs/machine.md what they
    show: confirmed, refuted or not decided, with what was seen; and fit fabsim's cycles to time
    stamps. Nothing of your own programs is used or told; the report is for you to read and send."""
    machine = wanted.machine in MACHINES
    settings = Settings(sdk, client_python, machine, cmaddr, keep, timeout or _SECONDS)
    archs = archs or ((wanted.target,) if wanted.target else ARCHS)
    try:
        with _tool(where, settings, release, wanted) as tool:
            found = survey(tool, archs, asked=asked, jobs=jobs, progress=_progress())
        if output:
            write_file(output, json.dumps(as_json(found), indent=2) + "\n")
        if timing:
            write_file(timing, json.dumps(table_of(found), indent=2) + "\n")
    except (CollcError, UnavailableError) as error:
        click.echo(f"collc: {printable(str(error))}", err=True)
        sys.exit(FAULT)
    for line in as_text(found):
        click.echo(line)


@contextmanager
def _tool(where: str, settings: Settings, release: str, wanted: Wanted) -> Iterator[Tool]:
    """The tools behind a name; fabsim is called in this process."""
    if where == "fabsim":
        yield Fabsim()
        return
    with opened(where, settings) as back_end:
        yield Tools(back_end, release, wanted)


def _progress() -> Progress | None:
    """What is under way, on a terminal."""
    if not sys.stderr.isatty():
        return None

    def say(what: str) -> None:
        click.echo(f"\r\033[K{what}", nl=False, err=True)

    return say
