"""`collc run --on`: one program on several back ends, and the table of what they make of it."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from collc.backends import BACK_ENDS, Settings
from collc.backends.compare import Place, Row, Trial, differing, tried
from collc.base.diagnostics import CollcError
from collc.base.table import aligned
from collc.base.values import dataclass
from collc.commands.directory import write
from collc.commands.output import FAULT, WRONG_RUN, facts_of, predicted_facts, print_data
from collc.commands.source import Source
from collc.driver.bundle import Bundle
from collc.emit.clock import HOP, LATE_CYCLES, STAMP
from collc.plan.dynamic_lengths import Lengths, checked_lengths
from collc.target import TARGETS
from collc.target.fabric import MACHINES, Wanted, fabric_of, machine_of


@dataclass(frozen=True)
class Asked:
    """What the options of `collc run` say about back ends: their names, their tools, and by how
    much cycles may differ from the prediction, as a part of it."""

    names: tuple[str, ...]
    settings: Settings
    tolerance: float


@dataclass(frozen=True)
class Runs:
    """How a program is run: the seed of its input, launches on one load, cycles that PEs begin
    late at most from the second on (None: as run.py has it), and lengths."""

    seed: int
    launches: int
    late: int | None
    lengths: tuple[tuple[str, tuple[int, ...]], ...]


def back_end_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options about back ends, given to the command as one `asked`."""

    @wraps(command)
    def wrapped(  # noqa: PLR0913 - as many as there are options
        *positional: Any,  # noqa: ANN401 - whatever else the command declares
        names: tuple[str, ...],
        sdk: Path | None,
        client_python: str | None,
        cmaddr: str | None,
        keep: Path | None,
        timeout: float | None,
        tolerance: float,
        **options: Any,  # noqa: ANN401
    ) -> None:
        machine = options["wanted"].machine in MACHINES
        settings = Settings(sdk, client_python, machine, cmaddr, keep, timeout)
        asked = Asked(tuple(dict.fromkeys(names)), settings, tolerance / 100)
        command(*positional, asked=asked, **options)

    made: Callable[..., None] = wrapped
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


TOOL_OPTIONS = (
    click.option(
        "--sdk",
        type=click.Path(path_type=Path),
        help="Folder of the SDK with cslc and cs_python; else COLLC_SDK, else PATH.",
    ),
    click.option(
        "--client-python",
        metavar="PYTHON",
        help="A Python 3.11 with the appliance's client package, cerebras_sdk; else this one.",
    ),
    click.option("--cmaddr", metavar="IP:PORT", help="The system of `--on cs`."),
    click.option(
        "--keep",
        type=click.Path(path_type=Path, file_okay=False),
        help="Keep files, logs and traces of the back ends there.",
    ),
    click.option(
        "--timeout", type=click.FloatRange(1), metavar="S", help="End a command after S seconds."
    ),
)
"""Where the tools of a back end are, and how they are used."""

_OPTIONS = (
    click.option(
        "--on",
        "names",
        type=click.Choice(list(BACK_ENDS)),
        multiple=True,
        help="Run there, by the emitted run.py, and compare; may be repeated. Else on fabsim.",
    ),
    *TOOL_OPTIONS,
    click.option(
        "--tolerance",
        type=click.FloatRange(0),
        default=5.0,
        show_default=True,
        metavar="PERCENT",
        help="By how much cycles on back ends may differ from the prediction.",
    ),
)


def run_on(source: Source, asked: Asked, wanted: Wanted, runs: Runs, output: Path | None) -> None:
    """Run one of the texts of a program on all back ends that are asked for, and print a table.
    Exits with 3 where results or cycles differ, with 1 where nothing could be run."""
    bundle, untimed = _with_time_stamps(source)
    if output:
        write(bundle.placed(wanted).files, output)
    lengths = _lengths(bundle, runs)
    prediction = bundle.predicted(lengths)
    target = bundle.spec.target
    trial = Trial(bundle.files, target, prediction.cycles, 0 if untimed else STAMP[target])
    # Where the program cannot let PEs begin late itself, the simulator does.
    late = LATE_CYCLES if runs.late is None else runs.late
    settings = replace(asked.settings, late_cycles=late if untimed else 0)
    rows = tried(trial, list(_places(asked, bundle, wanted, runs, lengths)), settings)
    wrong = differing(rows, asked.tolerance)
    facts = facts_of(bundle) | predicted_facts(prediction)
    if source.as_data:
        rows_as_data = list(map(asdict, rows))
        print_data(facts | {"back_ends": rows_as_data, "differs": wrong, "untimed": untimed})
    else:
        _print_table(facts, rows, untimed)
        for what in wrong:
            click.echo(f"collc: {what}", err=True)
    if wrong:
        sys.exit(WRONG_RUN)
    if all(row.result == "skipped" for row in rows):
        click.echo("collc: nothing was run", err=True)
        sys.exit(FAULT)


