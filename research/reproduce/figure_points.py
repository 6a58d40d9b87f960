"""The series of the figures, measured: formula, prediction, simulation at every place."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from collc.base.cache import Kept, on_all_cores
from collc.base.values import dataclass
from collc.driver.pipeline import compile_text
from collc.run import RunError
from collc_research.plot.draw import Line, lines, picture
from collc_research.reproduce.figures import FIGURES, Figure


@dataclass(frozen=True)
class Place:
    """A place of a series; `predicted` and `simulated` are 0 where nothing was compiled."""

    figure: str
    series: str
    at: int
    formula: float
    predicted: int = 0
    simulated: int = 0


def wanted(*, quick: bool) -> list[tuple[int, int, int, bool]]:
    """Figure, series, place, and whether it is to be compiled and run."""
    return [
        (
            number,
            index,
            at,
            not quick or (at in figure.quick and not series.is_slow),
        )
        for number, figure in enumerate(FIGURES)
        for index, series in enumerate(figure.series)
        for at in figure.places
    ]


def measured(work: Sequence[tuple[int, int, int, bool]]) -> Iterator[Place]:
    """All places, in order, on all cores; what has been run before is known. Raises CollcError,
    RunError."""
    kept = Kept("reproduce", "figures")

    def known(one: tuple[int, int, int, bool]) -> Place | None:
        fields = kept.get(one)
        return Place(**fields) if fields else None

    def keep(one: tuple[int, int, int, bool], place: Place) -> None:
        if place.simulated:
            kept.keep(one, asdict(place))

    return on_all_cores(_measure, work, known, keep)


def _measure(one: tuple[int, int, int, bool]) -> Place:
    number, index, at, runs = one
    figure = FIGURES[number]
    series = figure.series[index]
    known = (figure.id, series.label, at, series.formula(at))
    if not runs:
        return Place(*known)
    bundle = compile_text(series.program(at), f"figure {figure.id}", {})
    report = bundle.run()
    if not report.verified:
        raise RunError(f"figure {figure.id}, {series.label} at {at}: {report.problem}")
    return Place(*known, bundle.prediction.cycles, report.cycles)


def left_out(places: Sequence[Place]) -> str:
    """How many places of which figures were neither predicted nor simulated; empty if none."""
    skipped: dict[str, int] = {}
    for place in places:
        if not place.simulated:
            skipped[place.figure] = skipped.get(place.figure, 0) + 1
    return ", ".join(f"{count} of figure {figure}" for figure, count in skipped.items())


def files_of(places: Sequence[Place]) -> dict[str, str | bytes]:
    """By name: a picture and a table for each figure, and a page with all of them. Raises
    CollcError without matplotlib."""
    made: dict[str, str | bytes] = {"figures.md": page(places)}
    for figure in FIGURES:
        mine = [place for place in places if place.figure == figure.id]
        name = f"figure_{figure.id.replace('.', '_')}"
        drawn = lines(_title(figure), figure.axis, list(_drawn(mine)), linear=figure.linear)
        made[f"{name}.svg"] = picture(drawn, Path(f"{name}.svg"))
        made[f"{name}.csv"] = _table(mine)
    return made


def _title(figure: Figure) -> str:
    return f"Figure {figure.id}: {figure.title} (lines: model, dots: predicted, marks: simulated)"


def _drawn(places: Sequence[Place]) -> Iterator[Line]:
    for name in dict.fromkeys(place.series for place in places):
        mine = [place for place in places if place.series == name]
        yield Line(name, [place.at for place in mine], [place.formula for place in mine])
        run = [place for place in mine if place.simulated]
        where = [place.at for place in run]
        yield Line(name, where, [place.predicted for place in run], "predicted")
        yield Line(name, where, [place.simulated for place in run], "simulated")


def _table(places: Sequence[Place]) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("figure", "series", "at", "formula", "predicted", "simulated"))
    for place in places:
        known = (place.predicted or "", place.simulated or "")
        rows.writerow((place.figure, place.series, place.at, f"{place.formula:g}", *known))
    return text.getvalue()


HEAD = (
    "# The thesis' figures, simulated",
    "",
    "Made by `collc reproduce --figures docs/figures`. Each cell: cycles by the thesis' formula /",
    "predicted for what is emitted / **simulated on fabsim** (WSE-2, f32, every result checked).",
    "What is emitted takes a start-up that the formulas leave out.",
    "Figure 7.6: here columns and row are reduced, then the grid is told; the source does an",
    "allreduce of each column, then of each row. Rings: the source lets a PE send and store an",
    "element in one cycle, and begins a step for free; what is emitted begins a step in some 80 to",
    "200 cycles. The same numbers are in the CSV files beside the pictures.",
)


def page(places: Sequence[Place]) -> str:
    """The numbers as a page: for each figure a table, a row for each place."""
    sections = (f"\n{_section(figure, places)}" for figure in FIGURES)
    return "\n".join(HEAD) + "\n" + "".join(sections)


def _section(figure: Figure, places: Sequence[Place]) -> str:
    mine = [place for place in places if place.figure == figure.id]
    names = list(dict.fromkeys(place.series for place in mine))
    picture = f"figure_{figure.id.replace('.', '_')}.svg"
    head = [f"## Figure {figure.id}: {figure.title}", "", f"![{figure.title}]({picture})", ""]
    head.append(f"| {figure.axis.partition(':')[0]} | " + " | ".join(names) + " |")
    head.append("|---" * (len(names) + 1) + "|")
    at = {(place.series, place.at): place for place in mine}
    for where in figure.places:
        cells = " | ".join(_cell(at[name, where]) for name in names)
        head.append(f"| {where} | {cells} |")
    return "\n".join(head) + "\n"


def _cell(place: Place) -> str:
    if not place.simulated:
        return f"{place.formula:g}"
    return f"{place.formula:g} / {place.predicted} / **{place.simulated}**"
