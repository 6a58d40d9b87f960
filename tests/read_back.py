"""Plans of random programs, printed and read back, which has to give the same plans.

    python tests/read_back.py [--programs N] [--first N] [--jobs N]

A program is one of those of `tests/programs`, with its collectives on all PEs or on parts of them.
Each that differs, or is not read, is named by its seed, and the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import random
import sys
from multiprocessing import Pool

from programs import test_random_parts, test_random_programs

from collc.base.diagnostics import CollcError
from collc.driver.pipeline import compile_text
from collc.lowering.show_program import show_program
from collc.plan.plan import ProgramPlan
from collc.plan.read import read_program, same


def planned(seed: int) -> ProgramPlan | None:
    """The plan of a random program; None if there is none."""
    rng = random.Random(seed)
    kind = test_random_parts if seed % 2 else test_random_programs
    try:
        return compile_text(kind.random_program(rng), "random.coll", {}).program
    except CollcError:
        return None


def problem(seed: int) -> str | None:
    """What is wrong with the text of a plan, nothing if it is read back; None without a plan."""
    plan = planned(seed)
    if plan is None:
        return None
    try:
        return "" if same(read_program(show_program(plan)), plan) else "read as another plan"
    except ValueError as error:
        return f"not read: {error}"


def main() -> int:
    """Try all programs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.programs)
    with Pool(options.jobs) as pool:
        found = dict(zip(seeds, pool.imap(problem, seeds, chunksize=8), strict=True))
    wrong = {seed: what for seed, what in found.items() if what}
    for seed, what in wrong.items():
        print(f"{seed}: {what}")
    refused = sum(what is None for what in found.values())
    print(f"{len(found)} programs, {refused} without a plan, {len(wrong)} not read back")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
