"""`collc view`: one page with the plan, what is predicted, and what a run did."""

import re
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import click

from collc.base.diagnostics import CollcError, printable, shown
from collc.commands.directory import FILE, write_file
from collc.commands.output import FAULT, WRONG_RUN, print_data, report
from collc.commands.source import Source, definitions_of, reporting, source_options
from collc.driver.bundle import Bundle
from collc.view import VIEWS, Observed, Page, PictureError, Scope, page_of, picture, watched_run

_MOST_PROGRAMS = 36  # that a page chooses from
_MOST_OF_A_LESSON = 1 << 22  # bytes
_MOST_RECORDED = 20_000_000  # PEs times cycles: a trace takes 1 to 25 bytes for each


def _numbers(text: str | None, count: int, separator: str, form: str) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = text.split(separator)
    if len(parts) != count or not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise click.BadParameter(f"{text!r} is not {form}")
    return tuple(map(int, parts))


def _region(
    _: click.Context, __: click.Parameter, text: str | None
) -> tuple[int, int, int, int] | None:
    found = _numbers(text, 4, ",", "X,Y,WIDTH,HEIGHT")
    return (found[0], found[1], found[2], found[3]) if found else None


def _window(_: click.Context, __: click.Parameter, text: str | None) -> tuple[int, int] | None:
    found = _numbers(text, 2, ":", "FIRST:LAST")
    if found and found[1] < found[0]:
        raise click.BadParameter(f"{text!r} ends before it begins")
    return (found[0], found[1]) if found else None


