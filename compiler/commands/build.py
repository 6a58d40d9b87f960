"""`collc build`: write the CSL of a program, or print a stage on the way to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from collc.commands.directory import directory, write
from collc.commands.fabric import fabric_options
from collc.commands.output import facts_of, print_data, print_decisions, resources_of, warning_facts
from collc.commands.source import Source, print_warnings, reporting, source_options
from collc.driver.bundle import Bundle, ProgramBundle
from collc.driver.read_back import verify_text
from collc.language.show import show_spec
from collc.lowering.show_program import show_program
from collc.plan.show import show_plan
from collc.schedule import Schedule
from collc.schedule.data import schedule_as_data
from collc.schedule.show import show_schedule
from collc.spec import Spec
from collc.target.fabric import Wanted

_FRONT: dict[str, Callable[[Spec, tuple[Schedule, ...]], str]] = {
    "spec": lambda spec, _: show_spec(spec),
    "schedule": lambda _, schedules: "\n".join(map(show_schedule, schedules)),
}


@click.command()
@source_options
@click.option("-o", "output", callback=directory, help="Directory for the files.")
@click.option("--timed", is_flag=True, help="With time stamps of every PE, which run.py reports.")
@fabric_options
@click.option(
    "--dump", type=click.Choice(["spec", "schedule", "plan"]), help="Print a stage, write nothing."
)
@click.option(
    "--no-verify-text",
    "unread",
    is_flag=True,
    help="Do not compile the text with fabsim's front end before it is written.",
)
@reporting
def command(  # noqa: PLR0913, PLR0917 - what the command line may say
    source: Source, output: Path | None, dump: str | None, unread: bool, timed: bool, wanted: Wanted
) -> None:
    """Compile FILE to CSL in a directory (default: FILE without its suffix, in ./out)."""
    if dump and output:
        raise click.UsageError("--dump writes no files; leave out -o")
    if dump in _FRONT and not source.as_data:
        click.echo(_FRONT[dump](*source.prove_all()), nl=False)
        return
    source = source.for_target(wanted.target)
    bundle = source.compile(timed=timed).placed(wanted)
    if dump:
        _print_dump(bundle, dump, source)
        return
    if not unread:
        verify_text(bundle)
    directory = output or Path("out") / source.file.stem
    write(bundle.files, directory)
    if source.as_data:
        print_data(facts_of(bundle) | warning_facts(bundle) | {"directory": str(directory)})
        return
    size = sum(len(text) for text in bundle.files.values())
    click.echo(f"{len(bundle.files)} files, {size} bytes, in {directory}. {resources_of(bundle)}")
    print_decisions(bundle)
    print_warnings(bundle.warnings, source)


def _print_dump(bundle: Bundle | ProgramBundle, stage: str, source: Source) -> None:
    text = _dumped(bundle, stage).rstrip("\n") + "\n"
    if source.as_data:
        facts = facts_of(bundle) | {stage: text}
        if stage == "schedule":
            facts["schedules"] = list(map(schedule_as_data, bundle.schedules))
        print_data(facts)
    else:
        click.echo(text, nl=False)


def _dumped(bundle: Bundle | ProgramBundle, stage: str) -> str:
    if stage != "plan":
        return _FRONT[stage](bundle.spec, bundle.schedules)
    if isinstance(bundle, ProgramBundle):
        return show_program(bundle.plan)
    return show_plan(bundle.plan)
