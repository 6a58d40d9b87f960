"""The pictures, by matplotlib, which is optional. The same points give the same bytes."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from collc.base.diagnostics import CollcError, Diagnostic, shown
from collc.base.values import dataclass
from collc_research.plot.points import Point

_SIZE = (8.0, 5.0)  # inches
_MARKERS = "osv^D<>ph*"
_MOST_NUMBERS = 400  # cells of a map that still have room for a number


_LOOKS: dict[str, Callable[[str], dict[str, Any]]] = {
    "model": lambda marker: {},
    "predicted": lambda marker: {"linestyle": "none", "marker": ".", "ms": 4},
    "simulated": lambda marker: {
        "linestyle": "none",
        "marker": marker,
        "ms": 7,
        "markerfacecolor": "none",
    },
}


@dataclass(frozen=True)
class Line:
    """Values over a number; `style` is "model" (a line), "predicted" (small dots), "simulated"
    (marks) or "bound" (dashes)."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: str = "model"


def ending_of(path: Path) -> str:
    """The format of a picture, as its name says; raises CollcError."""
    ending = path.suffix.lower()
    if ending not in (".png", ".svg"):
        help = "name a .png or an .svg file"
        raise CollcError([Diagnostic("C702", f"cannot draw {shown(path)}", None, help=help)])
    return ending


def picture(figure: Any, path: Path) -> bytes:  # noqa: ANN401 - matplotlib's, see `_figure`
    """The file of a picture with this name; raises CollcError."""
    ending = ending_of(path)
    metadata = {"Software": None} if ending == ".png" else {"Date": None, "Creator": None}
    drawn = io.BytesIO()
    figure.savefig(drawn, format=ending[1:], metadata=metadata, dpi=110)
    return drawn.getvalue()


def lines(title: str, across: str, drawn: Sequence[Line], *, linear: bool = False) -> Any:  # noqa: ANN401
    """Lines in one picture; those with one label have one color."""
    figure, axes = _figure(title)
    labels = list(dict.fromkeys(one.label for one in drawn if one.style != "bound"))
    for one in drawn:
        if one.style == "bound":
            axes.plot(one.x, one.y, color="0.4", linestyle="--", linewidth=1, label="bound")
            continue
        number = labels.index(one.label)
        marker = _MARKERS[number % len(_MARKERS)]
        label = _text(one.label if one.style == "model" else f"{one.label} ({one.style})")
        axes.plot(one.x, one.y, label=label, color=f"C{number % 10}", **_LOOKS[one.style](marker))
    if not linear:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
    axes.set_xlabel(across)
    axes.set_ylabel("cycles")
    axes.grid(True, which="major", color="0.9")
    axes.legend(fontsize="small")
    return figure


def curves(points: Sequence[Point], over: str, title: str) -> Any:  # noqa: ANN401
    """Cycles of each subject over a parameter: lines predicted, marks simulated, and the bound
    dashed, of the last subject if they differ."""
    drawn = []
    bounds: dict[int, Point] = {}
    for name in dict.fromkeys(point.subject for point in points):
        mine = [point for point in points if point.subject == name and not point.refused]
        x = [point.parameters[over] for point in mine]
        drawn.append(Line(name, x, [point.predicted for point in mine]))
        run = [point for point in mine if point.simulated]
        if run:
            where = [point.parameters[over] for point in run]
            drawn.append(Line(name, where, [point.simulated for point in run], "simulated"))
        bounds |= {point.parameters[over]: point for point in mine if point.bound}
    x = sorted(bounds)
    if x:
        drawn.append(Line("bound", x, [bounds[at].bound for at in x], "bound"))
    return lines(title, _axis(over), drawn)


