"""The points of a figure as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from collc.plot.points import Point

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
        rows.writerow(
            (point.subject, point.target, *sizes, *known, point.simulated or "", point.refused)
        )
    return text.getvalue()
