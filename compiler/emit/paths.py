"""How emitted code finds the place of PE (x, y) on a path.

Where every second row or column, or every one, is counted alike, that is a formula or two; else a
table with one number for each PE, which only the compiler of the layout sees.
"""

import numpy as np

from collc.base.columns import Ints
from collc.base.grids import Grid
from collc.base.paths import Path
from collc.base.values import dataclass

_MOST = 0xFFFF  # places are computed with 16 bits


@dataclass(frozen=True)
class PathModel:
    """A path: how the source names it; `lines` of a function body that return the place of (x, y),
    or the `table` of all places, row by row; whether it is not contiguous."""

    word: str
    gaps: bool
    lines: tuple[str, ...]
    table: tuple[int, ...]


def path_model(path: Path, grid: Grid) -> PathModel:
    """The shortest way to say where a path comes to each PE."""
    places = np.zeros((grid.width, grid.height), dtype=np.int64)
    places[path.x, path.y] = np.arange(len(path))
    formula = _formula(places)
    if formula:
        return PathModel(path.word, bool(path.gaps), (f"return {formula};",), ())
    for name, odd, even in (
        ("y", places[:, 1::2], places[:, ::2]),
        ("x", places[1::2], places[::2]),
    ):
        formulas = [_formula(part, name, first) for first, part in ((1, odd), (0, even))]
        if all(formulas):
            lines = f"if (({name} % 2) == 1) {{ return {formulas[0]}; }}", f"return {formulas[1]};"
            return PathModel(path.word, bool(path.gaps), lines, ())
    return PathModel(path.word, bool(path.gaps), (), tuple(places.T.reshape(-1).tolist()))


def _formula(places: Ints, name: str = "", first: int = 0) -> str:
    """The places as offset + a * x + b * y, nothing if they are none; with a `name` that coordinate
    goes first, first + 2, ..."""
    if places.size == 0:
        return ""
    steps = [2 if axis == name else 1 for axis in "xy"]
    starts = [first if axis == name else 0 for axis in "xy"]
    x, y = (
        np.asarray(start + step * index, dtype=np.int64)
        for start, step, index in zip(starts, steps, np.indices(places.shape), strict=True)
    )
    slopes = []
    for axis, step in enumerate(steps):
        change = np.diff(places, axis=axis)
        slope = int(change.flat[0]) if change.size else 0
        if slope % step:
            return ""
        slopes.append(slope // step)
    offset = int(places[0, 0]) - slopes[0] * starts[0] - slopes[1] * starts[1]
    terms = sorted(((slopes[0], "x", x), (slopes[1], "y", y)), key=lambda term: -term[0])
    return _spelled(offset, terms, places)


def _spelled(offset: int, terms: list[tuple[int, str, Ints]], places: Ints) -> str:
    """The formula, what is subtracted last; nothing if it leaves 16 bits or gives other places."""
    text, value = (str(offset) if offset else ""), np.full(places.shape, offset)
    for slope, name, values in terms:
        if slope == 0:
            continue
        term = name if abs(slope) == 1 else f"({name} * {abs(slope)})"
        value = value + slope * values
        fits = value.min() >= 0 and value.max() <= _MOST and int(values.max()) * abs(slope) <= _MOST
        if not fits or (slope < 0 and not text):
            return ""
        text = term if not text else f"({text} {'+' if slope > 0 else '-'} {term})"
    if offset < 0 or not (value == places).all():
        return ""
    return text or "0"
