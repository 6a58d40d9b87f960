"""Random programs, and cells of contracts and scopes: are the results right?

    python tests/programs_at_random.py [--programs 200] [--first 0] [--cells 40] [--jobs 2]

Each program makes two runs on one load, and one whose PEs begin late; results are compared with
NumPy. `--cells` takes so many of the cells of tests/cells.py, of every element type and form of
buffer among them, in place of random programs. What the checks refuse is counted; what no code can
be written for (C507) and what comes out wrong is listed, and the status is 1.
Run by hand and by .ci/nightly; tests/emit takes a sample.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parent))

from cells import Cell, cells
from programs.test_random_programs import random_program
from simulating import fabsim_options

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text

LATE = "--late-starts 300:7"


def program(number: int) -> str:
    """A random program; more of its collectives are made of steps than of trees."""
    return random_program(random.Random(number), steps=0.6)


def sample(count: int) -> list[Cell]:
    """So many cells, the same ones each time."""
    return random.Random(0).sample(list(cells()), count)


def problem(text: str, target: str | None = None) -> str:
    """What is wrong with a program: nothing, `refused` by a check, or what it is in words."""
    try:
        bundle = compile_text(text, "some.coll", {}, target)
    except CollcError as error:
        first = error.diagnostics[0]
        return first.message if first.code == "C507" else "refused"
    for options, seed in ("", 1), (LATE, 2):
        with fabsim_options(options or os.environ.get("FABSIM_OPTIONS", "")):
            report = bundle.run(repeats=2, seed=seed)
        if not report.verified:
            return f"{'late: ' if options else ''}{report.problem}"
    return ""


def outcome(given: tuple[str, str | None]) -> tuple[str, str]:
    """What is wrong with a program, with its text; a traceback's end counts."""
    text, target = given
    try:
        return problem(text, target), text
    except Exception as error:  # which one is what is asked
        return f"{type(error).__name__}: {error}", text


def faults(given: Sequence[tuple[str, str | None]], jobs: int) -> tuple[Counter[str], list[str]]:
    """How many programs came to what, and what is wrong with some."""
    counts, said = Counter[str](), []
    with ProcessPoolExecutor(jobs) as pool:
        for number, (found, text) in enumerate(pool.map(outcome, given)):
            kind = found if found in {"", "refused"} else "wrong"
            counts[kind or "right"] += 1
            if kind == "wrong":
                said.append(f"{number}: {found}\n{text}")
                print(said[-1], flush=True)
    return counts, said


@click.command()
@click.option("--programs", default=200)
@click.option("--first", default=0)
@click.option("--cells", "of_cells", default=0)
@click.option("--jobs", default=2)
def main(programs: int, first: int, of_cells: int, jobs: int) -> None:
    """Run random programs, or cells, and print what is wrong."""
    given: list[tuple[str, str | None]] = [
        (cell.text, cell.target) for cell in sample(of_cells)
    ] or [(program(number), None) for number in range(first, first + programs)]
    counts, said = faults(given, jobs)
    print(dict(counts))
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
