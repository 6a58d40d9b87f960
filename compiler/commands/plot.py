"""`collc plot cycles | gap | best`: pictures, and the same as CSV."""

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import click

from collc.base.diagnostics import CollcError, Diagnostic, shown
from collc.commands.directory import write
from collc.commands.output import FAULT, WRONG_RUN, print_data, report
from collc.commands.over import MOST_POINTS, Range, over_of, with_bar
from collc.commands.source import definitions_of
from collc.run import RunError
from collc.target import TARGETS
from collc_research.plot.draw import best_map, curves, ending_of, gap_map, picture, require
from collc_research.plot.points import (
    Point,
    Work,
    measured,
    refuse_other_contracts,
    refuse_sizes,
    subject_of,
)
from collc_research.plot.table import as_csv, point_as_data

_PRINTED = Path("-")


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
@click.option(
    "-D",
    "given",
    multiple=True,
    callback=definitions_of,
    metavar="NAME=VALUE",
    help="A size that stays, such as P=512; may be repeated.",
)
@click.option("--target", type=click.Choice(sorted(TARGETS)), default="wse2", show_default=True)
@click.option("--simulate", is_flag=True, help="Also run every point on fabsim.")
@click.option("-o", "output", type=click.Path(path_type=Path), help="The picture: .png or .svg.")
@click.option(
    "--csv",
    "table",
    type=click.Path(path_type=Path, allow_dash=True),
    help="The same data as CSV; `-` prints it.",
)
@click.option("--json", "as_data", is_flag=True, help="Print the same data as one JSON object.")
def command(  # noqa: PLR0913, PLR0917 - what the command line may say
    what: str,
    subjects: tuple[str, ...],
    ranges: list[Range],
    given: dict[str, int],
    target: str,
    simulate: bool,
    output: Path | None,
    table: Path | None,
    as_data: bool,
) -> None:
    """Draw what patterns and FILEs cost.

    SUBJECTS are .coll files or patterns of `collc list`, such as "two_phase(S = 8)", for P PEs in a
    row (64 unless said) and B elements (256).

    cycles: over one size, lines as predicted, marks as simulated, the bound dashed.

    gap: over two sizes, predicted cycles of the best of them over the bound.

    best: over two sizes, which of them has the fewest predicted cycles.

    What has been run is kept in the user's cache folder, so that an interrupted command goes on
    where it was.
    """
    subjects = tuple(dict.fromkeys(subjects))
    _refuse_sizes(what, [name for name, _ in ranges], given)
    if not (output or table or as_data):
        raise click.UsageError("say where to: -o FILE.svg, --csv FILE.csv, or --json")
    try:
        _refuse_places(output, table)
        points = _measured(subjects, ranges, given, target, simulate)
        if table == _PRINTED:
            click.echo(as_csv(points), nl=False)
        elif table:
            write({table.name: as_csv(points)}, table.parent)
        if output:
            title = _title(what, subjects, given, target)
            drawn = _drawn(what, points, [name for name, _ in ranges], title)
            write({output.name: picture(drawn, output)}, output.parent)
    except CollcError as error:
        report(error.diagnostics, {}, as_data=as_data)
        sys.exit(FAULT)
    except RunError as error:
        click.echo(f"collc: the run failed: {error}", err=True)
        sys.exit(WRONG_RUN)
    if as_data:
        print_data({"points": list(map(point_as_data, points))})
        return
    printed = table == _PRINTED  # what else is said goes beside it then
    written = " and ".join(shown(path) for path in (output, table) if path and path != _PRINTED)
    click.echo(f"{len(points)} points{', in ' * bool(written)}{written}", err=printed)
    for line in _left_out(points):
        click.echo(line, err=printed)


def _refuse_sizes(what: str, over: list[str], given: dict[str, int]) -> None:
    """Wrong usage: too many sizes, too few, or one twice."""
    wanted = 1 if what == "cycles" else 2
    if len(over) != wanted:
        both = "--over P=2..512 --over B=1..8192" if wanted > 1 else "--over B=1..8192"
        raise click.UsageError(f"{what} goes over {wanted} size{'s' * (wanted > 1)}: {both}")
    for name in over:
        if over.count(name) > 1 or name in given:
            raise click.UsageError(f"{name} is given twice")


def _refuse_places(output: Path | None, table: Path | None) -> None:
    """What cannot be drawn or written, found out before anything is measured."""
    if output:
        require()
        ending_of(output)
    for path in (output, table):
        if path and not path.parent.is_dir():
            message = f"there is no directory {shown(path.parent)}"
            help = "make it, or name another"
            raise CollcError([Diagnostic("C502", message, None, help=help)])


def _measured(
    names: Sequence[str],
    ranges: list[Range],
    given: dict[str, int],
    target: str,
    simulate: bool,
) -> list[Point]:
    """All points, on all cores; raises CollcError if a subject has none, RunError."""
    subjects = list(map(subject_of, names))
    refuse_other_contracts(subjects)
    over = [name for name, _ in ranges]
    for subject in subjects:
        refuse_sizes(subject, over, given)
    work = [
        Work(subject, dict(zip(over, values, strict=True)) | given, target, simulate)
        for subject in subjects
        for values in product(*(values for _, values in ranges))
    ]
    if len(work) > MOST_POINTS:
        raise click.UsageError(f"these are {len(work)} points; {MOST_POINTS} are the most")
    points = list(with_bar(measured(work), "measuring", len(work)))
    for name in names:
        _refuse_if_empty(name, [point for point in points if point.subject == name])
    return points


def _refuse_if_empty(name: str, points: list[Point]) -> None:
    if all(point.refused for point in points):
        first = points[0]
        message = f"{name} cannot be had at any of these sizes: {first.refused}: {first.why}"
        help = f"`collc explain {first.refused}` says more"
        raise CollcError([Diagnostic("C702", message, None, help=help)])


def _title(what: str, names: Sequence[str], given: dict[str, int], target: str) -> str:
    words = {
        "cycles": "Cycles",
        "gap": f"Gap to the bound: {', '.join(names)}",
        "best": "The fewest predicted cycles",
    }
    sizes = "".join(f", {name} = {value}" for name, value in given.items())
    return f"{words[what]} on {target}{sizes}"


def _drawn(what: str, points: Sequence[Point], over: list[str], title: str) -> Any:  # noqa: ANN401
    if what == "cycles":
        return curves(points, over[0], title)
    return (gap_map if what == "gap" else best_map)(points, (over[0], over[1]), title)


def _left_out(points: Sequence[Point]) -> Iterator[str]:
    """Which points are missing, by subject and reason, each with the first message."""
    found: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        if point.refused:
            found.setdefault((point.subject, point.refused), []).append(point)
    for (name, code), missing in found.items():
        count = len(missing)
        yield f"  {name}: left out {count}, refused with {code}: {missing[0].why}"
