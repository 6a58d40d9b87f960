"""Fit those constants of a clock that no source gives, and say how well each program is foreseen.

    python fabsim/tools/fit_timings.py FOLDER... [--timing NAME] [--jobs N]

The programs and the points are those of timings.py. Published constants stay as they are; what is
free, and between which values, is FREE below. For each target the free constants are changed one
after the other until none of them gets better; what gets smaller is the root of the mean squared
error. Then the same without each program in turn, and the error of the one that was left out.
Nothing is written: the numbers go into fabsim/engine/src/timing.rs by hand.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from timings import Clock, Measured, Point, find, measure_all, read_points

# The constants that no source gives, by target: the values that are tried, in order.
FREE: Mapping[str, Mapping[str, Sequence[int]]] = {
    "wse2": {
        "exclusive_main": range(2),
        "tensor_load_cycles": range(1, 4),
        "untaken_jump_cycles": range(1, 4),
        "task_start_cycles": range(2),
        "data_task_start_cycles": range(14, 25, 2),
    },
    "wse3": {
        "tensor_load_cycles": range(1, 4),
        "between_tasks_cycles": range(2, 5),
        "data_task_start_cycles": range(0, 5, 2),
        "async_issue_cycles": range(1, 3),
        "wide_integer_cycles": range(1, 3),
        "constant_divide_cycles": range(8, 13, 2),
    },
}

Constants = tuple[tuple[str, int], ...]


class Bench:
    """Measures points for constants, each pair of a program and constants once."""

    def __init__(self, found: Mapping[str, Path], timing: str, jobs: int) -> None:
        self.found, self.timing, self.jobs = found, timing, jobs
        self.known: dict[tuple[str, Constants], list[Measured]] = {}

    def measure(
        self, program: str, points: Iterable[Point], constants: Constants
    ) -> list[Measured]:
        """The points of one program and one target."""
        key = (program, constants)
        if key not in self.known:
            clock = Clock(self.timing, dict(constants))
            self.known[key] = measure_all(points, self.found, clock, self.jobs)
        return self.known[key]

    def errors(
        self, groups: Mapping[str, Sequence[Point]], constants: Constants
    ) -> dict[str, list[float]]:
        """The errors of each program."""
        return {
            program: [
                one.error
                for one in self.measure(program, points, constants)
                if one.error is not None
            ]
            for program, points in groups.items()
        }


def root_mean_square(errors: Mapping[str, Sequence[float]]) -> float:
    """Of the errors of all points."""
    squares = [error * error for group in errors.values() for error in group]
    return math.sqrt(statistics.mean(squares)) if squares else math.inf


def fit(
    bench: Bench, groups: Mapping[str, Sequence[Point]], free: Mapping[str, Sequence[int]]
) -> Constants:
    """The values of the free constants that no change of one of them makes better."""
    best = {name: values[0] for name, values in free.items()}
    least = math.inf
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


def report(bench: Bench, target: str, points: Sequence[Point]) -> None:
    """Print the fit of a target and what is foreseen of each program without itself."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(point.program, []).append(point)
    constants = fit(bench, groups, FREE[target])
    print(f"{target}: {', '.join(f'{name} = {value}' for name, value in constants)}")
    errors = bench.errors(groups, constants)
    print(f"  root mean square {root_mean_square(errors):.1%}, {_spread(errors)}")
    for program, own in groups.items():
        others = {name: them for name, them in groups.items() if name != program}
        without = fit(bench, others, FREE[target]) if others else constants
        left_out = bench.errors({program: own}, without)
        print(f"  without {program}: {_spread(left_out)}")


def _spread(errors: Mapping[str, Sequence[float]]) -> str:
    amounts = [abs(error) for group in errors.values() for error in group]
    if not amounts:
        return "no point was measured"
    return f"median {statistics.median(amounts):.1%}, worst {max(amounts):.1%}"


def main() -> int:
    """Fit each target."""
    parser = argparse.ArgumentParser(description="Fit what no source gives.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--timing", default="simfabric")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    found = find(Path(folder).resolve() for folder in options.folders)
    known = [point for point in read_points() if point.program in found]
    for target in FREE:
        bench = Bench(found, options.timing, options.jobs)
        report(bench, target, [point for point in known if point.target == target])
    return 0


if __name__ == "__main__":
    sys.exit(main())
