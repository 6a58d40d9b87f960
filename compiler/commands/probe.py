"""`collc probe`: which rules of docs/machine.md hold on a tool, and what its cycles come to."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from collc.backends import BACK_ENDS, Settings, UnavailableError, opened
from collc.commands.output import FAULT
from collc.probe.fabsim import Fabsim
from collc.probe.job import Tool
from collc.probe.program import ARCHS, NEWEST
from collc.probe.report import as_json, as_text, table_of
from collc.probe.survey import Progress, survey
from collc.probe.tools import Tools

_SECONDS = 600  # for a command: cslc takes some, a probe a few more


@click.command()
@click.option(
    "--on",
    "where",
    type=click.Choice(sorted(BACK_ENDS)),
    required=True,
    help="The tools to look at: a local SDK's simulator, the appliance, a CS system, or fabsim.",
)
@click.option(
    "-o", "output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report (JSON)."
)
@click.option(
    "--timing",
    "timing",
    type=click.Path(dir_okay=False, path_type=Path),
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
    "--sdk",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with cslc and cs_python.",
)
@click.option("--cmaddr", "address", metavar="IP:PORT", help="The address of a CS system.")
@click.option("--client-python", help="A Python with the appliance's client.")
@click.option("--machine", is_flag=True, help="A system of the appliance, not its simulator.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the files of every run in this folder.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=1),
    default=_SECONDS,
    show_default=True,
    help="Seconds until a command is ended; a program that stands still is told by it.",
)
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Probes at a time."
)
def command(  # noqa: PLR0913, PLR0917 - as many as there are options
    where: str,
    output: Path | None,
    timing: Path | None,
    archs: tuple[str, ...],
    asked: tuple[str, ...],
    release: str,
    sdk: Path | None,
    address: str | None,
    client_python: str | None,
    machine: bool,
    keep: Path | None,
    time_limit: float,
    jobs: int,
) -> None:
    """Run small programs on tools that take CSL, and say rule by rule of docs/machine.md what they
    show: confirmed, refuted or not decided, with what was seen; and fit fabsim's cycles to time
    stamps. Nothing of your own programs is used or told; the report is for you to read and send."""
    settings = Settings(
        sdk=sdk,
        client_python=client_python,
        machine=machine,
        address=address,
        keep=keep,
        timeout_seconds=time_limit,
    )
    try:
        with _tool(where, settings, release) as tool:
            found = survey(tool, archs or ARCHS, asked=asked, jobs=jobs, progress=_progress())
    except UnavailableError as error:
        click.echo(f"collc: {error}", err=True)
        sys.exit(FAULT)
    if output:
        output.write_text(json.dumps(as_json(found), indent=2) + "\n", encoding="utf-8")
    if timing:
        timing.write_text(json.dumps(table_of(found), indent=2) + "\n", encoding="utf-8")
    for line in as_text(found):
        click.echo(line)


@contextmanager
def _tool(where: str, settings: Settings, release: str) -> Iterator[Tool]:
    """The tools behind a name; fabsim is called in this process."""
    if where == "fabsim":
        yield Fabsim()
        return
    with opened(where, settings) as back_end:
        yield Tools(back_end, release)


def _progress() -> Progress | None:
    """What is under way, on a terminal."""
    if not sys.stderr.isatty():
        return None

    def say(what: str) -> None:
        click.echo(f"\r\033[K{what}", nl=False, err=True)

    return say
