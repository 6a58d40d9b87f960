"""Rectangles of PEs, and where they lie on one another."""

from __future__ import annotations

from enum import Enum

from collc.base.diagnostics import Span
from collc.base.values import dataclass


class Lines(Enum):
    """Lines of a grid that a collective runs on each by itself, spelled as in the language."""

    ROW = "row"
    COLUMN = "column"


@dataclass(frozen=True)
class Site:
    """Where a grid lies on another one, `whole`, which is no part of any: its PE (0, 0) is PE
    (x, y) there. With `lines` it is one of the rows or columns of the grid `area`, and stands for
    all of them.
    """

    whole: Grid
    x: int
    y: int
    lines: Lines | None = None
    area: Grid | None = None

    @property
    def copies(self) -> int:
        """How many such grids there are, side by side."""
        if self.area is None:
            return 1
        return self.area.height if self.lines is Lines.ROW else self.area.width


@dataclass(frozen=True)
class Grid:
    """A rectangle of PEs, `width` columns by `height` rows; with a `site` a part of another."""

    name: str
    width: int
    height: int
    span: Span
    site: Site | None = None

    @property
    def whole(self) -> Grid:
        """The grid that it is a part of, or itself."""
        return self if self.site is None else self.site.whole

    @property
    def is_line(self) -> bool:
        """Whether it is one row or one column, or a single PE."""
        return min(self.width, self.height) == 1

    @property
    def axis(self) -> str:
        """Of a line, along which axis it lies; x for a single PE."""
        return "x" if self.height == 1 else "y"

    def extent(self, axis: str) -> int:
        """How many PEs a line along an axis has."""
        return self.width if axis == "x" else self.height

    def lines(self, axis: str) -> int:
        """How many lines there are along an axis."""
        return self.height if axis == "x" else self.width

    @property
    def declared(self) -> tuple[Span, str]:
        """Where it is declared, and its size, for messages."""
        return self.span, f"{self.name} is {self.width} x {self.height}"
