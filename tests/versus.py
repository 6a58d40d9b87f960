"""Programs of others beside collc's, on fabsim, in one go: `make versus FOLDERS="..."`.

    python tests/versus.py FOLDER... [--minutes M] [--only WORD] [--page FILE]

FOLDER is a copy of one of the sources of tests/peers, or of several; a source that is in none of
them is left out with a line. Each point is theirs and ours with the same contract, shape, length
and target; both results are compared with NumPy. Points are run from the smallest on until M
minutes are over; the page says how many were reached. FABSIM_TIMING chooses the clock.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic

import fabsim
from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.run import RunError
from peers import (
    Measured,
    Point,
    collectives_2d,
    gemm,
    gemv,
    spatial_collectives,
    transposition,
    vendor_allreduce,
    wafer_llm,
)

SOURCES = (
    collectives_2d,
    gemm,
    gemv,
    vendor_allreduce,
    transposition,
    wafer_llm,
    spatial_collectives,
)
PAGE = Path(__file__).parents[1] / "docs" / "versus.md"
SLOWER = 1.02  # of theirs: beyond, ours is named

HEAD = """# Beside programs of others

Made by `make versus FOLDERS="..."` (`python tests/versus.py`), by the clock `{clock}`: text of
others and ours on fabsim, with the same contract, shape, length and target. Both results are
compared with NumPy. Theirs is fetched by the user; none of it is in this repository.
Sections may come of different runs. Where not all points were reached, those left
out are the larger ones.

"""


@dataclass(frozen=True)
class Row:
    """A point and what came of it; `ours` by column."""

    point: Point
    theirs: Measured
    ours: dict[str, Measured]

    @property
    def ratios(self) -> dict[str, float]:
        """Ours over theirs, of what is right."""
        return {
            name: one.cycles / self.theirs.cycles
            for name, one in self.ours.items()
            if not (one.problem or self.theirs.problem)
        }


def main() -> int:
    """Print rows as they come, and write the page; 1 if a result is wrong."""
    options = _options()
    found, notes = _points(options.folders)
    points = [one for one in found if all(word in _described(one) for word in options.only)]
    ends = monotonic() + 60 * options.minutes
    rows = []
    for point in sorted(points, key=lambda one: one.weight):
        if monotonic() > ends:
            break
        rows.append(_measured(point))
        print(_line(rows[-1], rows[-1].ours), flush=True)
    for note in notes:
        print(note)
    if options.page:
        clock = os.environ.get("FABSIM_TIMING", "the default")
        text = HEAD.format(clock=clock) + _page(rows, points)
        options.page.write_text("".join(f"{line}\n" for line in text.splitlines()))
    return int(any(one.problem for row in rows for one in (row.theirs, *row.ours.values())))


def _points(folders: Sequence[Path]) -> tuple[list[Point], list[str]]:
    """What the folders have, and a line for each source that they do not have."""
    points, notes = [], []
    for source in SOURCES:
        at = next((at for folder in folders if (at := _at(folder, source.HAS))), None)
        if at is None:
            notes.append(f"{source.NAME}: skipped, no folder has {source.HAS}")
        else:
            points += source.points(at)
    return points, notes


def _at(folder: Path, file: str) -> Path | None:
    """The folder itself, or one up to two levels within it, that has this file."""
    within = (folder, *sorted(folder.glob("*/")), *sorted(folder.glob("*/*/")))
    return next((one for one in within if (one / file).exists()), None)


def _described(point: Point) -> str:
    return f"{point.source} {point.what} {point.target} {point.size} {point.length}"


def _measured(point: Point) -> Row:
    ours = {name: _of_ours(text) for name, text in point.ours.items()}
    ours |= {name: _ran(run) for name, run in point.runs.items()}
    return Row(point, _ran(point.run), ours)


def _ran(run: Callable[[Path], Measured]) -> Measured:
    with tempfile.TemporaryDirectory(prefix="versus-") as scratch:
        try:
            return run(Path(scratch))
        except (fabsim.CslError, fabsim.SimulationError) as error:
            return Measured(0, str(error).splitlines()[0])


@cache
def _of_ours(text: str) -> Measured:
    """Ours, which several points may share."""
    try:
        report = compile_text(text, "ours.coll", {}).run()
    except (CollcError, RunError) as error:
        return Measured(0, str(error).splitlines()[0])
    return Measured(report.cycles, report.problem)


def _page(rows: Sequence[Row], points: Sequence[Point]) -> str:
    parts = []
    for source in dict.fromkeys(row.point.source for row in rows):
        mine = [row for row in rows if row.point.source == source]
        columns = list(dict.fromkeys(name for row in mine for name in row.ours))
        wanted = sum(one.source == source for one in points)
        parts.append(f"## {source}\n\n{len(mine)} of {wanted} points were reached.\n")
        parts.append("| column | points | geometric mean | worst | slower by more than 2 % |")
        parts.append("|---|---|---|---|---|")
        parts += [_summary(name, mine) for name in columns]
        parts.append(f"\n| target | program | PEs | B | theirs | {' | '.join(columns)} |")
        parts.append("|---|---|---|---|---|" + "---|" * len(columns))
        parts += [_line(row, columns) for row in mine]
        parts.append("")
    return "\n".join(parts)


def _summary(name: str, rows: Sequence[Row]) -> str:
    ratios = [row.ratios[name] for row in rows if name in row.ratios]
    if not ratios:
        return f"| {name} | 0 | | | |"
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    slower = sum(ratio > SLOWER for ratio in ratios)
    return f"| {name} | {len(ratios)} | {mean:.2f} | {max(ratios):.2f} | {slower} |"


def _line(row: Row, columns: Sequence[str] | dict[str, Measured]) -> str:
    point = row.point
    cells = [point.target, point.what, point.size, str(point.length)]
    return f"| {' | '.join([*cells, *_cells(row, columns)])} |"


def _cells(row: Row, columns: Sequence[str] | dict[str, Measured]) -> Iterator[str]:
    yield row.theirs.problem.replace("|", "\\|") or f"{row.theirs.cycles:,}"
    for name in columns:
        one = row.ours.get(name)
        if one is None:
            yield ""
        elif one.problem:
            yield one.problem.replace("|", "\\|")
        else:
            ratio = row.ratios.get(name)
            yield f"{one.cycles:,}" + ("" if ratio is None else f" ({ratio:.2f})")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Programs of others beside collc's.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", action="append", default=[], help="points with this in them")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, help="write this page")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
