"""Commands that read a `.coll` file: their options, the file, and what is said if it is refused."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any

import click

from collc.base.diagnostics import CollcError, Diagnostic
from collc.commands.output import FAULT, report
from collc.driver.bundle import Bundle, ProgramBundle
from collc.driver.pipeline import prove_text, read
from collc.driver.programs import compile_any, prove_program
from collc.language import read_source
from collc.language.names import PRELUDE_FILE
from collc.language.show import render
from collc.language.source import MAX_SOURCE_BYTES
from collc.schedule import Schedule
from collc.spec import Spec
from collc.target import TARGETS


def definitions_of(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """`NAME=VALUE` options as a dictionary; a repeated name is a mistake."""
    definitions: dict[str, int] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not re.fullmatch(r" *[+-]?[0-9]{1,4000} *", value):
            raise click.BadParameter(f"{text!r} is not NAME=INTEGER, such as P=512")
        if name.strip() in definitions:
            raise click.BadParameter(f"{name.strip()} is given twice")
        definitions[name.strip()] = int(value)
    return definitions


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that reads a `.coll` file."""
    for option in (
        click.option("--json", "as_data", is_flag=True, help="Print one JSON object."),
        click.option("--target", type=click.Choice(sorted(TARGETS)), help="Override the target."),
        click.option(
            "-D",
            "definitions",
            multiple=True,
            callback=definitions_of,
            metavar="NAME=VALUE",
            help="Set a parameter; may be repeated.",
        ),
        click.argument("file", type=click.Path(path_type=Path)),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Source:
    """What every command that reads a file is told: the file, and how to read it."""

    file: Path
    definitions: dict[str, int]
    target: str | None
    as_data: bool
    network: Path | None = None  # another file that messages may be about

    @cached_property
    def text(self) -> str:
        """What the file says; raises CollcError, or UsageError where there is no file."""
        if os.path.isdir(self.file):
            raise click.UsageError(f"{self.file} is a directory; name a .coll file")
        if not os.path.exists(self.file):
            raise click.UsageError(f"there is no file {self.file}")
        return read_source(self.file)

    def for_target(self, target: str | None) -> Source:
        """The same for a target, where the command line names none."""
        return replace(self, target=self.target or target)

    def compile(self, skew: int = 0, *, timed: bool = False) -> Bundle | ProgramBundle:
        """The file's bundle; raises as `text` does, and CollcError for a program at fault."""
        given = self.text, str(self.file), self.definitions, self.target, skew
        return compile_any(*given, timed=timed)

    def parse(self, *, leave_open: bool = False) -> Spec:
        """What the file says, with `leave_open` as if all steps were `auto`; raises likewise."""
        given = self.text, str(self.file), self.definitions, self.target
        return read(*given, leave_open=leave_open)

    def prove(self) -> tuple[Spec, Schedule]:
        """What the file says and how it is done, without looking at a machine; raises likewise."""
        return prove_text(self.text, str(self.file), self.definitions, self.target)

    def prove_all(self) -> tuple[Spec, tuple[Schedule, ...]]:
        """The same for all collectives of a program."""
        return prove_program(self.text, str(self.file), self.definitions, self.target)

    def quotable(self) -> str:
        """The text for messages to quote, also where it is too long or no UTF-8."""
        try:
            return self.text
        except CollcError:
            if not self.file.is_file():
                return ""
        try:
            with self.file.open("rb") as file:
                return file.read(MAX_SOURCE_BYTES).decode("utf-8-sig", "replace")
        except OSError:
            return ""


def print_warnings(warnings: Iterable[Diagnostic], source: Source) -> None:
    """What could be better, beside the output proper."""
    warnings = tuple(warnings)
    sources = _quoted(warnings, source)
    for warning in warnings:
        click.echo(render(warning, sources), err=True, nl=False)


def reporting(command: Callable[..., None]) -> Callable[..., None]:
    """Hand the command its Source; turn a refused program into messages and exit status 1."""

    @wraps(command)
    def wrapped(
        *,
        file: Path,
        definitions: dict[str, int],
        target: str | None,
        as_data: bool,
        **options: Any,  # noqa: ANN401 - whatever else the command declares
    ) -> None:
        source = Source(file, definitions, target, as_data, options.get("network"))
        try:
            command(source, **options)
        except CollcError as error:
            _report(error.diagnostics, source)
            sys.exit(FAULT)

    return wrapped


def _report(diagnostics: tuple[Diagnostic, ...], source: Source) -> None:
    sources = _quoted(diagnostics, source)
    report(diagnostics, sources, as_data=source.as_data)
    if not source.as_data:
        count = len(diagnostics)
        writes = "output" in click.get_current_context().params
        unwritten = "; nothing was written" if writes else ""
        click.echo(f"\n{count} problem{'s' if count > 1 else ''}{unwritten}", err=True)


def _quoted(diagnostics: Iterable[Diagnostic], source: Source) -> dict[str, str]:
    """The texts that messages quote, by file: the file itself and those that it imports."""
    places = (
        place for one in diagnostics for place in (one.at, *(span for span, _ in one.also)) if place
    )
    others = {place.file for place in places} - {PRELUDE_FILE, str(source.file)}
    quoted = {file: replace(source, file=Path(file)).quotable() for file in sorted(others)}
    return quoted | {str(source.file): source.quotable()}
