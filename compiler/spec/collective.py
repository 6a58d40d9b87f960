"""One collective with all that is said of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from collc.base.diagnostics import Span
from collc.base.grids import Grid
from collc.base.paths import Path
from collc.spec.contract import Contract
from collc.spec.decision import Decision, Gap
from collc.spec.limits import Expectation, Limits
from collc.spec.steps import Step


@dataclass(frozen=True, eq=False)
class Undecided:
    """What a collective leaves to the compiler.

    It is everything (`run auto`) or the numbers of `gaps`. `extents` are the numbers of ranks
    along the lines of its grid, of a path or a single line one number; `ordered` says whether
    an order of the ranks is given, `root` where it has to start or end, if that is said.
    `collc.language.again` has the collective in full once that is chosen.
    """

    gaps: tuple[Gap, ...]
    extents: tuple[int, ...]
    ordered: bool
    root: tuple[int, int] | None
    span: Span


@dataclass(frozen=True, eq=False)
class Origin:
    """What something was elaborated from; the language says what that is, and reads it again."""


@dataclass(frozen=True)
class Collective:
    """One collective: contract, grid, steps in order, limits, expectations.

    As long as it is `undecided` it has no steps; `decision` is how it came to them. `root` is the
    PE that a rooted contract starts from or ends at. None: reductions end at rank 0 and a broadcast
    step says where it starts. `path` is the order of all PEs that its other steps go along; None:
    they go along rows and columns. Where a contract is about slices, ranks of a grid are counted
    along the axis `counts_along`, line by line. Of one with a `root_of_call`, a PE that is not the
    root has to do the same for every root on that side. `origin` is None for one that was not read.
    """

    name: str
    contract: Contract
    grid: Grid
    steps: tuple[Step, ...]
    limits: Limits
    expectations: tuple[Expectation, ...]
    span: Span
    root: tuple[int, int] | None = None
    path: Path | None = None
    undecided: Undecided | None = None
    decision: Decision | None = None
    counts_along: str = "x"
    root_of_call: bool = False
    origin: Origin | None = field(default=None, compare=False, repr=False)

    @property
    def lined(self) -> Grid:
        """The grid whose rows and columns its steps go along: with a path a row, the path's."""
        if self.path is None:
            return self.grid
        return replace(self.grid, width=len(self.path), height=1)

    def pe_at(self, axis: str, place: int, line: int = 0) -> tuple[int, int]:
        """The PE at a place of a line along an axis; with a path, of the path."""
        if self.path is not None:
            return self.path.places[place]
        return (place, line) if axis == "x" else (line, place)