def _ranges(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for text in values:
        said = re.fullmatch(r" *([A-Za-z_]\w*) *= *([0-9]{1,6}(?: *, *[0-9]{1,6})*) *", text)
        if not said or said[1] in found:
            raise click.BadParameter(f"{text!r} is not NAME=N,N,... of a name not given before")
        found[said[1]] = tuple(dict.fromkeys(map(int, said[2].split(","))))
    return found


@click.command()
@source_options
@click.argument("other", required=False, type=click.Path(path_type=Path))
@click.option(
    "--with",
    "changed",
    multiple=True,
    callback=definitions_of,
    metavar="NAME=VALUE",
    help="Compare with OTHER, or with FILE again, whose parameters are these and else those of -D.",
)
@click.option(
    "--over",
    "ranges",
    multiple=True,
    callback=_ranges,
    metavar="NAME=N,N,...",
    help="Values of a parameter to choose from in the page; all combinations are run.",
)
@click.option(
    "--lesson",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A Markdown file that the page shows beside the program.",
)
@click.option(
    "-o",
    "output",
    type=FILE,
    help="The page; without it and --png it is FILE's name with .html, in this directory.",
)
@click.option("--png", type=FILE, help="A picture of it; needs Chromium or Chrome.")
@click.option("--view", "view", type=click.Choice(VIEWS), help="What the picture shows.")
@click.option("--dark", is_flag=True, help="The picture on dark ground.")
@click.option("--no-run", "unrun", is_flag=True, help="Show the plan and the prediction only.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--region", callback=_region, metavar="X,Y,WIDTH,HEIGHT", help="Record these PEs.")
@click.option("--window", callback=_window, metavar="FIRST:LAST", help="Record these cycles.")
@reporting
def command(  # noqa: PLR0913, PLR0917 - as many as there are options
    source: Source,
    other: Path | None,
    changed: dict[str, int],
    ranges: dict[str, tuple[int, ...]],
    lesson: Path | None,
    output: Path | None,
    png: Path | None,
    view: str | None,
    dark: bool,
    unrun: bool,
    seed: int,
    region: tuple[int, int, int, int] | None,
    window: tuple[int, int] | None,
) -> None:
    """Show FILE in a page of its own: routes, motion, time lines, waits.

    The program is run on fabsim, and the page holds what happened. With OTHER, or with --with, two
    programs are compared on one axis of cycles; with --over a reader chooses among many.
    """
    sources = _sources(source, other, changed, ranges)
    scope = Scope(region, window)
    seen = [_observed(one, None if unrun else seed, scope, source) for one in sources]
    texts = [one.text for one in sources]
    told = _text_of(lesson) if lesson else ""
    made = page_of([(*one, text) for one, text in zip(seen, texts, strict=True)], told)
    if output is None and png is None:
        output = Path(f"{source.file.stem}.html")
    _write(made, output, png, view or "", dark)
    _report(source, seen, output, png)
    if not unrun and any(run.problem or (run.report and run.report.problem) for _, run in seen):
        sys.exit(WRONG_RUN)


def _text_of(lesson: Path) -> str:
    """What a lesson says; wrong usage where it is no text."""
    try:
        with lesson.open("rb") as file:
            data = file.read(_MOST_OF_A_LESSON + 1)
        if len(data) > _MOST_OF_A_LESSON:
            raise click.UsageError(f"{shown(lesson)} has more than {_MOST_OF_A_LESSON} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise click.UsageError(f"cannot read {shown(lesson)}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{shown(lesson)} is not UTF-8 text") from None


def _sources(
    source: Source, other: Path | None, changed: dict[str, int], ranges: dict[str, tuple[int, ...]]
) -> list[Source]:
    """What the page shows: the program, another one to compare with, or all combinations."""
    if not ranges:
        if other is None and not changed:
            return [source]
        given = source.definitions | changed
        return [source, replace(source, file=other or source.file, definitions=given)]
    if other is not None or changed:
        raise click.UsageError("--over is about one program; leave out OTHER and --with")
    found = [dict(zip(ranges, values, strict=True)) for values in product(*ranges.values())]
    if len(found) > _MOST_PROGRAMS:
        raise click.UsageError(f"{len(found)} combinations are more than {_MOST_PROGRAMS}")
    return [replace(source, definitions=source.definitions | given) for given in found]


def _observed(
    source: Source, seed: int | None, scope: Scope, first: Source
) -> tuple[Bundle, Observed]:
    """A program and its run, if it is run; of one at fault the messages, and no return."""
    try:
        bundle = source.compile()
    except CollcError as error:
        if source is first:
            raise
        report(error.diagnostics, {source.name: source.quotable()}, as_data=source.as_data)
        sys.exit(FAULT)
    if seed is None:
        return bundle, Observed()
    too_many = _too_many(bundle, scope)
    return bundle, Observed(note=too_many) if too_many else watched_run(bundle, seed, scope)


def _too_many(bundle: Bundle, scope: Scope) -> str:
    """Why a run is not recorded; empty where it can be."""
    width, height = scope.region[2:] if scope.region else bundle.size
    cycles = bundle.prediction.cycles
    if scope.window is not None:
        cycles = min(cycles, scope.window[1] - scope.window[0] + 1)
    if width * height * cycles <= _MOST_RECORDED:
        return ""
    return (
        f"Not run: {width} x {height} PEs for {cycles} cycles are too much to record. "
        "`--region X,Y,WIDTH,HEIGHT` records some PEs, `--window FIRST:LAST` some cycles."
    )


def _write(made: Page, output: Path | None, png: Path | None, view: str, dark: bool) -> None:
    if output is not None:
        write_file(output, made.html)
    if png is not None:
        try:
            drawn = picture(made, view, dark=dark)
        except PictureError as error:
            click.echo(f"collc: {printable(str(error))}", err=True)
            sys.exit(FAULT)
        write_file(png, drawn)


def _report(
    source: Source,
    seen: list[tuple[Bundle, Observed]],
    output: Path | None,
    png: Path | None,
) -> None:
    written = [shown(path) for path in (output, png) if path is not None]
    if source.as_data:
        runs = [
            {
                "file": shown(bundle.spec.file),
                "params": {p.name: p.value for p in bundle.spec.parameters},
                "predicted_cycles": bundle.prediction.cycles,
                "cycles": run.report.cycles if run.report else None,
                "problem": run.problem or (run.report.problem if run.report else ""),
                "note": run.note,
            }
            for bundle, run in seen
        ]
        print_data({"written": written, "programs": runs})
        return
    for _, run in seen:
        said = run.note or run.problem or (run.report.problem if run.report else "")
        if said:
            click.echo(f"collc: {printable(said)}", err=True)
    click.echo("\n".join(written))
