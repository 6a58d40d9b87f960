"""Commands that read a `.coll` file: their options, the file, and what is said if it is refused."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any

import click

from collc.base.diagnostics import CollcError, Diagnostic, shown
from collc.base.progress import shown_on
from collc.base.values import dataclass
from collc.commands.output import FAULT, Form, print_data, print_sarif, report
from collc.driver.after import occupied
from collc.driver.bundle import Bundle
from collc.driver.pipeline import compile_text, prove_program, prove_text, read
from collc.language import read_source
from collc.language.prelude import PRELUDE_FILE
from collc.language.render import as_json, headline, render
from collc.language.source import MAX_SOURCE_BYTES, decode_source, quotable
from collc.schedule import Schedule
from collc.spec import Reserved, Spec
from collc.target import TARGETS

STANDARD_INPUT = Path("-")


@cache
def standard_input() -> str:
    """What is piped in, read once; raises CollcError where it is no text, and UsageError where
    nothing can be read."""
    if sys.stdin is None:  # as Python has it where it is closed
        raise click.UsageError("standard input is closed; name a file, or pipe one in")
    try:
        data = sys.stdin.buffer.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise click.UsageError(f"cannot read standard input: {error.strerror}") from None
    return decode_source("<stdin>", data)


def definitions_of(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    """`NAME=VALUE` options as a dictionary; a repeated name is a mistake."""
    definitions: dict[str, int] = {}
    for text in values:
        name, equals, value = text.partition("=")
        is_name = name.strip() and name.isprintable()
        if not equals or not is_name or not re.fullmatch(r" *[+-]?[0-9]{1,4000} *", value):
            raise click.BadParameter(f"{text!r} is not NAME=INTEGER, such as P=512")
        if name.strip() in definitions:
            raise click.BadParameter(f"{name.strip()} is given twice")
        definitions[name.strip()] = int(value)
    return definitions


_JSON = click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
_FORMS = click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Form]),
    default=Form.HUMAN.value,
    show_default=True,
    help="How to print what is found: for people, a line each, as JSON, or as SARIF 2.1.0.",
)


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that reads one `.coll` file."""
    file = click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
    return _JSON(_how_to_read(file(command)))


def sources_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that reads some `.coll` files, one after the other."""
    path = click.Path(path_type=Path, allow_dash=True)
    files = click.argument("files", type=path, nargs=-1, required=True, metavar="FILE...")
    return _JSON(_FORMS(_how_to_read(files(command))))


def _how_to_read(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--target", type=click.Choice(sorted(TARGETS)), help="Override the target."),
        click.option(
            "-D",
            "definitions",
            multiple=True,
            callback=definitions_of,
            metavar="NAME=VALUE",
            help="Set a parameter; may be repeated.",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Source:
    """What every command that reads a file is told: the file, and how to read it."""

    file: Path  # `-` for standard input
    definitions: dict[str, int]
    target: str | None
    form: Form = Form.HUMAN
    network: Path | None = None  # another file that messages may be about

    @property
    def as_data(self) -> bool:
        """Whether to print one JSON object."""
        return self.form is Form.JSON

    @property
    def is_read_by_people(self) -> bool:
        """Whether to print text."""
        return self.form in (Form.HUMAN, Form.SHORT)

    @property
    def name(self) -> str:
        """The file's name as places have it."""
        return "<stdin>" if self.file == STANDARD_INPUT else str(self.file)

    @property
    def label(self) -> str:
        """The same as it is printed."""
        return shown(self.name)

    @property
    def stem(self) -> str:
        """What is made of the file is called so, if it has no other name."""
        return "stdin" if self.file == STANDARD_INPUT else self.file.stem

    @cached_property
    def text(self) -> str:
        """What the file says; raises CollcError, or UsageError where there is no file."""
        if self.file == STANDARD_INPUT:
            return standard_input()
        if os.path.isdir(self.file):
            raise click.UsageError(f"{self.label} is a directory; name a .coll file")
        if not os.path.exists(self.file):
            raise click.UsageError(f"there is no file {self.label}")
        return read_source(self.file)

    def for_target(self, target: str | None) -> Source:
        """The same for a target, where the command line names none."""
        return replace(self, target=self.target or target)

    def compile(
        self,
        skew: int = 0,
        *,
        timed: bool = False,
        name: str | None = None,
        after: tuple[Path, ...] = (),
    ) -> Bundle:
        """The file's bundle; raises as `text` does, and CollcError for a program at fault. It takes
        nothing that the libraries with these manifests have."""
        given = self.text, self.name, self.definitions, self.target, skew
        return compile_text(*given, timed=timed, name=name, after=self._occupied(after))

    def _occupied(self, manifests: tuple[Path, ...]) -> list[Reserved]:
        """What libraries have; raises UsageError where that cannot be known, or is of another
        target."""
        found = []
        for file in manifests:
            try:
                of, reserved = occupied(file)
            except (OSError, ValueError) as error:
                said = error.strerror if isinstance(error, OSError) else error
                raise click.UsageError(f"cannot read {shown(file)}: {said}") from None
            if of != (own := self.parse().target):
                what = f"the library of {shown(file)} is for {of}, {self.label} for {own}"
                raise click.UsageError(f"{what}; build both for one target, with --target")
            found.append(reserved)
        return found

    def parse(self, *, leave_open: bool = False) -> Spec:
        """What the file says, with `leave_open` as if all steps were `auto`; raises likewise."""
        given = self.text, self.name, self.definitions, self.target
        return read(*given, leave_open=leave_open)

    def prove(self) -> tuple[Spec, Schedule]:
        """What the file says and how it is done, without looking at a machine; raises likewise."""
        return prove_text(self.text, self.name, self.definitions, self.target)

    def prove_all(self) -> tuple[Spec, tuple[Schedule, ...]]:
        """The same for all collectives of a program."""
        return prove_program(self.text, self.name, self.definitions, self.target)

    def quotable(self) -> str:
        """The text for messages to quote, also where it is too long or no UTF-8."""
        try:
            return self.text
        except CollcError:
            return quotable(self.file) if self.file.is_file() else ""


