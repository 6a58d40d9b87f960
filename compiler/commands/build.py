"""`collc build`: write the CSL of programs, or print a stage on the way to it."""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from collc.base import version
from collc.base.diagnostics import CollcError, Diagnostic, shown
from collc.base.values import dataclass
from collc.commands.directory import FILE, directory, write, write_file
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
    after: tuple[Path, ...]
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
    "--name", callback=_name, metavar="NAME", help="Call the library NAME, not as the file."
)
@click.option(
    "--after",
    multiple=True,
    metavar="MANIFEST",
    type=click.Path(path_type=Path, exists=True),
    help="Take no color, queue, task or DSR of this library, which is in the same kernel; may be "
    "repeated.",
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
    bundle = source.compile(timed=asked.timed, name=asked.name, after=asked.after)
    bundle = bundle.placed(wanted)
    if asked.dump:
        return _dumped(bundle, asked.dump, source), ()
    if asked.listed:
        return _listed(bundle, asked.directory(source, alone), source), ()
    return _built(bundle, source, asked, asked.directory(source, alone))


def _built(bundle: Bundle, source: Source, asked: _Wanted, directory: Path) -> Told:
    """Write the files, and say so."""
    if not asked.unread:
        verify_text(bundle)
    read = [source.file, *map(Path, bundle.spec.imports)]
    rule = _rule(asked.stamp or directory / "manifest.json", read) if asked.depfile else ""
    write(bundle.files, directory)
    if asked.depfile:
        write_file(asked.depfile, os.fsencode(rule))
    if asked.stamp:
        write_file(asked.stamp, "")  # its time says when files were last made sure of
    if source.is_read_by_people:
        size = sum(len(text) for text in bundle.files.values())
        files = f"{len(bundle.files)} files, {size} bytes, in {shown(directory)}"
        click.echo(f"{files}. {resources_of(bundle)}")
        print_decisions(bundle)
        print_warnings(bundle.warnings, source)
    facts = facts_of(bundle) | warning_facts(bundle)
    return facts | {"directory": shown(directory), "outputs": sorted(bundle.files)}, bundle.warnings


def _listed(bundle: Bundle, directory: Path, source: Source) -> dict[str, Any]:
    """Print which files there would be."""
    if source.is_read_by_people:
        for name in bundle.files:
            click.echo(_listed_name(directory / name))
    return {"directory": shown(directory), "outputs": sorted(bundle.files)}


def _listed_name(path: Path) -> bytes:
    """A name for build systems to read: its own bytes, unless it could be taken for two."""
    name = os.fsencode(path)
    return os.fsencode(shown(path)) if re.search(rb"[\0-\x1f\x7f]", name) else name


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


def _rule(target: Path, sources: Iterable[Path]) -> str:
    """A rule of make: `target` depends on this version of collc and on the sources. Raises
    CollcError where make has no way of writing a name."""
    if "=" in str(target):
        raise _not_for_make(target, "=")
    read = (one for one in sources if one != STANDARD_INPUT)
    # `=` is part of a name behind another word only; in the first it would set a variable
    needed = " ".join(_for_make(one, f"{_SPECIAL}|") for one in (Path(version.__file__), *read))
    return f"{_for_make(target, f'{_SPECIAL}%')}: {needed}\n"


_SPECIAL = " #:*?["  # what a backslash keeps make from taking for itself
_UNWRITABLE = re.compile(
    r"[\0-\x1f\x7f;]"  # ends a line, or the names in it, whatever is before it
    r"|\\(?=[ #:*?[|%])"  # a backslash before another, which not all read alike
    r"|[\\ &]$|^~|^[:+?!]*=|\(.*\)$|^\.[A-Z_]+$"  # a home folder, a member of an archive, ...
)


def _for_make(path: Path, special: str) -> str:
    """A path as GNU make reads it, and Ninja where there is a way for both. Raises CollcError where
    there is none."""
    name = str(path)
    found = _UNWRITABLE.search(name)
    if not found and re.search(r"[*?[]", name):
        found = re.search(r"\\", name)  # in a pattern it would stand for what is behind it
    if found:
        raise _not_for_make(path, found[0])
    return re.sub(f"[{re.escape(special)}]", r"\\\g<0>", name).replace("$", "$$")


def _not_for_make(path: Path, what: str) -> CollcError:
    message = f"{shown(path)} cannot be written in a makefile: it contains `{shown(what)}`"
    help = "rename it, or leave out --depfile"
    return CollcError([Diagnostic("C502", message, None, help=help)])
