"""`collc sweep`: one file at many sizes, judged here or on a cluster."""

import csv
import io
import os
import sys
from collections import Counter
from dataclasses import asdict
from typing import Any

import click

from collc.base.table import aligned
from collc.commands.output import FAULT, WRONG_RUN, print_data
from collc.commands.over import MOST_POINTS, over_of, with_bar
from collc.commands.source import STANDARD_INPUT, Source, reporting, source_options
from collc.sweep import (
    EXECUTORS,
    FAILED,
    ExecutorError,
    Point,
    Sweep,
    Verdict,
    executor_of,
    points_of,
)
from collc.target import TARGETS


def _ranges(
    _: click.Context, __: click.Parameter, given: tuple[str, ...]
) -> dict[str, tuple[int, ...]]:
    over = dict(map(over_of, given))
    if len(over) < len(given):
        raise click.BadParameter("a parameter is given twice")
    return over


@click.command()
@source_options
@click.option(
    "--over",
    multiple=True,
    required=True,
    callback=_ranges,
    metavar="NAME=VALUES",
    help="A parameter and its values: 4,8,16, or 1..64 (doubled), or 1..64:3 (in steps); repeated.",
)
@click.option(
    "--on",
    default="local",
    show_default=True,
    help=f"Where to run: {', '.join(EXECUTORS)}.",
)
@click.option("--all-targets", is_flag=True, help="For every target.")
@click.option("--repeats", type=click.IntRange(1, 100), default=1, help="Launches on one load.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV.")
@click.option("--fresh", is_flag=True, help="Judge again what has been judged.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 4096),
    default=os.cpu_count() or 1,
    help="Points at the same time.",
)
@reporting
def command(  # noqa: PLR0913, PLR0917 - as many as there are options
    source: Source,
    over: dict[str, tuple[int, ...]],
    on: str,
    all_targets: bool,
    repeats: int,
    as_csv: bool,
    fresh: bool,
    jobs: int,
) -> None:
    """Compile and run FILE at every combination of sizes: verified, refused by which message, or
    failed; with cycles, prediction and bound.

    Verdicts are kept in the user's cache folder: an interrupted sweep goes on where it was. They
    and their order are the same wherever they are found.
    """
    asked = _sweep(source, over, all_targets, repeats, fresh)
    try:
        left = len(asked.points) - asked.known
        for point, verdict in with_bar(asked.run(executor_of(on, jobs)), "judging", left):
            if verdict.verdict == FAILED and not source.as_data:
                click.echo(f"{_named(point)}: {verdict.message}", err=True)
    except ExecutorError as error:
        click.echo(f"collc: {error}", err=True)
        sys.exit(FAULT)
    found = asked.verdicts()
    if source.as_data:
        rows = [_as_data(point, verdict) for point, verdict in found]
        print_data({"file": source.label, "over": list(over), "rows": rows})
    else:
        click.echo(_as_csv(found) if as_csv else _as_table(found), nl=False)
    if any(verdict.verdict == FAILED for _, verdict in found):
        sys.exit(WRONG_RUN)


def _sweep(
    source: Source, over: dict[str, tuple[int, ...]], all_targets: bool, repeats: int, fresh: bool
) -> Sweep:
    if source.file == STANDARD_INPUT:
        raise click.UsageError("workers read the file again: name one")
    both = sorted(set(over) & set(source.definitions))
    if both:
        raise click.UsageError(f"{both[0]} is what --over varies; leave out -D {both[0]}=...")
    if all_targets and source.target:
        raise click.UsageError("--target or --all-targets")
    count = 1
    for values in over.values():
        count *= len(values)
    if not 0 < count <= MOST_POINTS:
        raise click.UsageError(f"{count} points: 1 to {MOST_POINTS} can be asked for")
    _ = source.text  # a file that is not there is wrong usage
    targets = sorted(TARGETS) if all_targets else [source.target]
    points = points_of(source.file, over, source.definitions, targets, repeats)
    return Sweep(list(points), fresh=fresh)


def _named(point: Point) -> str:
    values = [f"{name} = {value}" for name, value in point.values]
    return ", ".join([*values, *([point.target] if point.target else [])])


def _as_data(point: Point, verdict: Verdict) -> dict[str, Any]:
    return {"params": dict(point.values), "target": point.target, **asdict(verdict)}


def _cells(point: Point, verdict: Verdict) -> dict[str, str]:
    target = {"target": point.target} if point.target else {}
    row = dict(point.values) | target | asdict(verdict)
    return {name: str(value) for name, value in row.items()}


def _as_csv(found: list[tuple[Point, Verdict]]) -> str:
    rows = [_cells(*one) for one in found]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _as_table(found: list[tuple[Point, Verdict]]) -> str:
    rows = [_cells(*one) for one in found]
    heads = {name: name.removesuffix("_cycles").removesuffix("_bytes") for name in rows[0]}
    lines = [heads, *({n: "" if v == "0" else v for n, v in row.items()} for row in rows)]
    names = sorted(heads, key=lambda name: name == "message")
    words = ("target", "verdict", "code", "message")
    numbers = [i for i, name in enumerate(names) if name not in words]
    table = aligned([[line[name] for name in names] for line in lines], right=numbers)
    counts = Counter(verdict.verdict for _, verdict in found)
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return "\n".join((*table, told, ""))