def gap_map(points: Sequence[Point], over: tuple[str, str], title: str) -> Any:  # noqa: ANN401
    """The gap of the best subject at every pair of sizes, as colors and numbers."""
    least = _fastest(points, over)
    figure, axes = _figure(title)
    cells = _cells(least, lambda point: point.gap or float("nan"))
    image = axes.imshow(cells, origin="lower", aspect="auto", cmap="viridis_r", vmin=1)
    figure.colorbar(image, label="predicted cycles / bound")
    _sizes(axes, least, over)
    if len(least) <= _MOST_NUMBERS:
        for row, values in enumerate(cells):
            for column, value in enumerate(values):
                if not isnan(value):  # nothing could be had there, or has no bound
                    dark = image.norm(value) > 0.6
                    look = {"color": "w" if dark else "k", "ha": "center", "va": "center"}
                    axes.text(column, row, f"{value:.2f}", fontsize=6, **look)
    return figure


def best_map(points: Sequence[Point], over: tuple[str, str], title: str) -> Any:  # noqa: ANN401
    """Which subject has the fewest predicted cycles at every pair of sizes."""
    least = _fastest(points, over)
    names = list(dict.fromkeys(point.subject for point in points))
    figure, axes = _figure(title)
    cells = _cells(least, lambda point: names.index(point.subject))
    colors = importlib.import_module("matplotlib.colors").ListedColormap(
        [f"C{number % 10}" for number in range(len(names))]
    )
    axes.imshow(cells, origin="lower", aspect="auto", cmap=colors, vmin=-0.5, vmax=len(names) - 0.5)
    _sizes(axes, least, over)
    patch = importlib.import_module("matplotlib.patches").Patch
    marks = [patch(color=f"C{number % 10}", label=_text(name)) for number, name in enumerate(names)]
    axes.legend(handles=marks, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _fastest(points: Sequence[Point], over: tuple[str, str]) -> Mapping[tuple[int, int], Point]:
    """At each pair of sizes the point with the fewest predicted cycles, of equals the first."""
    found: dict[tuple[int, int], Point] = {}
    for point in points:
        at = (point.parameters[over[0]], point.parameters[over[1]])
        if not point.refused and (at not in found or point.predicted < found[at].predicted):
            found[at] = point
    return found


def _cells(least: Mapping[tuple[int, int], Point], value: Any) -> list[list[float]]:  # noqa: ANN401
    """A row for each second size, a column for each first one; nan where there is no point."""
    across, up = _extents(least)
    return [
        [float(value(least[x, y])) if (x, y) in least else float("nan") for x in across] for y in up
    ]


def _extents(least: Mapping[tuple[int, int], Point]) -> tuple[list[int], list[int]]:
    return sorted({x for x, _ in least}), sorted({y for _, y in least})


def _sizes(axes: Any, least: Mapping[tuple[int, int], Point], over: tuple[str, str]) -> None:  # noqa: ANN401
    """Label the cells with their sizes."""
    across, up = _extents(least)
    axes.set_xticks(range(len(across)), [str(x) for x in across], rotation=45, fontsize=7)
    axes.set_yticks(range(len(up)), [str(y) for y in up], fontsize=7)
    axes.set_xlabel(_axis(over[0]))
    axes.set_ylabel(_axis(over[1]))


def _axis(parameter: str) -> str:
    words = {"B": "B: elements of a vector", "P": "P: PEs of the line"}
    return words.get(parameter, parameter)


def require() -> Any:  # noqa: ANN401
    """matplotlib; raises CollcError where it is not installed."""
    try:
        return importlib.import_module("matplotlib")
    except ImportError as error:
        help = "pip install 'collc[plot]', or leave the picture out and take --csv"
        raise CollcError(
            [Diagnostic("C701", "pictures need matplotlib, which is not here", None, help=help)]
        ) from error


def _text(text: str) -> str:
    """A text as matplotlib shows it: dollar signs are no formulas."""
    return shown(text).replace("$", "\\$")


def _figure(title: str) -> tuple[Any, Any]:
    """An empty picture."""
    settings = require().rcParams
    settings["svg.hashsalt"] = "collc"  # else names in the file are random
    settings["svg.fonttype"] = "none"  # letters as letters, which is a third of the size
    figure = importlib.import_module("matplotlib.figure").Figure(
        figsize=_SIZE, layout="constrained"
    )
    axes = figure.add_subplot()
    axes.set_title(_text(title), fontsize="medium")
    return figure, axes
