"""`collc plot cycles | gap | best`: pictures, and the same as CSV."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from collc.commands.output import FAULT, WRONG_RUN
from collc.diagnostics import CollcError, Diagnostic
from collc.plot.draw import best_map, curves, gap_map, require, save
from collc.plot.points import Point, Subject, measure, subject_of
from collc.plot.table import as_csv
from collc.run import RunError
from collc.show import render
from collc.target import TARGETS

Range = tuple[str, tuple[int, ...]]
_RANGE = re.compile(r"(\w+)=(?:(\d{1,9})\.\.(\d{1,9})(?::(\d{1,9}))?|(\d{1,9}(?:,\d{1,9})*))")
_MOST_POINTS = 100_000


def over_of(text: str) -> Range:
    """`B=1..8192` (doubling, the last included), `B=1..100:10` (in steps), `B=1,5,9`."""
    found = _RANGE.fullmatch(text.replace(" ", ""))
    if not found:
        raise click.BadParameter(f"{text!r} is not NAME=FIRST..LAST, such as B=1..8192")
    name, first, last, step, listed = found.groups()
    if listed:
        return name, tuple(sorted({int(number) for number in listed.split(",")}))
    low, high = int(first), int(last)
    if not 0 < low <= high or step == "0":
        raise click.BadParameter(f"{text!r} has to go from a number above 0 to a larger one")
    if step:
        values = range(low, high + 1, int(step))
        if len(values) > _MOST_POINTS:
            raise click.BadParameter(f"{text!r} has {len(values)} values")
        return name, tuple(values)
    doubling = [low << count for count in range((high // low).bit_length())]
    return name, tuple(sorted({*doubling, high}))


def _ranges(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[Range]:
    return [over_of(value) for value in values]


@click.command()
@click.argument("what", type=click.Choice(["cycles", "gap", "best"]))
@click.argument("subjects", nargs=-1, required=True)
@click.option(
    "--over",
    "ranges",
    multiple=True,
    callback=_ranges,
    metavar="NAME=FIRST..LAST",
    help="What to vary, doubling; FIRST..LAST:STEP in steps; A,B,C for a list. Cycles take one, "
    "the maps two.",
)
@click.option("-D", "given", multiple=True, callback=_ranges, metavar="NAME=VALUE", help="A size.")
@click.option("--target", type=click.Choice(sorted(TARGETS)), default="wse2", show_default=True)
@click.option("--simulate", is_flag=True, help="Also run every point on fabsim.")
@click.option("-o", "output", type=click.Path(path_type=Path), help="The picture: .png or .svg.")
@click.option("--csv", "table", type=click.Path(path_type=Path), help="The same data as CSV.")
def command(  # noqa: PLR0913, PLR0917 - what the command line may say
    what: str,
    subjects: tuple[str, ...],
    ranges: list[Range],
    given: list[Range],
    target: str,
    simulate: bool,
    output: Path | None,
    table: Path | None,
) -> None:
    """Draw what patterns and FILEs cost.

    SUBJECTS are .coll files or patterns of `collc list`, such as "two_phase(S = 8)".

    cycles: cycles over one size, lines as predicted, marks as simulated, the bound dashed.
    gap: cycles over the bound, of the best of them, over two sizes.
    best: which of them is the fastest, over two sizes.
    """
    wanted = 1 if what == "cycles" else 2
    if len({name for name, _ in ranges}) != wanted:
        raise click.UsageError(
            f"{what} goes over {wanted} size{'s' * (wanted > 1)}: --over B=1..8192"
        )
    if not (output or table):
        raise click.UsageError("say where to: -o FILE.svg, --csv FILE.csv, or both")
    try:
        if output:
            require()
        points = _measured(subjects, ranges, given, target, simulate)
        if table:
            table.write_text(as_csv(points), encoding="utf-8")
        if output:
            title = _title(what, subjects, given, target)
            save(_drawn(what, points, [name for name, _ in ranges], title), output)
    except CollcError as error:
        click.echo("\n".join(render(d, {}) for d in error.diagnostics), err=True, nl=False)
        sys.exit(FAULT)
    except RunError as error:
        click.echo(f"collc: the run failed: {error}", err=True)
        sys.exit(WRONG_RUN)
    written = " and ".join(str(path) for path in (output, table) if path)
    click.echo(f"{len(points)} points, in {written}")
    for line in _left_out(points):
        click.echo(line)


def _measured(
    names: Sequence[str], ranges: list[Range], given: list[Range], target: str, simulate: bool
) -> list[Point]:
    """All points, on all cores; raises CollcError if a subject has none, RunError."""
    sizes = [*ranges, *given]
    work = [
        (subject, dict(zip([name for name, _ in sizes], values, strict=True)))
        for subject in map(subject_of, names)
        for values in product(*(values for _, values in sizes))
    ]
    if len(work) > _MOST_POINTS:
        raise click.UsageError(f"these are {len(work)} points; {_MOST_POINTS} are the most")
    console = Console(stderr=True)
    one = partial(_one, target=target, simulate=simulate)
    with Pool(min(len(work), os.cpu_count() or 1)) as pool:
        running = pool.imap(one, work)
        shown = track(
            running, "measuring", len(work), console=console, disable=not console.is_terminal
        )
        points = list(shown)
    for name in names:
        _refuse_if_empty(name, [point for point in points if point.subject == name])
    return points


def _one(work: tuple[Subject, dict[str, int]], target: str, simulate: bool) -> Point:
    return measure(*work, target, simulate)


def _refuse_if_empty(name: str, points: list[Point]) -> None:
    if all(point.refused for point in points):
        code = points[0].refused
        message = f"{name} cannot be had at any of these sizes: {code}"
        help = f"`collc explain {code}` says what that is; `collc check` says where"
        raise CollcError([Diagnostic("C702", message, None, help=help)])


def _title(what: str, names: Sequence[str], given: list[Range], target: str) -> str:
    words = {
        "cycles": "Cycles",
        "gap": f"Gap to the bound: {', '.join(names)}",
        "best": "The fewest predicted cycles",
    }
    sizes = "".join(f", {name} = {', '.join(map(str, values))}" for name, values in given)
    return f"{words[what]} on {target}{sizes}"


def _drawn(what: str, points: Sequence[Point], over: list[str], title: str) -> Any:  # noqa: ANN401
    if what == "cycles":
        return curves(points, over[0], title)
    return (gap_map if what == "gap" else best_map)(points, (over[0], over[1]), title)


def _left_out(points: Sequence[Point]) -> Iterator[str]:
    """Which points are missing, by subject and reason."""
    counts: dict[tuple[str, str], int] = {}
    for point in points:
        if point.refused:
            key = (point.subject, point.refused)
            counts[key] = counts.get(key, 0) + 1
    for (name, code), count in counts.items():
        yield f"  {name}: left out {count}, refused with {code}"
