"""Figures: cycles over a size, gaps to the bound, and which pattern is the best where.

In reading order: `points` (what is computed), `table` (the same as CSV), `draw` (pictures, by
matplotlib, which is optional).
"""

from collc_research.plot.draw import best_map, curves, gap_map, picture
from collc_research.plot.points import Point, Subject, subject_of
from collc_research.plot.table import as_csv

__all__ = ["Point", "Subject", "as_csv", "best_map", "curves", "gap_map", "picture", "subject_of"]