def print_warnings(warnings: Iterable[Diagnostic], source: Source) -> None:
    """What could be better, beside the output proper."""
    warnings = tuple(warnings)
    sources = _quoted(warnings, source)
    for warning in warnings:
        text = f"{headline(warning)}\n" if source.form is Form.SHORT else render(warning, sources)
        click.echo(text, err=True, nl=False)


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
        form = Form.JSON if as_data else Form.HUMAN
        source = Source(file, definitions, target, form, options.get("network"))
        try:
            with shown_on(sys.stderr, wanted=source.is_read_by_people):
                command(source, **options)
        except CollcError as error:
            _report(error.diagnostics, source)
            sys.exit(FAULT)

    return wrapped


Told = tuple[Mapping[str, Any], tuple[Diagnostic, ...]]  # a JSON object, and warnings


def reporting_each(command: Callable[..., Told]) -> Callable[..., None]:
    """Hand the command a Source for each file, and print what it tells of all of them; refused
    programs become messages and exit status 1, and do not keep the others from being read."""

    @wraps(command)
    def wrapped(
        *,
        files: tuple[Path, ...],
        definitions: dict[str, int],
        target: str | None,
        as_data: bool,
        form: str,
        **options: Any,  # noqa: ANN401 - whatever else the command declares
    ) -> None:
        how = Form.JSON if as_data else Form(form)
        sources = [Source(file, definitions, target, how) for file in files]
        told: list[Mapping[str, Any]] = []
        found: list[Diagnostic] = []
        good = True
        for source in sources:
            try:
                with shown_on(sys.stderr, wanted=source.is_read_by_people):
                    data, diagnostics = command(source, alone=len(files) == 1, **options)
            except CollcError as error:
                good, diagnostics = False, error.diagnostics
                data = {"diagnostics": list(map(as_json, diagnostics))}
                if source.is_read_by_people:
                    _report(diagnostics, source)
            told.append(data if len(files) == 1 else {"file": source.label} | dict(data))
            found += diagnostics
        if how is Form.SARIF:
            print_sarif(found)
        elif how is Form.JSON:
            print_data(told[0] if len(files) == 1 else {"files": told})
        if not good:
            sys.exit(FAULT)

    return wrapped


def _report(diagnostics: tuple[Diagnostic, ...], source: Source) -> None:
    report(diagnostics, _quoted(diagnostics, source), form=source.form)
    if source.form is Form.HUMAN:
        count = len(diagnostics)
        # of what cannot be written (C502) the message says what that is
        writes = "output" in click.get_current_context().params
        writes = writes and all(one.code != "C502" for one in diagnostics)
        unwritten = "; nothing was written" if writes else ""
        click.echo(f"\n{count} problem{'s' if count > 1 else ''}{unwritten}", err=True)


def _quoted(diagnostics: Iterable[Diagnostic], source: Source) -> dict[str, str]:
    """The texts that messages quote, by file: the file itself and those that it imports."""
    places = (
        place for one in diagnostics for place in (one.at, *(span for span, _ in one.also)) if place
    )
    others = {place.file for place in places} - {PRELUDE_FILE, source.name}
    quoted = {
        file: replace(source, file=Path(file)).quotable()
        for file in sorted(others)
        if Path(file).is_file()
    }
    return quoted | {source.name: source.quotable()}