def _with_time_stamps(source: Source) -> tuple[Bundle, str]:
    """The program with time stamps; without, and why, where nothing is left for them."""
    try:
        return source.compile(timed=True), ""
    except CollcError as error:
        return source.compile(), error.diagnostics[0].message


def _lengths(bundle: Bundle, runs: Runs) -> Lengths:
    """One length or root of each name for all rounds, as run.py takes it: the longest and the first
    rank if none is given.
    Raises UsageError where rounds differ, and CollcError as `checked_lengths`."""
    program = bundle.program.program
    given = checked_lengths(program, runs.lengths)
    if any(len(set(of_rounds)) > 1 for of_rounds in given.values()):
        raise click.UsageError("--on takes one length for all rounds")
    most = dict(program.lengths) | dict.fromkeys(dict(program.roots), 0)
    return {name: given.get(name, (n,) * program.rounds) for name, n in most.items()}


def _places(
    asked: Asked, bundle: Bundle, wanted: Wanted, runs: Runs, lengths: Lengths
) -> Iterator[Place]:
    """The back ends, each with its fabric, for a system that of the machine, and with what run.py
    is told there."""
    arguments = ["--seed", str(runs.seed), "--launches", str(runs.launches)]
    for name, of_rounds in lengths.items():
        arguments += [f"--{name}", str(of_rounds[0])]
    for name in asked.names:
        fabric = fabric_of(bundle.size, TARGETS[bundle.spec.target], _wanted(name, bundle, wanted))
        told = [*arguments, *(_timed(name, bundle, runs) if bundle.spec.time_stamps else ())]
        yield Place(name, fabric, tuple(told))


def _wanted(name: str, bundle: Bundle, wanted: Wanted) -> Wanted:
    """The fabric of a back end: `--machine` is for those that may be one."""
    if name in {"fabsim", "simfabric"}:
        return replace(wanted, machine=None)
    if name == "cs" and wanted.machine is None:
        return replace(wanted, machine=machine_of(bundle.spec.target))
    return wanted


def _timed(name: str, bundle: Bundle, runs: Runs) -> Iterator[str]:
    """What run.py is told about time stamps: a hop of fabsim's own clock is one cycle."""
    own_clock = name == "fabsim" and os.environ.get("FABSIM_TIMING", "streams") == "streams"
    yield from ("--hop", str(1 if own_clock else HOP[bundle.spec.target]))
    if runs.late is not None:
        yield from ("--late", str(runs.late))


_HEAD = ("back end", "compiled", "result", "cycles", "of prediction", "starts within")


def _print_table(facts: Mapping[str, Any], rows: list[Row], untimed: str) -> None:
    click.echo(
        f"{facts['file']} on {facts['target']}, predicted {facts['predicted_cycles']} cycles"
    )
    for line in aligned([_HEAD, *map(_cells, rows)]):
        click.echo(f"  {line}")
    for row in rows:
        if row.tools:
            click.echo(f"  {row.on}: {row.tools}")
        if row.result == "skipped":
            click.echo(f"  {row.on} was skipped: {row.why}")
    if untimed:
        click.echo(f"  no cycles: {untimed}")


def _cells(row: Row) -> tuple[str, ...]:
    compiled = {"skipped": "-", "refused": "no"}.get(row.result, "yes")
    result = {"refused": "-"}.get(row.result, row.result)
    cycles = "-" if row.cycles is None else str(row.cycles)
    against = "-" if row.against is None else f"{row.against:+.1%}"
    within = "-" if row.starts_within is None else str(row.starts_within)
    return row.on, compiled, result, cycles, against, within
