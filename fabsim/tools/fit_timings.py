"""Fit those constants of a clock that no source gives, and say how well each family is foreseen.

    python fabsim/tools/fit_timings.py FOLDER... [--timing NAME] [--jobs N] [--page FILE]

The programs, their families and the points are those of timings.py. Published constants stay as
they are; what is free, and between which values, is FREE below. For each target the free constants
are changed one after the other until none of them gets better; what gets smaller is the root of the
mean squared error, in which every family counts the same, however many points it has. Then the same
without each family in turn, and the error of the one that was left out: that is what a program of
another kind may expect. With --page the table of it goes into FILE between the marks
`families: begin` and `families: end`. The numbers themselves go into fabsim/engine/src/timing.rs
and fabsim/lowering/src/cost.rs by hand.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from timings import PROGRAMS, Clock, Measured, Point, find, measure_all, read_points, write_page

import fabsim

# The constants that no source gives, by target: the values that are tried. The first is what holds
# where no program tells: what the study found for the like, or nothing.
FREE: Mapping[str, Mapping[str, Sequence[int]]] = {
    "wse2": {
        "tensor_load_cycles": (0, 1, 2, 3),
        "untaken_jump_cycles": (3, 2, 1),
        "data_task_start_cycles": range(0, 25, 3),
        "wide_integer_cycles": (1, 2, 3),
        "wide_product_cycles": (4, 8, 12, 16),
    },
    "wse3": {
        "tensor_load_cycles": (0, 1, 2, 3),
        "between_tasks_cycles": (0, 2, 3, 4, 5),
        "data_task_start_cycles": (0, 2, 4),
        "async_issue_cycles": (1, 2),
        "wide_integer_cycles": (1, 2),
        "constant_divide_cycles": (4, 8, 10, 12),
    },
}

Constants = tuple[tuple[str, int], ...]


class Bench:
    """Measures points, a family once for all constants that are the same where that matters."""

    def __init__(self, found: Mapping[str, Path], timing: str, jobs: int) -> None:
        self.found, self.timing, self.jobs = found, timing, jobs
        self.known: dict[tuple[str, Constants], list[Measured]] = {}
        self.matters: dict[str, set[str]] = {}

    def measure(self, family: str, points: Sequence[Point], constants: Constants) -> list[Measured]:
        """The points of one family and one target."""
        if family not in self.matters:
            self.matters[family] = self._what_matters(points)
        kept = tuple(pair for pair in constants if pair[0] in self.matters[family])
        if (family, kept) not in self.known:
            self.known[family, kept] = self._run(points, constants)
        return self.known[family, kept]

    def _what_matters(self, points: Sequence[Point]) -> set[str]:
        """The constants one of whose extremes changes a point, the others being what they are."""
        free = FREE[points[0].target]
        first = {name: values[0] for name, values in free.items()}
        cycles = [one.cycles for one in self._run(points, tuple(first.items()))]
        found = set()
        for name, values in free.items():
            other = self._run(points, tuple({**first, name: values[-1]}.items()))
            if [one.cycles for one in other] != cycles:
                found.add(name)
        return found

    def _run(self, points: Iterable[Point], constants: Constants) -> list[Measured]:
        return measure_all(points, self.found, Clock(self.timing, dict(constants)), self.jobs)

    def errors(
        self, groups: Mapping[str, Sequence[Point]], constants: Constants
    ) -> dict[str, list[float]]:
        """The errors of each family."""
        return {
            family: [
                one.error
                for one in self.measure(family, points, constants)
                if one.error is not None
            ]
            for family, points in groups.items()
        }


def root_mean_square(errors: Mapping[str, Sequence[float]]) -> float:
    """Of the errors of all points, every family counting the same."""
    squares = [
        statistics.mean(error * error for error in group) for group in errors.values() if group
    ]
    return math.sqrt(statistics.mean(squares)) if squares else math.inf


def fit(
    bench: Bench,
    groups: Mapping[str, Sequence[Point]],
    free: Mapping[str, Sequence[int]],
) -> Constants:
    """The values of the free constants that no change of one of them makes better."""
    best = {name: values[0] for name, values in free.items()}
    least = root_mean_square(bench.errors(groups, tuple(best.items())))
    while True:
        before = least
        for name, values in free.items():
            for value in values:
                tried = {**best, name: value}
                found = root_mean_square(bench.errors(groups, tuple(tried.items())))
                if found < least:
                    least, best = found, tried
        if least >= before:
            return tuple(best.items())


@dataclass(frozen=True)
class Foreseen:
    """The errors of a family by the clock as it is and by a fit without it, and what that has."""

    family: str
    target: str
    within: Sequence[float]
    without: Sequence[float]
    changed: Mapping[str, int]


def families(
    bench: Bench, target: str, points: Sequence[Point]
) -> tuple[Constants, list[Foreseen]]:
    """The fit to all families of a target, and what is foreseen of each without itself."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(PROGRAMS[point.program].family, []).append(point)
    shipped = dict(fabsim.timing_numbers(bench.timing, target))
    constants = fit(bench, groups, FREE[target])
    own = tuple((name, shipped[name]) for name in FREE[target])
    foreseen = []
    for family, its in sorted(groups.items()):
        others = {name: them for name, them in groups.items() if name != family}
        without = fit(bench, others, FREE[target]) if others else constants
        changed = {name: value for name, value in without if value != shipped[name]}
        within, left_out = (bench.errors({family: its}, by)[family] for by in (own, without))
        foreseen.append(Foreseen(family, target, within, left_out, changed))
    return constants, foreseen


def table(foreseen: Iterable[Foreseen]) -> str:
    """A row for each family, and the median of them for each target."""
    lines = [
        "| family | target | points | in the fit | left out | worst | the fit without it has |",
        "|---|---|---|---|---|---|---|",
    ]
    medians: dict[str, list[tuple[float, float]]] = {}
    for one in foreseen:
        if not one.within:
            lines.append(f"| {one.family} | {one.target} | 0 | no point was measured | | | |")
            continue
        pair = tuple(statistics.median(map(abs, errors)) for errors in (one.within, one.without))
        medians.setdefault(one.target, []).append((pair[0], pair[1]))
        changed = (
            ", ".join(f"`{name}` {value}" for name, value in one.changed.items()) or "the same"
        )
        lines.append(
            f"| {one.family} | {one.target} | {len(one.within)} | {pair[0]:.1%} | {pair[1]:.1%} "
            f"| {max(one.without, key=abs):+.1%} | {changed} |"
        )
    for target, pairs in sorted(medians.items()):
        within, without = (statistics.median(column) for column in zip(*pairs, strict=True))
        lines.append(f"| **median family** | {target} | | {within:.1%} | **{without:.1%}** | | |")
    return "\n".join(lines)


def main() -> int:
    """Fit each target."""
    parser = argparse.ArgumentParser(description="Fit what no source gives, and judge by families.")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--timing", default="simfabric")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", metavar="FILE")
    options = parser.parse_args()
    found = find(Path(folder).resolve() for folder in options.folders)
    known = [point for point in read_points() if point.program in found]
    all_families = []
    for target in FREE:
        bench = Bench(found, options.timing, options.jobs)
        constants, foreseen = families(bench, target, [p for p in known if p.target == target])
        print(f"{target}: {', '.join(f'{name} = {value}' for name, value in constants)}")
        all_families += foreseen
    print(table(all_families))
    if options.page:
        write_page(Path(options.page), "families", table(all_families))
    return 0


if __name__ == "__main__":
    sys.exit(main())
