"""The points of a figure as CSV, and as plain data."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from collc.base.diagnostics import shown
from collc_research.plot.points import Point

_COLUMNS = ("predicted", "bound", "tree_bound", "gap", "simulated", "refused")


def as_csv(points: Sequence[Point]) -> str:
    """One line for each point; what is not known is empty."""
    names = list(dict.fromkeys(name for point in points for name in point.parameters))
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("subject", "target", *names, *_COLUMNS))
    for point in points:
        sizes = (point.parameters.get(name, "") for name in names)
        gap = f"{point.gap:.4f}" if point.gap else ""
        known = (point.predicted or "", point.bound or "", point.tree_bound or "", gap)
        subject = shown(point.subject)
        told = (*known, point.simulated or "", point.refused)
        rows.writerow((subject, point.target, *sizes, *told))
    return text.getvalue()


def point_as_data(point: Point) -> dict[str, Any]:
    """The same of one point; what is not known is None."""
    return {
        "subject": shown(point.subject),
        "target": point.target,
        "sizes": dict(point.parameters),
        "predicted": point.predicted or None,
        "bound": point.bound or None,
        "tree_bound": point.tree_bound or None,
        "gap": round(point.gap, 4) or None,
        "simulated": point.simulated or None,
        "refused": point.refused or None,
    }
