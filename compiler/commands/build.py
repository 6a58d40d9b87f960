"""`collc build`: write the CSL of programs, or print a stage on the way to it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from collc.base import version
from collc.base.diagnostics import CollcError, Diagnostic
from collc.base.files import put_text
from collc.commands.directory import FILE, directory, write
from collc.commands.fabric import fabric_options
from collc.commands.output import facts_of, print_decisions, resources_of, warning_facts
from collc.commands.source import (
    STANDARD_INPUT,
    Source,
    Told,
    print_warnings,
    reporting_each,
    sources_options,
)
from collc.driver.bundle import Bundle
from collc.driver.read_back import verify_text
from collc.language.show import show_spec
from collc.lowering.show_program import show_program
from collc.schedule import Schedule
from collc.schedule.data import schedule_as_data
from collc.schedule.show import show_schedule
from collc.spec import Spec
from collc.target.fabric import Wanted

_FRONT: dict[str, Callable[[Spec, tuple[Schedule, ...]], str]] = {
    "spec": lambda spec, _: show_spec(spec),
    "schedule": lambda _, schedules: "\n".join(map(show_schedule, schedules)),
}


def _name(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """`--name NAME`, as a name of the language."""
    if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]{0,99}", value):
        raise click.BadParameter(f"{value!r} is not a name")
    return value


@dataclass(frozen=True)
class _Wanted:
    """What the command line says beside the files."""

    output: Path | None
    name: str | None
    depfile: Path | None
    stamp: Path | None
    listed: bool
    dump: str | None
    unread: bool
    timed: bool
    fabric: Wanted

    def directory(self, source: Source, alone: bool) -> Path:
        """Where the files of a program go; `-o` names the folder above if there are several."""
        own = self.name or source.stem
        if self.output is None:
            return Path("out") / own
        return self.output if alone else self.output / own

    def check(self, alone: bool) -> None:
        """Wrong usage: options that do not go together."""
        if self.dump and (self.output or self.depfile or self.stamp or self.listed):
            raise click.UsageError(
                "--dump writes no files; leave out -o, --depfile, --stamp and --list-outputs"
            )
        if not alone and (self.name or self.depfile or self.stamp):
            raise click.UsageError("--name, --depfile and --stamp are about one FILE")


@click.command()
@sources_options
@click.option(
    "-o", "output", callback=directory, help="Directory for the files; above it, of several FILEs."
)
@click.option(
    "--name", callback=_name, metavar="NAME", help="Call the collective, and its modules, NAME."
)
@click.option("--timed", is_flag=True, help="With time stamps of every PE, which run.py reports.")
@fabric_options
@click.option(
    "--list-outputs", "listed", is_flag=True, help="Print which files there would be, write none."
)
@click.option(
    "--depfile", type=FILE, help="Write what the files depend on here, as a rule of make."
)
@click.option(
    "--stamp",
    type=FILE,
    help="Write this file anew when all is well; files that are the same keep their times.",
)
@click.option(
    "--dump", type=click.Choice(["spec", "schedule", "plan"]), help="Print a stage, write nothing."
)
@click.option(
    "--no-verify-text",
    "unread",
    is_flag=True,
    help="Do not compile the text with fabsim's front end before it is written.",
)
@reporting_each
def command(source: Source, alone: bool, wanted: Wanted, **options: Any) -> Told:  # noqa: ANN401
    """Compile each FILE to CSL in a directory (default: FILE without its suffix, in ./out).

    `-` is standard input. Files that are there already as they would be written are left alone.
    """
    asked = _Wanted(**options, fabric=wanted)
    asked.check(alone)
    if asked.dump in _FRONT and source.is_read_by_people:
        click.echo(_FRONT[asked.dump](*source.prove_all()), nl=False)
        return {}, ()
    source = source.for_target(wanted.target)
    bundle = source.compile(timed=asked.timed, name=asked.name).placed(wanted)
    if asked.dump:
        return _dumped(bundle, asked.dump, source), ()
    if asked.listed:
        return _listed(bundle, asked.directory(source, alone), source), ()
    return _built(bundle, source, asked, asked.directory(source, alone))


def _built(bundle: Bundle, source: Source, asked: _Wanted, directory: Path) -> Told:
    """Write the files, and say so."""
    if not asked.unread:
        verify_text(bundle)
    write(bundle.files, directory)
    if asked.depfile:
        read = [source.file, *map(Path, bundle.spec.imports)]
        _write_depfile(asked.depfile, asked.stamp or directory / "manifest.json", read)
    if asked.stamp:
        _write_stamp(asked.stamp)
    if source.is_read_by_people:
        size = sum(len(text) for text in bundle.files.values())
        files = f"{len(bundle.files)} files, {size} bytes, in {directory}"
        click.echo(f"{files}. {resources_of(bundle)}")
        print_decisions(bundle)
        print_warnings(bundle.warnings, source)
    facts = facts_of(bundle) | warning_facts(bundle)
    return facts | {"directory": str(directory), "outputs": sorted(bundle.files)}, bundle.warnings


def _listed(bundle: Bundle, directory: Path, source: Source) -> dict[str, Any]:
    """Print which files there would be."""
    if source.is_read_by_people:
        click.echo("".join(f"{directory / name}\n" for name in bundle.files), nl=False)
    return {"directory": str(directory), "outputs": sorted(bundle.files)}


def _dumped(bundle: Bundle, stage: str, source: Source) -> dict[str, Any]:
    """Print a stage."""
    text = _text_of(bundle, stage).rstrip("\n") + "\n"
    if source.is_read_by_people:
        click.echo(text, nl=False)
    facts = facts_of(bundle) | {stage: text}
    if stage == "schedule":
        facts["schedules"] = list(map(schedule_as_data, bundle.schedules))
    return facts


def _text_of(bundle: Bundle, stage: str) -> str:
    if stage != "plan":
        return _FRONT[stage](bundle.spec, bundle.schedules)
    return show_program(bundle.program)


def _write_depfile(path: Path, target: Path, sources: Iterable[Path]) -> None:
    """A rule of make: `target` depends on the sources and on this version of collc. Raises
    CollcError where it cannot be written."""
    read = [one for one in sources if one != STANDARD_INPUT]
    needed = " ".join(_escaped(one) for one in (*read, Path(version.__file__)))
    _put(path, f"{_escaped(target)}: {needed}\n")


def _write_stamp(path: Path) -> None:
    """A file whose time says when files were last made sure of. Raises likewise."""
    _put(path, "")


def _put(path: Path, text: str) -> None:
    try:
        put_text(path, text)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or error}"
        help = "name a file in a directory that can be written"
        raise CollcError([Diagnostic("C502", message, None, help=help)]) from error


def _escaped(path: Path) -> str:
    """A path as make and Ninja read it."""
    return re.sub(r"([ #\\])", r"\\\1", str(path)).replace("$", "$$")
